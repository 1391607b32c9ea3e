"""What plausible partners say next: a curious student, and a teacher who finds answers."""

import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tasks.simulation.behaviour import Behaviour

WORD = re.compile(r"\w+")
ASKS_YES_OR_NO = re.compile(
    r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\b", re.IGNORECASE
)
# Words that say nothing of what a question is about.
EMPTY = frozenset(
    "a an the of in on at to for from by with and or as is are was were be been do does did has "
    "have had he she it they his her its their him them who what which when where why how many "
    "much that this any there not no".split()
)
Span = tuple[int, int]
# (start, end, whether it is a word).
Token = tuple[int, int, bool]


def answer(
    question: str,
    passage: Mapping[str, Any],
    told: Sequence[int],
    behaviour: Behaviour,
    rng: random.Random,
    *,
    max_tokens: int,
) -> dict[str, Any]:
    """Return {"type", "spans", "affirmation", "continuation"} as a page would send it.

    passage: {"text", "tokens", "sentences"}. told: where the answers began that the teacher gave
    before. Careful readers of one question mark nearly the same words, whatever their `rng`: the
    best sentence that was not told yet, or its second half.
    """
    sentences = [(start, end) for start, end in passage["sentences"]]
    fresh = [span for span in sentences if not any(span[0] <= at < span[1] for at in told)]
    found = best_sentence(question, passage["text"], fresh)
    if rng.random() < behaviour.nonsense:
        found = rng.choice(sentences)
    elif rng.random() < behaviour.gives_up:
        found = None
    elif rng.random() < behaviour.wrong_answer:
        found = rng.choice(sentences)
    if found is None:
        return {"type": "none", "spans": [], "affirmation": "neither", "continuation": "dont"}
    start, end = cut(found, passage["tokens"], max_tokens)
    if rng.random() < behaviour.partial_evidence:
        start, end = second_half((start, end), passage["tokens"])
    span = {"document": "section", "start": start, "end": end, "text": passage["text"][start:end]}
    return {
        "type": "span",
        "spans": [span],
        "affirmation": "yes" if ASKS_YES_OR_NO.match(question) else "neither",
        "continuation": rng.choice(("follow_up", "maybe", "dont")),
    }


def best_sentence(question: str, text: str, spans: Sequence[Span]) -> Span | None:
    """Return the sentence that shares most words with the question; None when there is none left.

    An open question, which shares none with any, is answered by what comes next in the text.
    """
    asked = telling(question)
    shared = [(len(asked & telling(text[slice(*span)])), span) for span in spans]
    most = max((number for number, _ in shared), default=0)
    if not most and ASKS_YES_OR_NO.match(question):
        return None
    return next((span for number, span in shared if number == most), None)


def cut(span: Span, tokens: Sequence[Token], most: int) -> Span:
    """Return the span shortened to at most so many tokens, of which signs are some."""
    inside = [token for token in tokens if span[0] <= token[0] and token[1] <= span[1]]
    kept = inside[:most]
    return (kept[0][0], kept[-1][1]) if kept else span


