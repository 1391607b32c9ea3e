"""What a protocol's folder offers to decide what counts, to release it, to report and to score."""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol, TypeVar

from pydantic import Field

from annotation.agreement.decision import Decision
from annotation.metrics.result import Option, Result
from annotation.models import Context
from annotation.records.parquet_tables import Column
from annotation.records.schema import (
    ArticleRecord,
    Published,
    QuestionRecord,
    SeedRecord,
    VoteRecord,
    answering,
)
from annotation.tables.table import Table
from collector.models import Corpus
from collector.protocols.loading import P, Part, WithholdsAnswers
from collector.protocols.parameters import AtMost, Parameters
from collector.protocols.parameters import Table as ParameterTable
from collector.retrieval.index import Index
from readers.trained import Trained
from tasks.models import Question

# What a protocol makes of one answer to decide by.
V = TypeVar("V")
# A file's name with its bytes in pieces.
File = tuple[str, Iterator[bytes]]


class ValidationPart(Protocol[V, P]):
    """validation.py: when an answer counts; pure."""

    def vote(self, type: str, payload: Mapping[str, object]) -> V:
        """Return what an answer's type and payload say, to be compared with others."""

    def verdict(self, votes: Sequence[V], parameters: P, fold: str) -> Decision:
        """Return whether a question is kept, which vote is released, and why.

        votes: one per annotator, in the order in which they were given. fold: of its seed.
        """


class ExportPart(Protocol):
    """export.py: the official layout, written and read back; pure."""

    @property
    def SPLITS(self) -> Sequence[str]:
        """Return the splits that files are written of, in order."""

    def files(
        self,
        seeds_by_split: Mapping[str, Iterable[SeedRecord]],
        articles: Iterable[ArticleRecord] | None,
    ) -> Iterator[File]:
        """Yield each official file's name with its bytes in pieces, to be consumed in this order.

        Raises ValueError for what the layout cannot hold.
        """

    def published(self, files: Mapping[str, bytes]) -> Published:
        """Return official files as records; raises ValueError naming the file and the place."""


class TakesWholeCorpus(Protocol):
    """export.py of a protocol that releases all passages of the corpus, asked about or not."""

    @property
    def WHOLE_CORPUS(self) -> bool:
        """Return True: `articles` are then all documents of the corpus with their passages."""


class DescribesFiles(Protocol):
    """export.py of a protocol whose files are not all questions in its official layout."""

    @property
    def FILES_HOLD(self) -> Mapping[str, str]:
        """Return what files hold, by their name, in which `*` stands for anything."""


class IdentifiesSeeds(Protocol):
    """export.py of a protocol whose released ids are not the keys that seeds have already."""

    def identified(self, seeds: Iterable[SeedRecord]) -> Iterator[SeedRecord]:
        """Yield the seeds with the ids they are released under, set from their content alone."""


class WithholdsGold(WithholdsAnswers, Protocol):
    """export.py of a protocol that publishes some splits without answers."""

    def gold(self, seeds_by_split: Mapping[str, Iterable[SeedRecord]]) -> Iterator[File]:
        """Yield the files of the splits whose answers are not published, answers included."""


class CountsAnswers(Protocol):
    """export.py of a protocol in which other answers count than those that agree."""

    def answering(self, question: QuestionRecord) -> list[VoteRecord]:
        """Return the answers of a question that count, the released one first, none without one."""


class AddsColumns(Protocol):
    """export.py of a protocol whose questions have columns of their own in the Parquet files."""

    @property
    def QUESTION_COLUMNS(self) -> Mapping[str, Column]:
        """Return them by name; one that all protocols have may be told of anew."""

    def question_columns(self, seed: SeedRecord, question: QuestionRecord) -> Mapping[str, object]:
        """Return what a question's row holds in these columns, and in others that it knows better.

        Of a question whose answer is withheld, seed and question tell what is published of it.
        """


class ExportModule(
    ExportPart,
    IdentifiesSeeds,
    WithholdsGold,
    TakesWholeCorpus,
    DescribesFiles,
    CountsAnswers,
    AddsColumns,
    Protocol,
):
    """All that is called of export.py."""


