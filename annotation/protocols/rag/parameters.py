"""The typed parameters of the protocol: what protocol.toml may and must say."""

from pydantic import Field

from collector.protocols.parameters import Parameters as EveryProtocol
from collector.protocols.parameters import SplitsTable, StageTable, Table
from collector.protocols.stage_tables import (
    EvidenceChecks,
    EvidenceQuestionTable,
    SearchAnswerTable,
)
from collector.seeds.passage_drawing import PassageSetsTable

# Raised with protocol.toml's own when a key is renamed; then `upgrade` reads older collections.
VERSION = 1


class ChecksTable(EvidenceChecks):
    """Limits of what one question or answer may hold, and where advice begins."""

    copied_words: int = Field(ge=2)
    """From this number of words of a passage in a row, writers are advised to use their own."""
    long_short_words: int = Field(ge=1)
    """From here on workers are advised to shorten the short answer."""


class AgreementTable(Table):
    """When a question that several people answered counts."""

    min_agreeing: int = Field(ge=1)
    """How many of all who answer, the writer included where one does, must say the same."""
    min_f1: float = Field(gt=0, le=1)
    """Short answers agree when they share words to this F1."""
    max_bad: int = Field(ge=0)
    """A question that more people call bad is dropped."""


class Parameters(EveryProtocol):
    """Everything protocol.toml says."""

    seeds: PassageSetsTable
    natural: StageTable
    question: EvidenceQuestionTable
    find: SearchAnswerTable
    reading: SearchAnswerTable
    checks: ChecksTable
    agreement: AgreementTable
    splits: SplitsTable

    def cautions(self) -> list[str]:
        """Return a sentence where nobody can agree about what people ask of themselves."""
        few = [fold for fold, people in self.find.redundancy.by_fold().items() if people < 2]
        if not few:
            return []
        return [
            f"One person alone answers the natural questions of {' and '.join(few)}: nobody else "
            "says whether the answer is right."
        ]
