"""The typed parameters of the protocol: what protocol.toml may and must say."""

from functools import cache
from typing import ClassVar, cast

from pydantic import Field

from collector.protocols.loading import get_protocol
from collector.protocols.parameters import AtMost, SplitsTable, StageTable, Table
from collector.protocols.parameters import Parameters as EveryProtocol
from collector.protocols.stage_tables import QuestionTable, WritingChecks

# Raised with protocol.toml's own when a key is renamed; then `upgrade` reads older collections.
VERSION = 1


class SeedsTable(Table):
    """Which paragraphs can be seeds (IIRC 2.1)."""

    min_links: int = Field(ge=1)
    """Links to other articles that a paragraph must have."""
    min_links_in_corpus: int = Field(ge=0)
    """Links that lead to an article of the corpus, so that it can be opened."""
    min_characters: int = Field(ge=0)
    """Shorter paragraphs are left out."""
    max_characters: int = Field(ge=1)
    """Longer paragraphs are left out."""
    AT_MOST = (AtMost("min_characters", "max_characters"),)


class HumanPerformanceTable(StageTable):
    """How many test questions new annotators answer once more (IIRC 4.2)."""

    sample_questions: int = Field(ge=1)
    """How many test questions new people answer once more."""


class ChecksTable(WritingChecks):
    """Limits of what one question or answer may hold."""

    max_answer_spans: int = Field(ge=1)
    """The most passages one answer may have."""
    max_evidence_spans: int = Field(ge=1)
    """The most passages one piece of evidence may have."""
    # From here on it is advised to mark less; collections of before advise the same.
    long_answer_words: int = Field(20, ge=1)
    """From here on workers are advised to mark a shorter answer."""
    long_evidence_words: int = Field(80, ge=1)
    """From here on workers are advised to mark less evidence."""
    # Collections of before have no reader that looks on.
    reader_confidence: float = Field(0, ge=0, le=1)
    """So sure a reader is that answers from the paragraph without its links; 0 for none."""


class AgreementTable(Table):
    """When an answer counts (IIRC 2.3)."""

    min_agreeing: int = Field(ge=1)
    """How many people must give the same answer in dev and test."""
    max_bad: int = Field(ge=0)
    """A question that more people call bad is dropped."""


class ReportTable(Table):
    """What the report draws and counts (IIRC 2.4)."""

    hand_labels: int = Field(ge=1)
    """How many questions are drawn to be labelled by hand."""
    most_links: int = Field(ge=1, le=100)
    """Questions that need this many links or more stand in one row."""


class CombinedTable(Table):
    """What of other datasets stands beside a release (IIRC 5)."""

    others_percent: int = Field(20, ge=0, lt=100)
    """How many of all questions are of SQuAD and DROP, in per cent."""
    squad_parts: int = Field(3, ge=1)
    """Parts of SQuAD's questions, beside `drop_parts` of DROP's."""
    drop_parts: int = Field(1, ge=1)
    """Parts of DROP's questions, beside `squad_parts` of SQuAD's."""
    min_link_probability: float = Field(0.2, ge=0, le=1)
    """A name in their texts is a link if at least this share of its places in the corpus are."""


class Parameters(EveryProtocol):
    """Everything protocol.toml says."""

    ENGLISH_ALONE: ClassVar[str] = (
        "advice on what a question lacks, units of numbers, the report's question words"
    )
    BY_BLANKS: ClassVar[str] = "Scores and agreement take an answer without blanks for one word."

    seeds: SeedsTable
    question_qualification: QuestionTable
    question: QuestionTable
    answer_qualification: StageTable
    answer: StageTable
    human_performance: HumanPerformanceTable
    checks: ChecksTable
    agreement: AgreementTable
    splits: SplitsTable
    report: ReportTable
    # Collections of before have none.
    combined: CombinedTable = CombinedTable()
    AT_MOST = (
        # An examination is what one writer made of one HIT.
        AtMost("answer_qualification.items_per_hit", "question_qualification.questions_per_hit"),
        *(
            AtMost(
                f"{stage}.multi_link_min_links",
                "seeds.min_links",
                unless_zero=f"{stage}.multi_link_questions",
            )
            for stage in ("question_qualification", "question")
        ),
    )

    def cautions(self) -> list[str]:
        """Return a sentence where seeds may hold too few links that lead anywhere."""
        found, needed = self.seeds.min_links_in_corpus, self.question.multi_link_min_links
        if found >= needed:
            return []
        few = {0: "no link to an article", 1: "only one link to an article"}
        links = few.get(found, f"only {found} links to articles")
        return [
            f"A seed may have {links} of the corpus, and a question may need {needed}: links that "
            "lead nowhere leave questions without an answer. "
            f"Set min links in corpus to {needed} or more."
        ]


@cache
def defaults() -> Parameters:
    """Return what protocol.toml says, for what is scored without a collection."""
    return cast(Parameters, get_protocol("iirc").parameters())
