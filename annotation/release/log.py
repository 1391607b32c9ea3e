"""The private log of a collection: what each of its lines holds.

One JSON object a line, its kind under "is". What hands decided of the results stands in one order,
that of time, whatever it is: one act can undo another. It holds the key of the pseudonyms and
everything people handed in, so it is never a part of a release.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from tasks.work.dialog_rules import Ending, Reply, Role

VERSION = 1


class LogError(Exception):
    """The log cannot be written, read or replayed; the message is one line that says why."""


def text_sha256(texts: Iterable[str]) -> str:
    """Return the SHA-256 by which a seed's passages are known again."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


class Line(BaseModel):
    """One line; `name` is its kind."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: ClassVar[str]

    def as_line(self) -> bytes:
        """Return it as a line of the file."""
        value = {"is": self.name, **self.model_dump(mode="json")}
        return json.dumps(value, ensure_ascii=False).encode() + b"\n"


class CollectionLine(Line):
    """The collection: what decides its data, and what its card tells.

    published, began, ended: the dates that its release tells; logs of before have none.
    """

    name = "collection"
    version: int
    slug: str
    title: str
    protocol: str
    protocol_version: int
    parameters: dict[str, Any]
    seed: int
    budget_cents: int
    requester_name: str
    requester_contact: str
    ethics_number: str
    pseudonym_key: str
    corpus: str
    published: date | None = None
    began: date | None = None
    ended: date | None = None


class TextLine(Line):
    """One version of the words that workers read."""

    name = "text"
    text: str
    version: int
    markdown: str


class RevisionLine(Line):
    """A change of one parameter, as a release tells it."""

    name = "revision"
    key: str
    old: Any
    new: Any
    why: str
    by: str
    at: datetime


class StatementLine(Line):
    """What a requester said of the dataset, or took back."""

    name = "statement"
    about: str
    text: str
    by: str
    at: datetime


class SeedLine(Line):
    """One seed; its paragraphs are found by its key, which names their content.

    Of documents, to which others may have come since, it tells them itself: passages, the title and
    place of each, the SHA-256 of their texts, and the payload. Logs of before do not.
    """

    name = "seed"
    key: str
    position: int
    fold: str
    stage: str
    passages: list[tuple[str, int]] = []
    sha256: str = ""
    payload: dict[str, Any] = {}


class UnitLine(Line):
    """One bundle that somebody took; `items` are keys of seeds or of questions, in order.

    All tickets of a stage of dialogs are one, without items.
    """

    name = "unit"
    unit: str
    stage: str
    items: list[str]
    redundancy: int


class AssignmentLine(Line):
    """One assignment. `taken`, `handed_in`: places in one order; `made`: keys of questions.

    `bonus_cents` is what people gave for it beside what rules promise.
    """

    name = "assignment"
    taken: int
    handed_in: int | None
    unit: str
    worker: str
    end: str
    counts: bool | None
    data: dict[str, Any] | None
    made: list[str]
    active_seconds: int | None
    reward_cents: int
    instructions: int | None
    consent: int | None
    synthetic: bool
    rejected: bool = False
    bonus_cents: int = 0
    # (place of a question, whether it was handed in all the same) of what a reader answered.
    hints: list[tuple[int, bool]] = []


class TicketLine(Line):
    """What became of an assignment to talk: the worker who took it came to the waiting room.

    `assignment` is the place at which it was taken, `roles` are those that its holder qualified
    for, `waited_seconds` how long they are paid to have waited.
    """

    name = "ticket"
    assignment: int
    roles: list[Role]
    waited_seconds: int


class DialogLine(Line):
    """One dialog about a seed; they are numbered from 1, as they began.

    `student`, `teacher`: the places at which their assignments were taken. One that went on when
    the log was written has no end, and none of its moves is told: nothing of it is released.
    """

    name = "dialog"
    dialog: int
    seed: str
    student: int
    teacher: int
    began: datetime
    ended: datetime | None
    ending: Ending | None
    ended_by: Role | None


class MoveLine(Line):
    """What the student asked in a dialog, or the teacher answered; its moves are in their order."""

    name = "move"
    dialog: int
    role: Role
    at: datetime
    question: str | None = None
    answer: Reply | None = None


class MadeUpLine(Line):
    """What was added to a person's answer when their published work was typed again.

    `assignment` is the place at which it was taken, `fields` the parts of its answer to the
    question that nobody said; `whole` is whether nobody gave that answer at all.
    """

    name = "made up"
    assignment: int
    question: str
    fields: list[str]
    whole: bool


class DecisionLine(Line):
    """What a requester decided of one worker's qualification; `let_in` whatever the test says."""

    name = "decision"
    stage: str
    worker: str
    granted: bool
    note: str
    by: str
    let_in: bool = False


