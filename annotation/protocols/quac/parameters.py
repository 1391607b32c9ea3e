"""The typed parameters of the protocol: what protocol.toml may and must say."""

from functools import cache
from typing import Literal, Self, cast

from pydantic import Field, model_validator

from collector.parameters import Parameters as EveryProtocol
from collector.parameters import Redundancy, SplitsTable, StageTable, Table, TextTable, WorkersTable
from collector.protocol import find

# Raised with protocol.toml's own when a key is renamed; then `upgrade` reads older collections.
VERSION = 1


class SeedsTable(Table):
    """Which sections can be talked about (QuAC 2.2)."""

    category_keywords: list[str]
    min_incoming_links: int = Field(ge=0)
    # What has a value here was not asked before: a collection made then goes on as it was.
    category_levels: int = Field(default=0, ge=0, le=9)
    persons_by: Literal["categories", "infoboxes", "either", "titles", "anything"]
    person_categories: list[str]
    person_infoboxes: list[str] = []
    person_titles: list[str]
    min_paragraphs: int = Field(ge=1)
    max_paragraphs: int = Field(ge=1)
    min_tokens: int = Field(ge=1)
    max_tokens: int = Field(ge=1)
    min_words_per_sentence: float = Field(ge=0)
    max_words_per_sentence: float = Field(ge=1)
    max_background_characters: int = Field(ge=1)


class Validators(Redundancy):
    """How many workers answer a finished dialog's questions again; none is allowed."""

    train: int = Field(ge=0)
    dev: int = Field(ge=0)
    test: int = Field(ge=0)


class ValidationTable(StageTable):
    """A stage whose workers answer a dialog's questions in order (QuAC 2.2)."""

    redundancy: Validators
    max_span_tokens: int = Field(ge=1)
    continuation: bool


class DialogTable(StageTable):
    """The live dialogs (QuAC 2.1, 2.2)."""

    requires_student: str
    requires_teacher: str
    min_pairs: int = Field(ge=1)
    max_questions: int = Field(ge=1)
    max_unanswerable: int = Field(ge=1)
    max_span_tokens: int = Field(ge=1)
    max_question_characters: int = Field(ge=1)
    turn_cents: list[int] = Field(min_length=1)
    wait_minutes: int = Field(ge=1)
    wait_cents_per_minute: int = Field(ge=0)
    ready_seconds: int = Field(ge=5)
    grace_seconds: int = Field(ge=5)
    move_minutes: int = Field(ge=1)

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


class ReportTable(Table):
    """How the report draws and counts (QuAC 3)."""

    chunks: int = Field(ge=1)
    hand_labels: int = Field(ge=1)


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
    return cast(Parameters, find("quac").parameters())
