"""The typed parameters of the protocol: what protocol.toml may and must say."""

from typing import ClassVar, Literal

from pydantic import Field

from annotation.protocols.contracts import DifficultyTable as EveryDifficulty
from annotation.protocols.hotpotqa.file_format import SPLITS
from collector.protocols.parameters import AtMost, CuratedTable, StageTable, Table, WeightsTable
from collector.protocols.parameters import Parameters as EveryProtocol
from collector.protocols.stage_tables import PairChecks, PairTable

# Raised with protocol.toml's own when a key is renamed; then `upgrade` reads older collections.
VERSION = 1


class SeedsTable(CuratedTable):
    """Which pairs of paragraphs are drawn (HotpotQA 2, Algorithm 1)."""

    bridge_ratio: float = Field(ge=0, le=1)
    """Share of pairs that one links to the other; the rest is compared."""
    yes_no_ratio: float = Field(ge=0, le=1)
    """Share of comparisons that ask for yes or no."""


class HumanPerformanceTable(StageTable):
    """How many questions of dev and test new workers answer once more (HotpotQA 5.3)."""

    sample_questions: int = Field(ge=1)
    """How many questions of dev and test new people answer once more."""


class ChecksTable(PairChecks):
    """Limits of what one question or answer may hold."""

    question_mark: bool
    """Whether a question must end in a question mark."""
    # Collections of before have no reader that looks on.
    reader_confidence: float = Field(0, ge=0, le=1)
    """So sure a reader is that answers from one of the two paragraphs alone; 0 for none."""


class DifficultyTable(EveryDifficulty):
    """Who is sampled for single-hop questions, and what the readers of the protocol call medium."""

    reader: Literal["light", "neural"] = "light"
    """Which reader is trained: light, or one of the protocol's own."""


class SplitsTable(WeightsTable):
    """Weights of the splits that hard examples are dealt to (HotpotQA 3, T1)."""

    train_hard: int = Field(ge=0)
    """Weight of train-hard among the hard questions."""
    dev: int = Field(ge=0)
    """Weight of dev among the hard questions."""
    test_distractor: int = Field(ge=0)
    """Weight of the test set with distractors."""
    test_fullwiki: int = Field(ge=0)
    """Weight of the test set over the whole corpus."""


class ContextsTable(Table):
    """How many paragraphs a system reads, and how they are found (HotpotQA 3, 5.2, C)."""

    distractors: int = Field(ge=0)
    """Paragraphs that are mixed with the two right ones."""
    candidates: int = Field(ge=1)
    """How many paragraphs the first search keeps."""
    full_wiki: int = Field(ge=1)
    """How many paragraphs a system reads in the full-wiki setting."""
    compared_questions: int = Field(ge=0)
    """How many questions compare the two sets of found paragraphs."""
    AT_MOST = (AtMost("distractors", "candidates"), AtMost("full_wiki", "candidates"))


class ReportTable(Table):
    """What the report draws (HotpotQA 4)."""

    hand_labels: int = Field(ge=1)
    """How many questions are drawn to be labelled by hand."""


class Parameters(EveryProtocol):
    """Everything protocol.toml says."""

    ENGLISH_ALONE: ClassVar[str] = (
        "advice on questions, the reader that judges how hard they are, the report's types of "
        "questions"
    )
    BY_BLANKS: ClassVar[str] = "Scores take an answer without blanks for one word."

    seeds: SeedsTable
    question: PairTable
    human_performance: HumanPerformanceTable
    checks: ChecksTable
    difficulty: DifficultyTable
    splits: SplitsTable
    contexts: ContextsTable
    report: ReportTable
    SPLITS = SPLITS
