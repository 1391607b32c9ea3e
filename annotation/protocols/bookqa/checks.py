"""What a writer and an answerer are told to mend, and what is only advice."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from annotation.protocols import reader_hints
from collector.protocols.parameters import StageTable
from tasks.work.widgets.problems import Problem
from tasks.work.widgets.words import copied, is_asked, n_words, words_of

if TYPE_CHECKING:
    from annotation.protocols.bookqa.parameters import ChecksTable, Parameters

# Who has read the book knows no summary.
_SUMMARY = re.compile(r"\b(?:the|this) (?:summary|plot|passage|text|article|paragraph)\b", re.I)
_OPENINGS = frozenset(
    "who whom whose what which when where why how is are was were do does did has have had can "
    "could will would should in on at to of for from by with the a an and".split()
)


def problems(
    kind: str,
    data: Mapping[str, Sequence[object]],
    items: Sequence[Mapping[str, object]],
    table: StageTable,
    parameters: "Parameters",
) -> list[Problem]:
    """Return every problem and hint at once, in the order of the page."""
    by_id = {item["id"]: item for item in items}
    found: list[Problem] = []
    entries = cast(Sequence[Mapping[str, Any]], data["entries"])
    for index, entry in enumerate(entries):
        passage = cast(Mapping[str, str], by_id[entry["item"]]["passage"])
        found += _of_entry(index, entry["fields"], passage["text"], parameters.checks)
    return found


def _of_entry(
    index: int, fields: Mapping[str, str], summary: str, checks: "ChecksTable"
) -> Iterator[Problem]:
    if fields.get("question"):
        yield from _of_question(index, fields["question"], summary, checks)
    answer = fields.get("answer") or ""
    number = n_words(_parted(answer))
    if number > checks.max_answer_words:
        yield Problem(f"It has {number} words: keep {checks.max_answer_words}.", index, "answer")
    yield from _copied(index, "answer", answer, summary, checks.max_copied_words)
    question = fields.get("question") or ""
    if number > 1 and _plain(answer) and _plain(answer) in _plain(question):
        yield Problem("The question holds its own answer.", index, "question")
    yield from _read_alone(index, question, answer, summary, checks.reader_confidence)


def _read_alone(
    index: int, question: str, answer: str, summary: str, confidence: float
) -> Iterator[Problem]:
    """Yield a kind word where a reader gives the answer from one sentence, so sure or surer."""
    if not confidence or not _plain(answer):
        return
    for sentence in reader_hints.sentences_of(summary):
        # A reader answers with words of what it reads.
        if f" {_plain(answer)} " not in f" {_plain(sentence)} ":
            continue
        if reader_hints.confidence(question, answer, "", sentence) >= confidence:
            message = "One sentence of the summary seems to answer it alone. Could it ask for more?"
            yield Problem(message, index, "question", hint=True, from_reader=True)
            return


def _of_question(
    index: int, question: str, summary: str, checks: "ChecksTable"
) -> Iterator[Problem]:
    if len(words_of(_parted(question))) < checks.min_question_words:
        yield Problem(f"Ask in {checks.min_question_words} words or more.", index, "question")
    if not is_asked(question):
        yield Problem("End the question with a question mark.", index, "question")
    if _SUMMARY.search(question):
        yield Problem(
            "Ask about the story: who reads the book knows no summary.", index, "question"
        )
    yield from _copied(index, "question", question, summary, checks.max_copied_words)
    if not _names(question, summary):
        yield Problem(
            "Does it say whom it is about? Name the characters: other readers do not know who "
            "“he” or “she” is.",
            index,
            "question",
            hint=True,
        )


def _copied(index: int, field: str, words: str, summary: str, most: int) -> Iterator[Problem]:
    """Yield a problem where too many words in a row stand in the summary."""
    if run := copied(_plain(words), _plain(summary), most):
        yield Problem(f"Say it in your own words: “{run}” is the summary's.", index, field)


def _names(question: str, summary: str) -> bool:
    """Return whether the question has a name: a capitalised word that the summary has too."""
    known = set(words_of(_parted(summary)))
    return any(
        word[:1].isupper() and word.lower() not in _OPENINGS and _bare(word) in map(_bare, known)
        for word in words_of(_parted(question))
    )


def _bare(word: str) -> str:
    return re.sub(r"['’]s$", "", word)


def _plain(text: str) -> str:
    return " ".join(words_of(_parted(text))).lower()


def _parted(text: str) -> str:
    """Return a text in which joined words are several: a well-known one is two."""
    return re.sub("[-_]", " ", text)
