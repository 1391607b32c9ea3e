"""What a question must have, and what its writer is advised."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from annotation.protocols import reader_hints
from annotation.protocols.reader_hints import answers_alone
from collector.protocols.parameters import StageTable
from collector.protocols.stage_tables import PairTable
from tasks.work.widgets.brief import REQUESTS
from tasks.work.widgets.problems import Problem
from tasks.work.widgets.words import is_asked, words_of

if TYPE_CHECKING:
    from annotation.protocols.hotpotqa.parameters import ChecksTable, Parameters


Given = Mapping[str, Any]
# Two words with capitals or more; full stops end initials alone.
NAME = re.compile(r"[A-Z][\w'’-]+(?: (?:(?:of|the|de|von|van) )?(?:[A-Z]\.(?= )|[A-Z][\w'’-]+))+")
# Words with capitals as far as they make one name: “Procter & Gamble”, “Thorley Hospital”.
RUN = re.compile(r"(?<!\w)[A-Z][\w'’-]*(?: (?:(?:of|the|de|von|van|&) )*[A-Z][\w'’-]*)*")
WORD = re.compile(r"\w+(?:['’-]\w+)*", re.UNICODE)
ASKS_YES_NO = re.compile(
    r"\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\b", re.IGNORECASE
)
# Words that say nothing of what a question is about.
EMPTY = frozenset(
    "a an the of in on at to for from by with and or as is are was were be been being do does did "
    "has have had it its this that these those he she they them his her their who whom whose what "
    "which when where why how many much long old after before during into about than then there "
    "not no yes can could will would may might must shall should also more most other both".split()
)
# What only paragraphs about people say; places and works have long names that nobody needs whole.
PERSON = re.compile(r"\bborn\b", re.IGNORECASE)
UNPROVEN = "The sentence with your answer is not among those you picked."


def on(pair: Given, item: Given) -> Iterator[tuple[str, str]]:
    """Yield (field, sentence) for what could make one question better.

    pair: a cleaned entry of the page; item: what the page showed, with "type", "form" and
    "paragraphs".
    """
    text, paragraphs = pair["text"], item["paragraphs"]
    if not text.strip():
        return
    yield from (("text", sentence) for sentence in _asked(text, pair, item))
    partial = _partial_name(text, paragraphs)
    if partial:
        yield "text", f"Use complete names: write “{partial}” where you mean it."
    if is_unproven(pair, item):
        yield "facts", UNPROVEN


def _asked(text: str, pair: Given, item: Given) -> Iterator[str]:
    """Yield what the words of the question say about its form and about what it needs."""
    yes_no = bool(ASKS_YES_NO.match(text)) and " or " not in text
    if item["form"] == "yes_no" and not yes_no:
        yield "This pair asks for a question that is answered with yes or no."
    elif yes_no and pair["type"] == "span":
        yield "This sounds like a question for yes or no, but you marked words."
    paragraphs = item["paragraphs"]
    far = [one for one in paragraphs if not _telling(text) & _telling(_all_of(one))]
    if far:
        yield f"Nothing in it leads to “{far[0]['title']}”. Does it need both?"
        return
    if item["type"] == "comparison":
        unnamed = [one for one in paragraphs if not _telling(text) & _telling(one["title"])]
        if unnamed:
            yield f"A comparison names both: “{unnamed[0]['title']}” is not in the question."
    answer = _words_of(pair)
    if item["type"] != "comparison" and answer and " or " not in text and _contains(text, answer):
        yield "The answer stands in the question."
    elif pair["type"]:
        alone = answers_alone(
            text, answer, [one["title"] for one in paragraphs], [one["text"] for one in paragraphs]
        )
        if alone is not None:
            yield alone_sentence(paragraphs[alone]["title"])


def read_alone(pair: Given, item: Given, confidence: float) -> str | None:
    """Return what is said where a reader is sure of the answer from one paragraph alone.

    confidence: how sure at least, 0 for no reader. Of two that are compared one is right by chance.
    """
    if not confidence or item["type"] == "comparison" or pair["type"] != "span":
        return None
    for one in item["paragraphs"]:
        if not _telling(pair["text"]) & _telling(_all_of(one)):
            # It is told that nothing leads there: an answer from there would be luck.
            continue
        sure = reader_hints.confidence(pair["text"], _words_of(pair), one["title"], one["text"])
        if sure >= confidence:
            return alone_sentence(one["title"])
    return None


def alone_sentence(title: str) -> str:
    """Return what is said where the paragraph of this title seems to be enough."""
    return f"“{title}” alone seems to give the answer. Can the question need both?"


def is_unproven(given: Given, item: Given) -> bool:
    """Return whether sentences were picked, but not the one that holds the marked answer."""
    if given["type"] != "span" or not given["facts"]:
        return False
    [span] = given["spans"]
    [paragraph] = [one for one in item["paragraphs"] if one["document"] == span["document"]]
    holding = [
        [int(span["document"]), number]
        for number, (start, end) in enumerate(paragraph["sentences"])
        if start < span["end"] and span["start"] < end
    ]
    return not any(fact in given["facts"] for fact in holding)


def _partial_name(text: str, paragraphs: Sequence[Given]) -> str | None:
    """Return the whole name of whoever a paragraph is about, of whom the question says the last."""
    asked = _lone(text)
    for one in paragraphs:
        name = without_brackets(one["title"])
        if not NAME.fullmatch(name) or not PERSON.search(one["text"]):
            continue
        if name.split()[-1] in asked and not _contains(text, name):
            return name
    return None


def _lone(text: str) -> set[str]:
    """Return the words with a capital that follow none and are no part of a longer name.

    What is named after a person describes them on purpose: their whole name would take that hop.
    """
    words = WORD.findall(text)
    pairs = zip(["", *words], words, strict=False)
    first = {word for before, word in pairs if word[:1].isupper() and not before[:1].isupper()}
    return first & set(RUN.findall(text))


def without_brackets(title: str) -> str:
    """Return a title without what tells it from others of its name."""
    return re.sub(r"\s*\([^)]*\)$", "", title)


def _words_of(pair: Given) -> str:
    """Return the answer as words, "" without one."""
    if pair["type"] == "span":
        return str(pair["spans"][0]["text"])
    return pair["type"] or ""


def _contains(text: str, words: str) -> bool:
    pattern = rf"(?<!\w){re.escape(words.casefold())}(?!\w)"
    return re.search(pattern, text.casefold()) is not None


def _all_of(paragraph: Given) -> str:
    return f"{paragraph['title']} {paragraph['text']}"


def _telling(text: str) -> set[str]:
    """Return the words of a text that say what it is about, in lower case."""
    return {word for word in words_of(text.casefold()) if word not in EMPTY}


def problems(
    kind: str,
    data: Mapping[str, Sequence[object]],
    items: Sequence[Mapping[str, object]],
    table: StageTable,
    parameters: "Parameters",
) -> list[Problem]:
    """Return every problem and hint at once, in the order of the page."""
    if isinstance(table, PairTable):
        return list(_pairs(data.get("pairs", []), items, table, parameters.checks))
    return list(_answers(data.get("answers", []), items))


def _pairs(
    pairs: Sequence[Any],
    items: Sequence[Mapping[str, Any]],
    table: PairTable,
    limits: "ChecksTable",
) -> Iterator[Problem]:
    seen: dict[str, int] = {}
    skipped, most_skips = 0, table.most_skips(len(items))
    for index, (pair, item) in enumerate(zip(pairs, items, strict=False)):
        if pair["skipped"]:
            skipped += 1
            yield from _skipped(index, pair, skipped, most_skips)
            continue
        text = " ".join(pair["text"].casefold().split())
        if text and text in seen:
            message = f"This is the same as question {seen[text] + 1}: ask something else."
            yield Problem(message, index, "text")
        seen.setdefault(text, index)
        yield from _question(index, pair["text"], limits)
        yield from _answer(index, pair, item)
        read = read_alone(pair, item, limits.reader_confidence)
        for field, message in on(pair, item):
            if message != read:
                yield Problem(message, index, field, hint=True)
        if read:
            yield Problem(read, index, "text", hint=True, from_reader=True)


def _skipped(index: int, pair: Mapping[str, Any], skipped: int, most: int) -> Iterator[Problem]:
    if skipped > most:
        message = f"At most {most} of the pairs of this HIT can be skipped: write about this one."
        yield Problem(message, index, "skip")
    elif not pair["reason"]:
        yield Problem("Say why no good question can be asked about this pair.", index, "skip")


def _question(index: int, text: str, limits: "ChecksTable") -> Iterator[Problem]:
    words = words_of(text)
    if not words:
        yield Problem("Write the question.", index, "text")
        return
    if len(words) < limits.min_question_words:
        message = f"Write a whole question of at least {limits.min_question_words} words."
        yield Problem(message, index, "text")
    elif not is_asked(text):
        message = "End the question with a question mark."
        yield Problem(message, index, "text", hint=not limits.question_mark)


def _answer(index: int, given: Mapping[str, Any], item: Mapping[str, Any]) -> Iterator[Problem]:
    if not given["type"]:
        yield Problem(REQUESTS[item["form"]], index, "answer")
    proven = {paragraph for paragraph, _ in given["facts"]}
    lacking = [one for one in item["paragraphs"] if int(one["document"]) not in proven]
    if len(lacking) == len(item["paragraphs"]):
        yield Problem("Pick the sentences that prove the answer, by number.", index, "facts")
    elif lacking:
        message = f"Pick a sentence of “{lacking[0]['title']}” too: the proof needs both."
        yield Problem(message, index, "facts")


def _answers(answers: Sequence[Any], items: Sequence[Mapping[str, Any]]) -> Iterator[Problem]:
    for index, (answer, item) in enumerate(zip(answers, items, strict=False)):
        if not answer["type"]:
            yield Problem(REQUESTS[item["form"]], index, "answer")
        if not answer["facts"]:
            yield Problem("Pick the sentences that prove the answer, by number.", index, "facts")
        elif is_unproven(answer, item):
            yield Problem(UNPROVEN, index, "facts", hint=True)
