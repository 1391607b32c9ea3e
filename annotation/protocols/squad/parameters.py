"""The typed parameters of the protocol: what protocol.toml may and must say."""

from pydantic import Field

from collector.protocols.parameters import AtMost, SplitsTable, Table
from collector.protocols.parameters import Parameters as EveryProtocol
from collector.protocols.stage_tables import SpanAnswerTable, SpanChecks, SpanQuestionTable

# Raised with protocol.toml's own when a key is renamed; then `upgrade` reads older collections.
VERSION = 1


class SeedsTable(Table):
    """Which paragraphs can be asked about."""

    min_characters: int = Field(ge=0)
    """Shorter paragraphs are left out."""
    max_characters: int = Field(ge=1)
    """Longer paragraphs are left out."""
    max_per_article: int = Field(ge=1)
    """The most paragraphs of one article that are asked about."""
    AT_MOST = (AtMost("min_characters", "max_characters"),)


class ChecksTable(SpanChecks):
    """Limits of what one question or answer may hold, and where advice begins."""

    long_answer_words: int = Field(ge=1)
    """From here on workers are advised to mark a shorter answer."""
    copied_words: int = Field(ge=2)
    """From this number of words of the passage in a row, workers are advised to use their own."""


class AgreementTable(Table):
    """When a question that several people answered counts."""

    min_agreeing: int = Field(ge=1)
    """How many of all who answer, the writer included, must say the same as the writer."""
    max_bad: int = Field(ge=0)
    """A question that more people call bad is dropped."""


class Parameters(EveryProtocol):
    """Everything protocol.toml says."""

    seeds: SeedsTable
    question: SpanQuestionTable
    answer: SpanAnswerTable
    checks: ChecksTable
    agreement: AgreementTable
    splits: SplitsTable

    def cautions(self) -> list[str]:
        """Return a sentence where what is scored against has one answer alone."""
        few = [fold for fold in ("dev", "test") if self.answer.redundancy.of(fold) == 0]
        if not few:
            return []
        return [
            f"Nobody answers the questions of {' and '.join(few)} again: nothing tells whether "
            "they can be answered, and a system is scored against the writer's answer alone."
        ]
