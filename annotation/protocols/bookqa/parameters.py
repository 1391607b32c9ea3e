"""The typed parameters of the protocol: what protocol.toml may and must say."""

from collections.abc import Iterator
from functools import cache
from typing import Annotated, ClassVar, cast

from pydantic import Field

from collector.protocols.loading import get_protocol
from collector.protocols.parameters import AtMost, SplitsTable, Table
from collector.protocols.parameters import Parameters as EveryProtocol
from collector.protocols.stage_tables import LabelTable, TextTable

# Raised with protocol.toml's own when a key is renamed; then `upgrade` reads older collections.
VERSION = 1


class SeedsTable(Table):
    """Which summaries are asked about."""

    min_summary_words: int = Field(ge=1)
    """Books with a shorter summary are left out."""
    max_summary_words: int = Field(ge=1)
    """Books with a longer summary are left out."""
    AT_MOST = (AtMost("min_summary_words", "max_summary_words"),)


class ChecksTable(Table):
    """What a question and its answer may be."""

    min_question_words: int = Field(ge=1)
    """A shorter question is refused."""
    max_answer_words: int = Field(ge=1)
    """A longer answer is refused."""
    max_copied_words: int = Field(ge=2)
    """This number of words of the summary in a row, or more, is refused."""
    # Collections of before have no reader that looks on.
    reader_confidence: float = Field(0, ge=0, le=1)
    """So sure a reader is that answers from one sentence of the summary; 0 for none."""


class PassagesTable(Table):
    """How books are cut (Book QA 3.1)."""

    tokens: int = Field(ge=1)
    """Tokens of a passage; `ingest_books` cuts them."""


class RankingTable(Table):
    """How passages are ranked, and what rankers are trained with (Book QA 4.2, 5.2, B)."""

    k1: float = Field(ge=0)
    """How soon more of the same word counts no more."""
    b: float = Field(ge=0, le=1)
    """How much a passage's length counts."""
    depth: int = Field(ge=1)
    """How many passages of BM25 other rankers choose from."""
    coverage_at: list[Annotated[int, Field(ge=1)]] = Field(min_length=1)
    """After how many passages coverage is measured."""
    # Collections of before have none.
    selection_at: int = Field(5, ge=1)
    """After how many passages rankers are chosen, and told apart by label."""
    sigma: float = Field(gt=0)
    """Right passages to each wrong one, of what is drawn."""
    alpha: float = Field(ge=0, le=1)
    """A right passage holds more of the answer than that, by ROUGE-L of its best span."""
    beta: float = Field(ge=0, le=1)
    """A wrong passage holds less of the answer than that."""
    cloze_min_words: int = Field(ge=1)
    """How many words besides stop words a pseudo-question has at least."""
    cloze_negatives: int = Field(ge=0)
    """How many wrong passages stand beside a pseudo-question."""
    bootstrap_subsets: int = Field(ge=1, le=10**6)
    """How many subsets of the questions a comparison draws."""
    bootstrap_size: int = Field(ge=1)
    """How many questions each such subset has at most."""
    AT_MOST = (AtMost("beta", "alpha"),)


class ReportTable(Table):
    """What the report draws, and how it tells question types (Book QA 6.2, 6.3)."""

    hand_labels: int = Field(ge=1)
    """How many questions are drawn to be labelled by hand."""
    folds: int = Field(ge=3)
    """How many folds cross-validation has: one is tested, another is for development."""
    min_items: int = Field(ge=3)
    """With fewer labelled questions nothing is learnt."""
    strengths: list[Annotated[float, Field(gt=0)]] = Field(min_length=1)
    """The strengths of the classifier to choose from on the development fold."""
    major_error: float = Field(ge=0, lt=1)
    """A wrong type is listed that makes more than this share of a type's errors."""
    seed: int = Field(ge=0)
    """The seed that folds are drawn with."""
    # Else a fold would be empty.
    AT_MOST = (AtMost("folds", "min_items"),)


class Parameters(EveryProtocol):
    """Everything protocol.toml says."""

    ENGLISH_ALONE: ClassVar[str] = "METEOR, advice on names, the reader, the report's verbs"
    BY_BLANKS: ClassVar[str] = (
        "Scores take an answer without blanks for one word, and summaries are chosen by words "
        "between blanks."
    )

    seeds: SeedsTable
    question: TextTable
    answer: TextTable
    # Collections of before have none.
    label: LabelTable | None = None
    checks: ChecksTable
    splits: SplitsTable
    passages: PassagesTable
    ranking: RankingTable
    report: ReportTable

    def misfits(self) -> Iterator[str]:
        """Yield also what is lacking of the fields that are read here by their names."""
        yield from super().misfits()
        longest = {field.name: field.max_characters for field in self.question.fields}
        if self.question.fields[0].name != "question" or "answer" not in longest:
            yield "question.fields needs a field question, the first, and a field answer"
        elif 10 * self.checks.min_question_words > longest["question"]:
            yield (
                "question.fields must give a question ten characters for each of "
                "checks.min_question_words: allow more of them or ask for fewer words"
            )
        if self.answer.fields[0].name != "answer":
            yield "answer.fields needs a field answer, the first"


@cache
def defaults() -> Parameters:
    """Return what protocol.toml says, for what is scored or trained without a collection."""
    return cast(Parameters, get_protocol("bookqa").parameters())
