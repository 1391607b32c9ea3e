"""The turns of dialogs as baselines and analyses read them: question, section, every answer."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from annotation.metrics.result import ScoreError, read_file
from annotation.protocols.quac.export import identified, seed_text
from annotation.protocols.quac.file_format import (
    AFFIRMATION,
    CANNOT_ANSWER,
    CONTINUATION,
    LayoutError,
    read,
    seed_record,
)
from annotation.protocols.quac.references import counted
from annotation.records.schema import (
    IMPORTED,
    QuestionRecord,
    SeedRecord,
    VoteRecord,
    chosen_vote,
    is_kept,
    is_simulated,
    released_votes,
)

ENGLISH = "en"


@dataclass(frozen=True)
class MarkedAnswer:
    """One person's answer: a span of the section, or CANNOTANSWER with start and end None.

    start, end: code points into the section. affirmation: the files' letter, blank where none
    was given.
    """

    text: str
    start: int | None
    end: int | None
    affirmation: str = ""


@dataclass(frozen=True)
class Turn:
    """One question of a dialog with the teacher's answer and those of the validators.

    number: from 0. section: its text without the token of no answer. continuation: the files'
    letter. language: the section's; published files do not tell theirs and are in English.
    previous: the turn before it in the dialog. synthetic: a simulated worker asked, or gave the
    answer that is released; then it tells nothing of people.
    """

    qid: str
    dialog: str
    number: int
    question: str
    section: str
    teacher: MarkedAnswer
    validators: tuple[MarkedAnswer, ...]
    continuation: str
    fold: str = ""
    language: str = ENGLISH
    synthetic: bool = False
    previous: "Turn | None" = field(default=None, repr=False, compare=False)

    @property
    def references(self) -> list[str]:
        """Return the texts it is scored against, the teacher's last as in the files."""
        return counted([each.text for each in (*self.validators, self.teacher)])

    @property
    def is_unanswerable(self) -> bool:
        """Return whether the references say that the section has no answer."""
        return self.references == [CANNOT_ANSWER]

    def history(self) -> Iterator["Turn"]:
        """Yield the turns before it, the latest first."""
        turn = self.previous
        while turn is not None:
            yield turn
            turn = turn.previous


def turns_of(seeds: Iterable[SeedRecord]) -> Iterator[Turn]:
    """Yield the kept turns, dialog by dialog, in the order they were asked."""
    for seed in seeds:
        section = seed["passages"][0]["text"] if IMPORTED in seed["payload"] else seed_text(seed)
        language = seed["passages"][-1].get("language", ENGLISH)
        dialogs: dict[Any, list[QuestionRecord]] = {}
        for question in seed["questions"]:
            if is_kept(question):
                dialogs.setdefault(question["payload"]["dialog"], []).append(question)
        for dialog in dialogs.values():
            previous = None
            for question in sorted(dialog, key=lambda each: each["payload"]["turn"]):
                turn = _turn(question, section, previous)
                if turn is not None:
                    yield (previous := replace(turn, fold=seed["fold"], language=language))


def read_turns(path: Path) -> list[Turn]:
    """Return the turns of a v0.2 file; raises ScoreError naming it."""
    try:
        sections = read(str(path), read_file(path))
    except LayoutError as error:
        raise ScoreError(str(error)) from None
    seeds = (seed_record(section, "", str(at)) for at, section in enumerate(sections))
    found = list(turns_of(identified(seeds)))
    if not found:
        raise ScoreError(f"{path}: there is no question in it; give a file with dialogs.")
    return found


def _turn(question: QuestionRecord, section: str, previous: Turn | None) -> Turn | None:
    teacher = chosen_vote(question)
    if teacher is None:
        return None
    return Turn(
        qid=question["id"],
        dialog=question["id"].rpartition("_q#")[0],
        number=question["payload"]["turn"],
        question=question["text"],
        section=section,
        teacher=_marked(teacher),
        validators=tuple(_marked(vote) for vote in released_votes(question) if vote is not teacher),
        continuation=CONTINUATION.get(teacher["payload"].get("continuation", ""), ""),
        synthetic=is_simulated(question),
        previous=previous,
    )


def _marked(vote: VoteRecord) -> MarkedAnswer:
    payload = vote["payload"]
    affirmation = AFFIRMATION.get(payload.get("affirmation", ""), "")
    spans = payload.get("spans") or ()
    if vote["type"] != "span" or not spans:
        return MarkedAnswer(CANNOT_ANSWER, None, None, affirmation)
    return MarkedAnswer(spans[0]["text"], spans[0]["start"], spans[0]["end"], affirmation)
