"""The typed parameters of the protocol: what protocol.toml may and must say."""

from functools import cache
from typing import cast

from pydantic import Field

from collector.parameters import Parameters as EveryProtocol
from collector.parameters import SplitsTable, StageTable, Table
from collector.protocol import find

# Raised with protocol.toml's own when a key is renamed; then `upgrade` reads older collections.
VERSION = 1


class SeedsTable(Table):
    """Which paragraphs can be seeds (IIRC 2.1)."""

    min_links: int = Field(ge=1)
    min_links_in_corpus: int = Field(ge=0)
    min_characters: int = Field(ge=0)
    max_characters: int = Field(ge=1)


class QuestionTable(StageTable):
    """A question HIT (IIRC 2.2)."""

    questions_per_hit: int = Field(ge=1)
    multi_link_questions: int = Field(ge=0)
    multi_link_min_links: int = Field(ge=2)


class HumanPerformanceTable(StageTable):
    """How many test questions new annotators answer once more (IIRC 4.2)."""

    sample_questions: int = Field(ge=1)


class ChecksTable(Table):
    """Limits of what one question or answer may hold."""

    min_question_words: int = Field(ge=1)
    max_question_characters: int = Field(ge=1)
    max_answer_spans: int = Field(ge=1)
    max_evidence_spans: int = Field(ge=1)
    max_reason_characters: int = Field(ge=1)
    # From here on it is advised to mark less; collections of before advise the same.
    long_answer_words: int = Field(20, ge=1)
    long_evidence_words: int = Field(80, ge=1)


class AgreementTable(Table):
    """When an answer counts (IIRC 2.3)."""

    min_agreeing: int = Field(ge=1)
    max_bad: int = Field(ge=0)


class ReportTable(Table):
    """What the report draws and counts (IIRC 2.4)."""

    hand_labels: int = Field(ge=1)
    most_links: int = Field(ge=1)


class Parameters(EveryProtocol):
    """Everything protocol.toml says."""

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

    def cautions(self) -> list[str]:
        """Return a sentence where seeds may hold too few links that lead anywhere."""
        found, needed = self.seeds.min_links_in_corpus, self.question.multi_link_min_links
        if found >= needed:
            return []
        return [
            f"A seed may have only {found} link{'' if found == 1 else 's'} to articles of the "
            f"corpus, and a question may need {needed}: links that lead nowhere leave questions "
            f"without an answer. Ask for {needed} or more (seeds.min_links_in_corpus)."
        ]


@cache
def defaults() -> Parameters:
    """Return what protocol.toml says, for what is scored without a collection."""
    return cast(Parameters, find("iirc").parameters())
