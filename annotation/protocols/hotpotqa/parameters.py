"""The typed parameters of the protocol: what protocol.toml may and must say."""

from typing import Self

from pydantic import Field, model_validator

from annotation.splits.difficulty.parameters import DifficultyTable
from collector.protocols.parameters import BonusesTable, CuratedTable, StageTable, Table
from collector.protocols.parameters import Parameters as EveryProtocol

# Raised with protocol.toml's own when a key is renamed; then `upgrade` reads older collections.
VERSION = 1


class SeedsTable(CuratedTable):
    """Which pairs of paragraphs are drawn (HotpotQA 2, Algorithm 1)."""

    bridge_ratio: float = Field(ge=0, le=1)
    """Share of pairs that one links to the other; the rest is compared."""
    yes_no_ratio: float = Field(ge=0, le=1)
    """Share of comparisons that ask for yes or no."""


class PairTable(StageTable):
    """A stage whose workers write a question about each pair, or skip it (HotpotQA 2)."""

    max_skips: int = Field(ge=0)
    """How many pairs of a HIT may be skipped."""
    max_skips_per_pair: int = Field(ge=1)
    """A pair that so many people skipped is dropped."""
    bonuses: BonusesTable
    """What is paid besides the reward."""

    @model_validator(mode="after")
    def _something_is_written(self) -> Self:
        if self.max_skips >= self.items_per_hit:
            raise ValueError("max_skips must leave at least one pair of a HIT to write about")
        return self

    @model_validator(mode="after")
    def _one_writer_each(self) -> Self:
        if set(self.redundancy.model_dump().values()) != {1}:
            raise ValueError("redundancy must be 1 in every fold: a pair has one writer")
        return self


class HumanPerformanceTable(StageTable):
    """How many questions of dev and test new workers answer once more (HotpotQA 5.3)."""

    sample_questions: int = Field(ge=1)
    """How many questions of dev and test new people answer once more."""


class ChecksTable(Table):
    """Limits of what one question or answer may hold."""

    min_question_words: int = Field(ge=1)
    """A shorter question is refused."""
    max_question_characters: int = Field(ge=1)
    """A longer question is refused."""
    max_answer_words: int = Field(ge=1)
    """A longer answer is refused."""
    max_reason_characters: int = Field(ge=1)
    """The longest reason for skipping a pair."""
    question_mark: bool
    """Whether a question must end in a question mark."""


class SplitsTable(Table):
    """Weights of the splits that hard examples are dealt to (HotpotQA 3, T1)."""

    train_hard: int = Field(ge=0)
    """Weight of train-hard among the hard questions."""
    dev: int = Field(ge=0)
    """Weight of dev among the hard questions."""
    test_distractor: int = Field(ge=0)
    """Weight of the test set with distractors."""
    test_fullwiki: int = Field(ge=0)
    """Weight of the test set over the whole corpus."""

    @model_validator(mode="after")
    def _one_is_filled(self) -> Self:
        if not any((self.train_hard, self.dev, self.test_distractor, self.test_fullwiki)):
            raise ValueError("the weights must not all be 0")
        return self


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


class ReportTable(Table):
    """What the report draws (HotpotQA 4)."""

    hand_labels: int = Field(ge=1)
    """How many questions are drawn to be labelled by hand."""


class Parameters(EveryProtocol):
    """Everything protocol.toml says."""

    seeds: SeedsTable
    question: PairTable
    human_performance: HumanPerformanceTable
    checks: ChecksTable
    difficulty: DifficultyTable
    splits: SplitsTable
    contexts: ContextsTable
    report: ReportTable
