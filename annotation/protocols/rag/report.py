"""The tables of a collection: its size, what each rule drew, what second readers found."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from annotation.metrics.token_overlap import score_v2
from annotation.protocols.rag.entries import ANSWER, NATURAL, cited_ids, document_of, one_was_enough
from annotation.protocols.rag.export import SPLITS
from annotation.protocols.rag.validation import agree, vote
from annotation.records.schema import (
    QuestionRecord,
    SeedRecord,
    answering,
    chosen_vote,
    is_kept,
    peoples_votes,
)
from annotation.tables.table import NO_QUESTION, Cell, Table, share, share_of_items
from collector.retrieval.terms import parted
from collector.seeds.passage_drawing import RULES

if TYPE_CHECKING:
    from annotation.protocols.rag.parameters import Parameters

ALL = "all"
# Of the passages of a seed, where the record of the seed says it: how it was drawn, and from what.
RULE, DOCUMENTS = "rule", "documents"
MEASURES = (
    "questions",
    "of them not in the documents",
    "of them asked without reading",
    "of them about several passages",
    "documents with evidence",
    "passages with evidence",
    "passages with evidence per answered question",
    "words per question",
    "words per short answer",
)


@dataclass
class Size:
    """What is counted of one split's kept questions."""

    questions: int = 0
    unanswerable: int = 0
    natural: int = 0
    several: int = 0
    cited: int = 0
    question_words: int = 0
    answer_words: int = 0
    documents: set[str] = field(default_factory=set)
    passages: set[str] = field(default_factory=set)

    def add(self, question: QuestionRecord) -> None:
        """Count a kept question."""
        released = chosen_vote(question)
        is_answer = released is not None and released["type"] == ANSWER
        evidence = set(cited_ids(question)) if is_answer else set()
        self.questions += 1
        self.unanswerable += not is_answer
        self.natural += question["stage"] == NATURAL
        self.several += len(evidence) > 1
        self.cited += len(evidence)
        self.question_words += len(parted(question["text"]).split())
        if released and is_answer:
            self.answer_words += len(parted(str(released["payload"].get("short") or "")).split())
        self.passages |= evidence
        self.documents |= {passage.rpartition("#")[0] for passage in evidence}

    def column(self) -> list[Cell]:
        """Return the figures, in the order of MEASURES."""
        answered = self.questions - self.unanswerable
        return [
            self.questions,
            self.unanswerable,
            self.natural,
            self.several,
            len(self.documents),
            len(self.passages),
            share(self.cited, answered),
            share(self.question_words, self.questions),
            share(self.answer_words, answered),
        ]


@dataclass
class Drawn:
    """What became of the sets that one rule drew."""

    sets: int = 0
    skips: int = 0
    written: int = 0
    kept: int = 0
    of_several: int = 0
    single_passage: int = 0

    def add(self, seed: SeedRecord) -> None:
        """Count a set with the questions that were written about its passages."""
        self.sets += 1
        self.skips += seed.get("skips", 0)
        for question in seed["questions"]:
            self.written += 1
            if is_kept(question) and len(seed["passages"]) > 1:
                self.of_several += 1
                self.single_passage += one_was_enough(question)
            self.kept += is_kept(question)

    def row(self, of_all: int) -> list[Cell]:
        """Return the figures; of_all: how many sets all rules drew."""
        return [
            share(self.sets, of_all),
            self.sets,
            self.skips,
            self.written,
            self.kept,
            share(self.single_passage, self.of_several),
        ]


@dataclass
class Reading:
    """What people with a search box say of the questions that others wrote about passages."""

    questions: int = 0
    readers: int = 0
    # Of each question: how many of its readers agree with its writer, and how many there are.
    same: Counter[tuple[int, int]] = field(default_factory=Counter)
    searches: int = 0
    opened: int = 0
    scores: list[tuple[float, float]] = field(default_factory=list)

    def add(self, question: QuestionRecord, min_f1: float) -> None:
        """Count a question with its writer's answer and the readers'."""
        votes = [one for one in peoples_votes(question) if one["worker"] is not None]
        if len(votes) < 2 or votes[0]["worker"] != question["worker"]:
            return
        writer, *readers = votes
        said = vote(writer["type"], writer["payload"])
        self.questions += 1
        agreeing = 0
        for reader in readers:
            found = vote(reader["type"], reader["payload"])
            self.readers += 1
            agreeing += agree(said, found, min_f1)
            self.searches += len(reader["payload"].get("searches") or ())
            self.opened += len(reader["payload"].get("opened") or ())
        self.same[agreeing, len(readers)] += 1
        others = [one for one in answering(question) if one is not readers[0]]
        if is_kept(question) and others and readers[0]["type"] != "bad":
            shorts = [one["payload"]["short"] for one in others if one["type"] == ANSWER]
            said_first = parted(str(readers[0]["payload"].get("short", "")))
            self.scores.append(score_v2(said_first, [parted(short) for short in shorts]))

    def row(self) -> list[Cell]:
        """Return the figures."""
        n = len(self.scores)
        return [
            self.questions,
            self.readers,
            share_of_items(self.same),
            share(self.searches, self.readers),
            share(self.opened, self.readers),
            share(sum(em for em, _ in self.scores), n),
            share(sum(f1 for _, f1 in self.scores), n),
        ]