class ReportPart(Protocol[P]):
    """report.py: the paper's own tables."""

    def tables(self, seeds: Iterable[SeedRecord], parameters: P) -> list[Table]:
        """Return the tables of what was collected; goes through the seeds once."""


class ReportsPredictions(Protocol[P]):
    """report.py of a protocol whose paper has tables of how systems do."""

    def predicted(
        self, seeds: Iterable[SeedRecord], parameters: P, predictions: Path
    ) -> list[Table]:
        """Return the tables of how predictions in the official layout do; raises ScoreError."""


class ReportsLabels(Protocol[P]):
    """report.py of a protocol whose paper labelled a sample by hand."""

    def sample(
        self, seeds: Iterable[SeedRecord], parameters: P, rng: random.Random
    ) -> list[dict[str, str]]:
        """Return rows drawn to be labelled by hand, the columns of labels empty."""

    def labelled(self, rows: Iterable[Mapping[str, str]], parameters: P) -> list[Table]:
        """Return the tables of rows that were labelled; raises ScoreError naming the row."""


class ReportsBesidePaper(Protocol):
    """report.py of a protocol whose paper tells how often each label is."""

    def beside_paper(self, table: Table) -> Table:
        """Return a table of labels that a stage has brought with the paper's figures beside."""


class ReportModule(
    ReportPart[P], ReportsPredictions[P], ReportsLabels[P], ReportsBesidePaper, Protocol[P]
):
    """All that is called of report.py."""


class ContextsPart(Protocol[P]):
    """contexts.py: what systems read beside a question, in each setting."""

    def wanted(self, splits: Mapping[str, str], parameters: P) -> Mapping[str, Sequence[str]]:
        """Return the settings of each question by its key, from the split of each key."""

    def context(
        self, index: Index, setting: str, question: Question, parameters: P, rng: random.Random
    ) -> Context:
        """Return the question's context in a setting, not saved."""


@dataclass(frozen=True)
class Ranks:
    """How rankers do, as tables; and how many lines of each training file were written."""

    tables: list[Table]
    written: dict[str, int]


class RankersPart(Protocol[P]):
    """rankers.py: what is retrieved of a corpus for the questions that are asked of it."""

    @property
    def FILES(self) -> Mapping[str, str]:
        """Return what each file holds that is written, by its name."""

    def rank(
        self,
        corpus: Corpus,
        parameters: P,
        rankings: Mapping[str, Path],
        folder: Path | None,
        seed: int,
        report: Callable[[int, int], object],
        labels: Path | None,
    ) -> Ranks:
        """Return the paper's tables of rankers; write what they are trained with into a new folder.

        rankings: outside rankers' files by name. report: is told what is done, and of how much.
        labels: a CSV of the questions' labels, to break the table down by. Raises ScoreError
        naming the file.
        """


@dataclass(frozen=True)
class Combined:
    """What stands beside a release's own questions, as tables; and each file's questions."""

    tables: list[Table]
    written: dict[str, int]


class CombinedPart(Protocol[P]):
    """combined.py: a release beside other datasets' questions, which need no more than their text.

    What a release withholds is not read.
    """

    @property
    def SOURCES(self) -> Mapping[str, str]:
        """Return what file of each other dataset is given, by the dataset's name in lower case."""

    def combine(
        self,
        corpus: Corpus,
        parameters: P,
        release: Path,
        sources: Mapping[str, Path],
        folder: Path,
        seed: int,
        report: Callable[[str], object],
    ) -> Combined:
        """Write official files with other datasets' questions among them into a new folder.

        corpus: by whose names links are found in their texts. release: a release's folder. sources:
        a file of each of SOURCES. report: is told what is being read. Raises ScoreError naming the
        file.
        """


class TakesOptions(Protocol):
    """scoring.py or baselines.py that takes more than its files."""

    @property
    def OPTIONS(self) -> Mapping[str, Option]:
        """Return what the command `score` takes besides, by the option's name."""


class ScoringPart(Protocol):
    """scoring.py: the official metrics, without a database."""

    def score(self, predictions: Path, gold: Path, options: Mapping[str, object]) -> Result:
        """Return the official scores; raises ScoreError naming the file."""