def second_half(span: Span, tokens: Sequence[Token]) -> Span:
    """Return the later half of the span, in whole tokens."""
    inside = [token for token in tokens if span[0] <= token[0] and token[1] <= span[1]]
    later = inside[len(inside) // 2 :]
    return (later[0][0], later[-1][1]) if later else span


def telling(text: str) -> set[str]:
    """Return the words of a text that say what it is about, in lower case."""
    return set(WORD.findall(text.casefold())) - EMPTY


# Longer ones are cut at a pause.
USUAL_TOKENS = 20
# After this number of questions somebody has perhaps learnt enough.
ENOUGH = 5
SHORT_OF_PATIENCE = 0.06
NONSENSE = "What is the most important thing that this text says, number {number}?"
NAME = re.compile(r"\b[A-Z]\w+(?: [A-Z]\w+)*")
FIRST = (
    "What happened in {heading}?",
    "What is interesting about {heading}?",
    "How did {heading} begin?",
    "What can you tell me about {title} and {heading}?",
)
ABOUT_A_NAME = (
    "What did {name} do?",
    "Who or what is {name}?",
    "What happened to {name} after that?",
    "When was {name} first mentioned?",
    "Did {name} have anything to do with {title}?",
)
OPEN = (
    "What happened next?",
    "Are there any other interesting aspects about this article?",
    "Why did that happen?",
    "When was that?",
    "Where did it take place?",
    "Who else was there?",
    "Did anything else come of it?",
    "How did people react?",
    "Was that a success?",
    "What was the result?",
    "Which part of it is best known?",
    "How long did it last?",
)


def speak(
    state: Mapping[str, object], behaviour: Behaviour, rng: random.Random
) -> dict[str, object]:
    """Return the next move: {"type": "ask", "text"}, {"type": "answer", …} or {"type": "end"}.

    state: the dialog as this partner sees it; it is their move.
    """
    if state["role"] == "student":
        return _ask(state, behaviour, rng)
    return _answer(state, behaviour, rng)


def _ask(state: Mapping[str, Any], behaviour: Behaviour, rng: random.Random) -> dict[str, Any]:
    turns = state["turns"]
    if rng.random() < behaviour.nonsense:
        return {"type": "ask", "text": NONSENSE.format(number=len(turns) + 1)}
    if len(turns) >= ENOUGH and rng.random() < SHORT_OF_PATIENCE:
        return {"type": "end"}
    return {"type": "ask", "text": next_question(state, rng)}


def _answer(state: Mapping[str, Any], behaviour: Behaviour, rng: random.Random) -> dict[str, Any]:
    question = state["turns"][-1]["question"]
    most = state["max_span_tokens"]
    if rng.random() < behaviour.nonsense:
        return _anything(state, most, rng)
    if rng.random() < behaviour.gives_up:
        return _none(rng)
    spans = _sentences(state["section"], state["tokens"])
    said = {turn["answer"]["start"] for turn in state["turns"] if turn["answer"]}
    fresh = [span for span in spans if not _was_told(span, said)]
    if rng.random() < behaviour.wrong_answer and fresh:
        span: tuple[int, int] | None = rng.choice(fresh)
    else:
        span = best_sentence(question, state["section"], fresh)
    if span is None:
        return _none(rng)
    first, last = span
    start, end = _shortened(state, first, last, min(most, USUAL_TOKENS))
    return {
        "type": "answer",
        "start": start,
        "end": end,
        "continuation": "follow_up" if len(fresh) > 2 else rng.choice(("maybe", "dont")),
        "affirmation": _affirmation(question, rng),
    }


def _shortened(state: Mapping[str, Any], start: int, end: int, most: int) -> tuple[int, int]:
    """Return the beginning of a sentence, of at most so many tokens, up to a pause if possible."""
    inside = [token for token in state["tokens"] if start <= token[0] and token[1] <= end]
    if len(inside) > most:
        inside = inside[:most]
        texts = [state["section"][slice(*token[:2])] for token in inside]
        pauses = [at for at, text in enumerate(texts) if text in (",", ";", "and") and at > 4]
        inside = inside[: pauses[-1]] if pauses else inside
    elif len(inside) > 1 and not state["section"][slice(*inside[-1][:2])].isalnum():
        inside = inside[:-1]
    return inside[0][0], inside[-1][1]


def _sentences(section: str, tokens: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """Return (start, end) of what looks like sentences, from token to token."""
    found, first = [], None
    for start, end, *_ in tokens:
        first = start if first is None else first
        if section[start:end] in (".", "!", "?") or section[end - 1 : end + 1] == ". ":
            found.append((first, end))
            first = None
    if first is not None:
        found.append((first, tokens[-1][1]))
    return found


def _was_told(span: tuple[int, int], starts: set[int | None]) -> bool:
    return any(at is not None and span[0] <= at < span[1] for at in starts)


def _affirmation(question: str, rng: random.Random) -> str:
    return rng.choice(("yes", "yes", "no")) if ASKS_YES_OR_NO.match(question) else "neither"


def _none(rng: random.Random) -> dict[str, Any]:
    return {
        "type": "answer",
        "start": None,
        "end": None,
        "continuation": rng.choice(("maybe", "dont")),
        "affirmation": "neither",
    }


def _anything(state: Mapping[str, Any], most: int, rng: random.Random) -> dict[str, Any]:
    tokens = state["tokens"]
    first = rng.randrange(len(tokens))
    last = min(len(tokens), first + rng.randint(1, most)) - 1
    return {
        "type": "answer",
        "start": tokens[first][0],
        "end": tokens[last][1],
        "continuation": rng.choice(("follow_up", "maybe", "dont")),
        "affirmation": rng.choice(("yes", "no", "neither")),
    }


def next_question(state: Mapping[str, Any], rng: random.Random) -> str:
    """Return a question that has not been asked in this dialog yet.

    state: the dialog as the student sees it. Nothing but it and `rng` decides what is asked.
    """
    asked = {turn["question"].casefold() for turn in state["turns"]}
    for _ in range(20):
        question = _one(state, rng)
        if question.casefold() not in asked:
            return question
    return f"What else, as question {len(asked) + 1}?"


def _one(state: Mapping[str, Any], rng: random.Random) -> str:
    turns = state["turns"]
    words = {"title": state["title"], "heading": state["heading"] or state["title"]}
    if not turns:
        return rng.choice(FIRST).format(**words)
    answer = turns[-1]["answer"] or {}
    names = NAME.findall(answer.get("text") or "") or NAME.findall(state["background"])
    if names and rng.random() < 0.6:
        return rng.choice(ABOUT_A_NAME).format(name=rng.choice(names), **words)
    return rng.choice(OPEN)
