"""The typed parameters of the protocol: what protocol.toml may and must say."""

from functools import cache
from typing import Literal, Self, cast

from pydantic import Field, model_validator

from collector.protocols.loading import get_protocol
from collector.protocols.parameters import Parameters as EveryProtocol
from collector.protocols.parameters import (
    Redundancy,
    SplitsTable,
    StageTable,
    Table,
    TextTable,
    WorkersTable,
)

# Raised with protocol.toml's own when a key is renamed; then `upgrade` reads older collections.
VERSION = 1


class SeedsTable(Table):
    """Which sections can be talked about (QuAC 2.2)."""

    category_keywords: list[str]
    """Words in the categories of the articles to talk about."""
    min_incoming_links: int = Field(ge=0)
    """An article that fewer articles link to is left out."""
    # What has a value here was not asked before: a collection made then goes on as it was.
    category_levels: int = Field(default=0, ge=0, le=9)
    """How many levels below such a category count too."""
    persons_by: Literal["categories", "infoboxes", "either", "titles", "anything"]
    """How articles about people are told from others."""
    person_categories: list[str]
    """Categories of people end in one of these words."""
    person_infoboxes: list[str] = []
    """Infoboxes of people end in one of these words."""
    person_titles: list[str]
    """Titles of the articles about people, where they are listed."""
    min_paragraphs: int = Field(ge=1)
    """Sections with fewer paragraphs are left out."""
    max_paragraphs: int = Field(ge=1)
    """Sections with more paragraphs are left out."""
    min_tokens: int = Field(ge=1)
    """Shorter sections are left out."""
    max_tokens: int = Field(ge=1)
    """Longer sections are left out."""
    min_words_per_sentence: float = Field(ge=0)
    """Sections with shorter sentences, such as lists, are left out."""
    max_words_per_sentence: float = Field(ge=1)
    """Sections with longer sentences are left out."""
    max_background_characters: int = Field(ge=1)
    """Articles with a longer first paragraph are left out."""


class Validators(Redundancy):
    """How many workers answer a finished dialog's questions again; none is allowed."""

    train: int = Field(ge=0)
    """How many people answer a training dialog again."""
    dev: int = Field(ge=0)
    """How many people answer a dev dialog again."""
    test: int = Field(ge=0)
    """How many people answer a test dialog again."""


class ValidationTable(StageTable):
    """A stage whose workers answer a dialog's questions in order (QuAC 2.2)."""

    redundancy: Validators
    """How many people answer one dialog again."""
    max_span_tokens: int = Field(ge=1)
    """The longest answer that can be marked, in tokens."""
    continuation: bool
    """Whether they also say how to go on."""


class DialogTable(StageTable):
    """The live dialogs (QuAC 2.1, 2.2)."""

    requires_student: str
    """The qualification stage that opens the student's role."""
    requires_teacher: str
    """The qualification stage that opens the teacher's role."""
    min_pairs: int = Field(ge=1)
    """Dialogs with fewer answered questions stay out of the data; they are paid."""
    max_questions: int = Field(ge=1)
    """The dialog ends after so many questions."""
    max_unanswerable: int = Field(ge=1)
    """The dialog ends with the last of so many questions without an answer."""
    max_span_tokens: int = Field(ge=1)
    """The longest answer that can be marked, in tokens."""
    max_question_characters: int = Field(ge=1)
    """The longest question that can be asked."""
    turn_cents: list[int] = Field(min_length=1)
    """What each turn earns both partners, the first turn first."""
    wait_minutes: int = Field(ge=1)
    """How long somebody waits for a partner at most."""
    wait_cents_per_minute: int = Field(ge=0)
    """What a minute of waiting earns."""
    ready_seconds: int = Field(ge=5)
    """How long both have to say that they are there."""
    grace_seconds: int = Field(ge=5)
    """How long a lost connection may last."""
    move_minutes: int = Field(ge=1)
    """How long a partner may take for one move."""

    @model_validator(mode="after")
    def _pay_never_falls(self) -> Self:
        if min(self.turn_cents) < 0 or sorted(self.turn_cents) != self.turn_cents:
            raise ValueError("turn_cents must not be negative nor fall from turn to turn")
        return self

    @model_validator(mode="after")
    def _time_is_enough(self) -> Self:
        longest = self.wait_minutes + 2 * self.max_questions * self.move_minutes
        if self.allotted_minutes < longest:
            raise ValueError(
                f"allotted_minutes must cover the longest wait and a dialog after it: {longest}"
            )
        return self


class AgreementTable(Table):
    """Which questions are scored (QuAC 4.1)."""

    min_human_f1: float = Field(ge=0, le=1)
    """Questions on which people agree less are not scored."""


class ReportTable(Table):
    """How the report draws and counts (QuAC 3)."""

    chunks: int = Field(ge=1)
    """How many parts a section is cut into to tell where answers lie."""
    hand_labels: int = Field(ge=1)
    """How many questions are drawn to be labelled by hand."""


class Parameters(EveryProtocol):
    """Everything protocol.toml says."""

    seeds: SeedsTable
    workers: WorkersTable
    student_qualification: TextTable
    teacher_qualification: ValidationTable
    dialog: DialogTable
    validation: ValidationTable
    agreement: AgreementTable
    splits: SplitsTable
    report: ReportTable


@cache
def defaults() -> Parameters:
    """Return what protocol.toml says, for what is scored without a collection."""
    return cast(Parameters, get_protocol("quac").parameters())