class ChecksGold(Protocol):
    """scoring.py of a protocol whose gold can be looked at before there are any predictions."""

    def check_gold(self, gold: Path) -> None:
        """Raise ScoreError, naming the file, unless predictions can be scored against it."""


class ScoringModule(ScoringPart, TakesOptions, ChecksGold, Protocol):
    """All that is called of scoring.py."""


class BaselinesPart(Protocol):
    """baselines.py: the paper's baselines that need nothing more than is installed."""

    @property
    def BASELINES(self) -> Sequence[str]:
        """Return their names."""

    def run(
        self, name: str, predictions: Path, gold: Path, options: Mapping[str, object]
    ) -> Result:
        """Write a baseline's predictions as a new file, and return its scores."""

    def run_all(self, folder: Path, gold: Path, options: Mapping[str, object]) -> Result:
        """Write every baseline's predictions into a new folder, and return one table."""


class TrainedBaselines(Protocol):
    """baselines.py of a protocol with baselines that are trained."""

    @property
    def TRAINED(self) -> Mapping[str, Trained]:
        """Return them by name."""


class NamesMissing(Protocol):
    """baselines.py of a protocol that says which rows of the paper's tables it does not fill."""

    @property
    def MISSING(self) -> Mapping[str, str]:
        """Return a sentence on the rows that no baseline fills, by the paper's table."""


class TrainedModule(TrainedBaselines, NamesMissing, Protocol):
    """All that is called of baselines.py where something is trained."""


class DifficultyTable(ParameterTable):
    """Who is sampled for single-hop questions, and what cross-validation calls medium."""

    sampled_share: float = Field(gt=0, le=1)
    """The workers who wrote this share of all questions are sampled."""
    min_sample: int = Field(ge=1)
    """The fewest questions to read of one sampled worker."""
    max_sample: int = Field(ge=1)
    """The most questions to read of one sampled worker."""
    single_hop_share: float = Field(gt=0, le=1)
    """From this share of single-hop questions on, all of a worker's go to train-easy."""
    folds: int = Field(ge=2, le=20)
    """How many parts the readers are trained and tested on in turn."""
    medium_share: float = Field(ge=0, le=1)
    """The largest share of the rest that can be train-medium."""
    reader: str = "light"
    """Which reader is trained: light, or one of the protocol's own."""
    CHANGEABLE: ClassVar[frozenset[str]] = frozenset({"single_hop_share", "reader"})
    AT_MOST = (AtMost("min_sample", "max_sample"),)


class JudgesDifficulty(Protocol):
    """baselines.py of a protocol whose difficulty readers of its own can judge."""

    @property
    def READERS(self) -> Mapping[str, str]:
        """Return MODULE:CLASS of each by name; they are trained with what TRAINED needs."""


class BaselinesModule(BaselinesPart, TakesOptions, Protocol):
    """All that is called of baselines.py."""


VALIDATION = Part[ValidationPart[object, Parameters]]("validation", ValidationPart)
EXPORT = Part[ExportModule](
    "export",
    ExportModule,
    ExportPart,
    defaults={
        "WITHHELD": {},
        "WHOLE_CORPUS": False,
        "FILES_HOLD": {},
        # Their keys come from content already.
        "identified": lambda seeds: iter(seeds),
        "answering": answering,
        "QUESTION_COLUMNS": {},
        "question_columns": lambda seed, question: {},
    },
)
REPORT = Part[ReportModule[Parameters]](
    "report", ReportModule, ReportPart, defaults={"beside_paper": lambda table: table}
)
CONTEXTS = Part[ContextsPart[Parameters]]("contexts", ContextsPart)
RANKERS = Part[RankersPart[Parameters]]("rankers", RankersPart)
SCORING = Part[ScoringModule](
    "scoring", ScoringModule, ScoringPart, defaults={"OPTIONS": {}, "check_gold": lambda gold: None}
)
COMBINED = Part[CombinedPart[Parameters]]("combined", CombinedPart)
BASELINES = Part[BaselinesModule](
    "baselines", BaselinesModule, BaselinesPart, defaults={"OPTIONS": {}}
)
TRAINED = Part[TrainedModule](
    "baselines", TrainedModule, TrainedBaselines, defaults={"MISSING": {}}
)
READERS = Part[JudgesDifficulty]("baselines", JudgesDifficulty)