class Correction(BaseModel):
    """The answer that a requester entered in place of the votes, in the stage of theirs.

    `corrects` is who gave the vote that it rests on, None in logs of before.
    """

    stage: str
    type: str
    payload: dict[str, Any]
    synthetic: bool
    corrects: str | None = None


class OverrideLine(Line):
    """A verdict decided by hand, or given back to its votes; `chosen` is who gave its answer."""

    name = "override"
    question: str
    outcome: str
    chosen: str | None
    correction: Correction | None = None
    follows_votes: bool
    note: str
    by: str


class AgreeingLine(Line):
    """Who agreed, and how many had voted, when a verdict was last decided before a hand did."""

    name = "agreeing"
    question: str
    workers: list[str]
    n_votes: int


class ExclusionLine(Line):
    """Everything by the worker is left out of the dataset."""

    name = "exclusion"
    worker: str
    why: str
    by: str


class InclusionLine(Line):
    """Everything by the worker, who was left out before, counts again."""

    name = "inclusion"
    worker: str
    why: str
    by: str


class LabelsLine(Line):
    """The labels that a worker chose in a stage hold for the question, by hand."""

    name = "labels"
    question: str
    stage: str
    worker: str
    why: str
    by: str


class StateLine(Line):
    """The collection was finished, or reopened: what still waited for more votes waits no more."""

    name = "state"
    state: str
    why: str
    by: str


class ClosedLine(Line):
    """The stage was closed at last: what waited for more votes in it waits no more."""

    name = "closed"
    stage: str


class HopsLine(Line):
    """What all questions of a worker count as, by a requester's last decision."""

    name = "hops"
    worker: str
    single_hop: bool
    by: str


class JudgedLine(Line):
    """What a reader answered, out of fold, in the run that splits follow."""

    name = "judged"
    question: str
    reader: str
    answer: str
    loss: float


class FilesLine(Line):
    """The release of that moment: SHA-256 by the name of the file."""

    name = "files"
    files: dict[str, str]


KINDS: dict[str, type[Line]] = {
    kind.name: kind
    for kind in (
        *(CollectionLine, TextLine, RevisionLine, StatementLine, SeedLine, UnitLine),
        *(AssignmentLine, TicketLine, DialogLine, MoveLine, MadeUpLine),
        *(DecisionLine, OverrideLine, LabelsLine, ExclusionLine, InclusionLine, StateLine),
        *(ClosedLine, AgreeingLine, HopsLine, JudgedLine, FilesLine),
    )
}
Act = OverrideLine | LabelsLine | ExclusionLine | InclusionLine | StateLine | ClosedLine


@dataclass
class Log:
    """A whole log; lists in the order of the file.

    `tickets` by the place at which their assignments were taken, `moves` by their dialogs' numbers.
    """

    collection: CollectionLine
    files: dict[str, str]
    texts: list[TextLine] = field(default_factory=list)
    revisions: list[RevisionLine] = field(default_factory=list)
    statements: list[StatementLine] = field(default_factory=list)
    seeds: list[SeedLine] = field(default_factory=list)
    units: dict[str, UnitLine] = field(default_factory=dict)
    assignments: list[AssignmentLine] = field(default_factory=list)
    tickets: dict[int, TicketLine] = field(default_factory=dict)
    dialogs: list[DialogLine] = field(default_factory=list)
    moves: dict[int, list[MoveLine]] = field(default_factory=dict)
    made_up: list[MadeUpLine] = field(default_factory=list)
    decisions: list[DecisionLine] = field(default_factory=list)
    acts: list[Act] = field(default_factory=list)
    agreeing: list[AgreeingLine] = field(default_factory=list)
    hops: list[HopsLine] = field(default_factory=list)
    judged: list[JudgedLine] = field(default_factory=list)

    def events(self) -> list[tuple[int, AssignmentLine]]:
        """Return (place, assignment) of every taking and every handing in, in order."""
        places = [(one.taken, one) for one in self.assignments]
        places += [(one.handed_in, one) for one in self.assignments if one.handed_in is not None]
        return sorted(places, key=lambda event: event[0])