def tables(seeds: Iterable[SeedRecord], parameters: "Parameters") -> list[Table]:
    """Return the tables; goes through the seeds once."""
    sizes = {split: Size() for split in (ALL, *SPLITS)}
    drawn = {rule: Drawn() for rule in RULES}
    reading: dict[str, Reading] = defaultdict(Reading)
    categories: dict[str, Counter[str]] = defaultdict(Counter)
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    shown: set[str] = set()
    n_documents = 0
    for seed in seeds:
        is_natural = any(question["stage"] == NATURAL for question in seed["questions"])
        n_documents = max(n_documents, int(seed["payload"].get(DOCUMENTS, 0)))
        # What nobody has met yet may be for either stage; only sets can be skipped.
        is_met = bool(seed["questions"] or seed.get("skips"))
        if is_met:
            shown |= {document_of(passage) for passage in seed["passages"]}
        if is_met and not is_natural and (rule := seed["payload"].get(RULE)) in drawn:
            drawn[rule].add(seed)
        for question in seed["questions"]:
            source = NATURAL if question["stage"] == NATURAL else "drawn"
            placed = question["split"] or seed["fold"]
            if question["verdict"]:
                reasons[source][question["verdict"]["reason"]] += 1
            reading[placed].add(question, parameters.agreement.min_f1)
            if is_kept(question):
                for split in (ALL, placed):
                    if split in sizes:
                        sizes[split].add(question)
                categories[str(question["payload"].get("category") or source)][placed] += 1
    return [
        _size(sizes),
        _drawing(drawn, parameters, len(shown), n_documents),
        _categories(categories),
        _asked(reasons),
        _reading(reading),
    ]


def _size(sizes: dict[str, Size]) -> Table:
    columns = {split: size.column() for split, size in sizes.items()}
    rows: list[list[Cell]] = [
        [name, *(column[place] for column in columns.values())]
        for place, name in enumerate(MEASURES)
    ]
    note = "" if sizes[ALL].questions else NO_QUESTION
    return Table("size", "Size", ["measure", *sizes], rows, note)


def _drawing(
    drawn: dict[str, Drawn], parameters: "Parameters", n_shown: int, n_documents: int
) -> Table:
    of_all = sum(each.sets for each in drawn.values())
    rows: list[list[Cell]] = [
        [rule, getattr(parameters.seeds.shares, rule), *each.row(of_all)]
        for rule, each in drawn.items()
    ]
    columns = [
        "rule",
        "wanted share",
        "drawn share",
        "sets",
        "skips",
        "questions",
        "kept",
        "single passage share",
    ]
    never = max(n_documents - n_shown, 0)
    told = f" Of {n_documents:,} documents {n_shown:,} were shown to somebody who asks, {never:,} "
    note = (
        "Sets of passages that questions were written about, or that were skipped. What a rule "
        "has too little of is drawn by the others. Single passage: kept questions about several "
        "passages of which a second reader found the answer in one."
        f"{told + 'never.' if n_documents else ''}"
    )
    return Table("drawing", "Drawing rules", columns, rows, note)


def _categories(categories: dict[str, Counter[str]]) -> Table:
    rows: list[list[Cell]] = [
        [name, *(found[split] for split in SPLITS), found.total()]
        for name, found in sorted(categories.items(), key=lambda each: (-each[1].total(), each[0]))
    ]
    return Table("categories", "Types of question", ["type", *SPLITS, ALL], rows)


def _asked(reasons: dict[str, Counter[str]]) -> Table:
    rows: list[list[Cell]] = [
        [source, reason, number, share(number, found.total())]
        for source, found in sorted(reasons.items())
        for reason, number in sorted(found.items(), key=lambda each: (-each[1], each[0]))
    ]
    columns = ["asked", "verdict", "questions", "share"]
    note = "Drawn: written about passages. Natural: asked by who had read nothing."
    return Table("asked", "What became of drawn and of natural questions", columns, rows, note)


def _reading(reading: dict[str, Reading]) -> Table:
    rows: list[list[Cell]] = [
        [split, *reading[split].row()]
        for split in SPLITS
        if split in reading and reading[split].questions
    ]
    columns = [
        "split",
        "questions",
        "readers",
        "same as the writer share",
        "searches",
        "opened",
        "EM share",
        "F1 share",
    ]
    note = (
        "People who had the question and a search box over all documents, and nothing that its "
        "writer saw. Searches and opened passages are per reader. EM and F1: the first reader's "
        "short answer to each kept question, against those that are released, but for their own."
    )
    return Table("second_reading", "Second readers", columns, rows, note, of_people=True)
