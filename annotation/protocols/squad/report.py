"""The tables of a collection: its size, how far further annotators agree, how well people do."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from annotation.agreement.kappa import fleiss_kappa
from annotation.metrics.token_overlap import score_v2
from annotation.protocols.squad.export import SPLITS
from annotation.protocols.squad.validation import Vote, agree, vote
from annotation.records.schema import (
    QuestionRecord,
    SeedRecord,
    VoteRecord,
    answering,
    chosen_vote,
    is_kept,
    peoples_votes,
)
from annotation.tables.table import NO_QUESTION, Cell, Table, share, share_of_items
from collector.retrieval.terms import parted

if TYPE_CHECKING:
    from annotation.protocols.squad.parameters import Parameters

ALL = "all"
NONE = "none"


class Size:
    """What is counted of one split's kept questions."""

    def __init__(self) -> None:
        self.articles: set[str] = set()
        self.with_unanswerable: set[str] = set()
        self.passages = self.questions = self.unanswerable = self.answers = 0
        self.question_words = self.answer_words = 0

    def add(self, seed: SeedRecord, questions: list[QuestionRecord]) -> None:
        """Count one passage with its kept questions."""
        title = seed["passages"][0]["title"]
        self.articles.add(title)
        self.passages += 1
        for question in questions:
            self.questions += 1
            self.question_words += len(parted(question["text"]).split())
            released = chosen_vote(question)
            if released is not None and released["type"] == NONE:
                self.unanswerable += 1
                self.with_unanswerable.add(title)
            for given in answering(question) if released else ():
                for text in _texts(given):
                    self.answers += 1
                    self.answer_words += len(parted(text).split())

    def column(self) -> list[Cell]:
        """Return the figures, in the order of MEASURES."""
        answered = self.questions - self.unanswerable
        return [
            self.questions,
            self.unanswerable,
            len(self.articles),
            len(self.with_unanswerable),
            self.passages,
            share(self.questions, self.passages),
            share(self.answers, answered),
            share(self.question_words, self.questions),
            share(self.answer_words, self.answers),
        ]


MEASURES = (
    "questions",
    "of them not answered by their passage",
    "articles",
    "of them with such questions",
    "passages",
    "questions per passage",
    "answers per answered question",
    "words per question",
    "words per answer",
)


class Agreement:
    """What further annotators say of one split's questions, beside their writers."""

    def __init__(self) -> None:
        self.questions = 0
        # Of each question: how many of its further annotators do so, and how many there are.
        self.same: Counter[tuple[int, int]] = Counter()
        self.taken_in: Counter[tuple[int, int]] = Counter()
        self.answerable: list[list[int]] = []
        self.scores: list[tuple[float, float]] = []

    def add(self, question: QuestionRecord, votes: list[VoteRecord]) -> None:
        """Count one question with its writer's answer and those of others, in that order."""
        said = [vote(one["type"], one["payload"]) for one in votes]
        self.questions += 1
        self.same[sum(agree(said[0], other) for other in said[1:]), len(said) - 1] += 1
        kinds = Counter(one.type for one in said)
        self.answerable.append([kinds["span"], kinds[NONE], kinds["bad"]])
        for span in votes[0]["payload"].get("plausible") or ():
            looks_like = Vote("span", span["start"], span["end"])
            taken_in = sum(agree(looks_like, other) for other in said[1:])
            self.taken_in[taken_in, len(said) - 1] += 1
        others = [one for one in answering(question) if one is not votes[1]]
        if is_kept(question) and others and votes[1]["type"] != "bad":
            references = [parted(text) for one in others for text in _texts(one)]
            self.scores.append(score_v2(parted(" ".join(_texts(votes[1]))), references))

    def row(self) -> list[Cell]:
        """Return the figures of agreement."""
        return [
            self.questions,
            share_of_items(self.same),
            fleiss_kappa.or_none(self.answerable),
            share_of_items(self.taken_in),
        ]

    def human(self) -> list[Cell]:
        """Return how one person does against the others."""
        sums = [sum(score[place] for score in self.scores) for place in (0, 1)]
        return [len(self.scores), *(share(each, len(self.scores)) for each in sums)]


def tables(seeds: Iterable[SeedRecord], parameters: "Parameters") -> list[Table]:
    """Return the tables; goes through the seeds once."""
    sizes = {split: Size() for split in (ALL, *SPLITS)}
    agreement: dict[str, Agreement] = defaultdict(Agreement)
    for seed in seeds:
        kept = [question for question in seed["questions"] if is_kept(question)]
        for split in (ALL, seed["fold"]):
            if kept and split in sizes:
                sizes[split].add(seed, kept)
        for question in seed["questions"]:
            votes = _of_people(question)
            # The writer's own answer and another one at least.
            if len(votes) > 1:
                agreement[seed["fold"]].add(question, votes)
    return [_size(sizes), _agreement(agreement), _human(agreement)]


def _of_people(question: QuestionRecord) -> list[VoteRecord]:
    """Return people's answers, the writer's first; none where the writer's is not among them."""
    votes = [one for one in peoples_votes(question) if one["worker"] is not None]
    is_first = votes and votes[0]["worker"] == question["worker"]
    return votes if is_first else []


def _size(sizes: dict[str, Size]) -> Table:
    columns = {split: size.column() for split, size in sizes.items()}
    rows: list[list[Cell]] = [
        [name, *(column[place] for column in columns.values())]
        for place, name in enumerate(MEASURES)
    ]
    note = "" if sizes[ALL].questions else NO_QUESTION
    return Table("size", "Size", ["measure", *sizes], rows, note)


def _agreement(agreement: dict[str, Agreement]) -> Table:
    columns = ["split", "questions", "same as the writer share", "kappa", "taken in share"]
    rows: list[list[Cell]] = [[split, *found.row()] for split, found in _in_order(agreement)]
    note = (
        "Of all further annotators, how many found no answer where the writer says that there is "
        "none, or marked words that overlap the writer's. Kappa: Fleiss', on whether there is an "
        "answer. Taken in: of those who read a question without one, who marked what only looks "
        "like it."
    )
    return Table("agreement", "Further annotators", columns, rows, note, of_people=True)


def _human(agreement: dict[str, Agreement]) -> Table:
    columns = ["split", "questions", "EM share", "F1 share"]
    rows: list[list[Cell]] = [[split, *found.human()] for split, found in _in_order(agreement)]
    note = (
        "The first further annotator's answer to each kept question, scored by the official "
        "metrics against the answers that are released, but for their own."
    )
    return Table("human_performance", "Human performance", columns, rows, note, of_people=True)


def _in_order(agreement: dict[str, Agreement]) -> Iterator[tuple[str, Agreement]]:
    return ((split, agreement[split]) for split in SPLITS if split in agreement)


def _texts(given: VoteRecord) -> list[str]:
    return [span["text"] for span in given["payload"].get("spans") or ()]
