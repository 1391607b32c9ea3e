"""The typed parameters of the protocol: what protocol.toml may and must say."""

from pydantic import Field

from collector.protocols.parameters import Parameters as EveryProtocol
from collector.protocols.parameters import SplitsTable, Table
from collector.protocols.stage_tables import LabelTable, TextTable

VERSION = 1


class SeedsTable(Table):
    """Which paragraphs can be seeds."""

    min_characters: int = Field(ge=0)
    """Shorter paragraphs are left out."""


class ChecksTable(Table):
    """What a headline may be."""

    max_words: int = Field(ge=1)
    """A longer headline is refused."""


class AgreementTable(Table):
    """When a label counts."""

    min_agreeing: int = Field(ge=1)
    """How many people must give the same label."""


class Parameters(EveryProtocol):
    """Everything protocol.toml says."""

    seeds: SeedsTable
    text: TextTable
    label: LabelTable
    checks: ChecksTable
    agreement: AgreementTable
    splits: SplitsTable
