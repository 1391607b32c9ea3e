"""What a plausible worker would type: questions by what stands around an answer, and answers."""

import random
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tasks.simulation.behaviour import Behaviour
    from tasks.simulation.work_page import Opener

# Quoted words are found again by those who answer.
ASKED = (
    "What stands between “{left}” and “{right}”?",
    "What does the text say after “{left}” and before “{right}”?",
)
QUOTED = re.compile("“([^”]+)”")
# Words that stand in no passage: what is asked about them has no answer there.
INVENTED = ("of Mirabel Ostrander", "in the Vale of Tarn", "under Quillon the Third")
NONSENSE = "Tell me something nice, number {number}, about this please?"
REASON = "It makes no sense to me."
# Tokens that are quoted on either side of an answer.
AROUND = 3


def fill(
    page: Mapping[str, object], behaviour: "Behaviour", rng: random.Random, open_article: "Opener"
) -> dict[str, object]:
    """Return the data that the page would send: it passes the protocol's checks.

    Careful readers of one question give one answer, whatever their `rng`; nothing is opened.
    """
    items: Any = page["items"]
    if page["kind"] == "span_question":
        return {"questions": _write(items, behaviour, rng)}
    return {"answers": [_answer(item, behaviour, rng) for item in items]}


def _write(
    items: Sequence[Mapping[str, Any]], behaviour: "Behaviour", rng: random.Random
) -> list[dict[str, Any]]:
    """Return a question for each item, each with the words that answer it, or that seem to."""
    questions, asked = [], set()
    for number, item in enumerate(items):
        passage = item["paragraphs"][0]
        left, span, right = _place(passage, rng)
        if item["type"] == "none":
            right = rng.choice(INVENTED)
        text = rng.choice(ASKED).format(left=left, right=right)
        if rng.random() < behaviour.nonsense or text in asked:
            text = NONSENSE.format(number=rng.randrange(1000) * len(items) + number)
        asked.add(text)
        questions.append({"item": item["id"], "text": text, "spans": [span]})
    return questions


def _place(passage: Mapping[str, Any], rng: random.Random) -> tuple[str, dict[str, Any], str]:
    """Return what stands before some words, the words as a mark, and what stands behind them."""
    tokens, text = passage["tokens"], passage["text"]
    words = [at for at, (*_, is_word) in enumerate(tokens) if is_word]
    quotes = {at for at, (start, *_) in enumerate(tokens) if text[start] in "“”"}
    inner = [
        at
        for at in words
        if AROUND <= at < len(tokens) - AROUND - 1
        and quotes.isdisjoint(range(at - AROUND, at + AROUND + 2))
    ]
    first = rng.choice(inner or words)
    last = min(first + rng.randrange(2), len(tokens) - 1)
    before, behind = tokens[max(0, first - AROUND) : first], tokens[last + 1 : last + 1 + AROUND]
    left = text[before[0][0] : before[-1][1]] if before else ""
    right = text[behind[0][0] : behind[-1][1]] if behind else ""
    return left, _span(passage, tokens[first][0], tokens[last][1]), right


def _answer(item: Mapping[str, Any], behaviour: "Behaviour", rng: random.Random) -> dict[str, Any]:
    blank = {"item": item["id"], "spans": [], "reason": ""}
    if rng.random() < behaviour.gives_up:
        return {**blank, "type": "none"}
    passage = item["paragraphs"][0]
    if rng.random() < max(behaviour.wrong_answer, behaviour.nonsense):
        return {**blank, "type": "span", "spans": [_place(passage, rng)[1]]}
    quoted = QUOTED.findall(item["question"])
    if len(quoted) != 2:
        return {**blank, "type": "bad", "reason": REASON}
    span = _between(passage, *quoted)
    return {**blank, "type": "span", "spans": [span]} if span else {**blank, "type": "none"}


def _between(passage: Mapping[str, Any], left: str, right: str) -> dict[str, Any] | None:
    """Return the fewest words between two pieces of the passage, None where there are none."""
    pattern = re.compile(f"(?={re.escape(left)}(.+?){re.escape(right)})", re.DOTALL)
    places = [found.span(1) for found in pattern.finditer(passage["text"])]
    if not places:
        return None
    start, end = min(places, key=lambda place: place[1] - place[0])
    words = [token for token in passage["tokens"] if start <= token[0] and token[1] <= end]
    return _span(passage, words[0][0], words[-1][1]) if words else None


def _span(passage: Mapping[str, Any], start: int, end: int) -> dict[str, Any]:
    return {"document": passage["document"], "start": start, "end": end}
