"""The typed parameters of the protocol: what protocol.toml may and must say."""

from functools import cache
from typing import ClassVar, Literal, cast

from pydantic import Field

from collector.protocols.loading import get_protocol
from collector.protocols.parameters import AtMost, SplitsTable, Table, Words, WorkersTable
from collector.protocols.parameters import Parameters as EveryProtocol
from collector.protocols.stage_tables import DialogTable, TextTable, ValidationTable

# Raised with protocol.toml's own when a key is renamed; then `upgrade` reads older collections.
VERSION = 1


class SeedsTable(Table):
    """Which sections can be talked about (QuAC 2.2)."""

    category_keywords: list[Words]
    """Words in the categories of the articles to talk about."""
    min_incoming_links: int = Field(ge=0)
    """An article that fewer articles link to is left out."""
    # What has a value here was not asked before: a collection made then goes on as it was.
    category_levels: int = Field(default=0, ge=0, le=9)
    """How many levels below such a category count too."""
    persons_by: Literal["categories", "infoboxes", "either", "titles", "anything"]
    """How articles about people are told from others."""
    person_categories: list[Words]
    """Categories of people end in one of these words."""
    person_infoboxes: list[Words] = []
    """Infoboxes of people end in one of these words."""
    person_titles: list[Words]
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
    AT_MOST = (
        AtMost("min_paragraphs", "max_paragraphs"),
        AtMost("min_tokens", "max_tokens"),
        AtMost("min_words_per_sentence", "max_words_per_sentence"),
    )


class ChecksTable(Table):
    """What a student is told of a question that they have asked."""

    reader_confidence: float = Field(0, ge=0, le=1)
    """So sure a reader is that answers from the article's beginning; 0 for none."""


class AgreementTable(Table):
    """Which questions are scored (QuAC 4.1)."""

    min_human_f1: float = Field(ge=0, le=1)
    """Questions on which people agree less are not scored."""


class ReportTable(Table):
    """How the report draws and counts (QuAC 3)."""

    chunks: int = Field(ge=1, le=1000)
    """How many parts a section is cut into to tell where answers lie."""
    hand_labels: int = Field(ge=1)
    """How many questions are drawn to be labelled by hand."""


class Parameters(EveryProtocol):
    """Everything protocol.toml says."""

    ENGLISH_ALONE: ClassVar[str] = (
        "the reader that looks on while questions are asked, the report's openings of questions"
    )
    BY_BLANKS: ClassVar[str] = (
        "Scores and agreement take an answer without blanks for one word, and sections are "
        "chosen by words between blanks."
    )

    seeds: SeedsTable
    workers: WorkersTable
    student_qualification: TextTable
    teacher_qualification: ValidationTable
    dialog: DialogTable
    validation: ValidationTable
    # Collections of before have no reader that looks on.
    checks: ChecksTable = ChecksTable()
    agreement: AgreementTable
    splits: SplitsTable
    report: ReportTable
    # An examination is what one writer made of one HIT.
    AT_MOST = (
        AtMost("teacher_qualification.items_per_hit", "student_qualification.items_per_hit"),
    )

    def reader_looks_on(self) -> bool:
        """Return whether a reader answers what a student asks, to tell them of it."""
        return self.checks.reader_confidence > 0


@cache
def defaults() -> Parameters:
    """Return what protocol.toml says, for what is scored without a collection."""
    return cast(Parameters, get_protocol("quac").parameters())
