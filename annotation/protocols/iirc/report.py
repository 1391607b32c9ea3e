"""The paper's own tables for a collection: size, linked documents, answer types (IIRC 2.4, 4.2)."""

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from annotation.protocols.iirc.agreed import Agreement, SecondReading
from annotation.protocols.iirc.conversion import n_linked_documents
from annotation.protocols.iirc.export import FOLDS
from annotation.protocols.iirc.layout import QUESTION
from annotation.protocols.iirc.scoring import MOST_LINKS
from annotation.release.shape import QuestionRecord, SeedRecord, chosen_vote, is_kept
from annotation.reports.table import Table, share

if TYPE_CHECKING:
    from annotation.protocols.iirc.parameters import Parameters

ALL = "all"
TYPES = ("span", "value", "binary", "none")


def tables(seeds: Iterable[SeedRecord], parameters: "Parameters") -> list[Table]:
    """Return the tables of sections 2.4 and 4.2; goes through the seeds once."""
    sizes = {fold: Size() for fold in (ALL, *FOLDS)}
    links: Counter[int] = Counter()
    types: Counter[str] = Counter()
    agreement, reading = Agreement(parameters), SecondReading(parameters)
    for seed in seeds:
        kept = [question for question in seed["questions"] if is_kept(question)]
        for fold in (ALL, seed["fold"]):
            if kept and fold in sizes:
                sizes[fold].add(seed, kept)
        for question in kept:
            vote = chosen_vote(question)
            if vote is not None:
                types[vote["type"]] += 1
                links[needed_documents(question)] += 1
        for question in seed["questions"]:
            agreement.add(seed["fold"], question)
            reading.add(question)
    return [
        size_table(sizes),
        links_table(links),
        types_table(types),
        agreement.table(),
        reading.table(),
    ]


class Size:
    """The counts of Table 2 for one fold."""

    def __init__(self) -> None:
        self.passages = self.questions = self.links = self.words = 0
        self.vocabulary: set[str] = set()
        self.trigrams: set[tuple[str, ...]] = set()

    def add(self, seed: SeedRecord, questions: list[QuestionRecord]) -> None:
        """Count one passage with its kept questions."""
        self.passages += 1
        self.links += len(seed["passages"][0]["links"])
        for question in questions:
            words = [word.strip("?.,;:!\"'()").lower() for word in question["text"].split()]
            self.questions += 1
            self.words += len(words)
            self.vocabulary.update(words)
            self.trigrams.add(tuple(words[:3]))


def size_table(sizes: dict[str, Size]) -> Table:
    """Return Table 2 with the diversity of the questions, a column for each fold."""
    measures = {
        "questions": lambda size: size.questions,
        "passages": lambda size: size.passages,
        "links per passage": lambda size: share(size.links, size.passages),
        "questions per passage": lambda size: share(size.questions, size.passages),
        "words per question": lambda size: share(size.words, size.questions),
        "distinct words in questions": lambda size: len(size.vocabulary),
        "distinct initial trigrams": lambda size: len(size.trigrams),
    }
    rows = [[name, *(of(size) for size in sizes.values())] for name, of in measures.items()]
    note = "The paper has 13,441 questions over 5,698 passages with 14.5 links each on average."
    return Table("size", "Size (Table 2)", ["measure", *sizes], rows, note)


def links_table(links: Counter[int]) -> Table:
    """Return how many linked documents hold the evidence of an answer (Table 4)."""
    whole = links.total()
    groups = {
        f"{number}+" if number == MOST_LINKS else str(number): sum(
            count for needed, count in links.items() if min(needed, MOST_LINKS) == number
        )
        for number in range(MOST_LINKS + 1)
    }
    rows = [[name, number, share(number, whole)] for name, number in groups.items()]
    note = f"At most {max(links)} documents are needed." if links else ""
    title = "Linked documents needed (Table 4)"
    return Table("links", title, ["documents", "questions", "share"], rows, note)


def types_table(types: Counter[str]) -> Table:
    """Return the share of each type of answer (IIRC 2.4)."""
    names = [*TYPES, *sorted(types.keys() - set(TYPES))]
    rows = [[name, types[name], share(types[name], types.total())] for name in names]
    note = "Type none: the linked articles do not tell; 30 % in the paper."
    return Table("types", "Types of answers", ["type", "questions", "share"], rows, note)


def needed_documents(question: QuestionRecord) -> int:
    """Return how many documents but the passage hold the released evidence."""
    vote = chosen_vote(question)
    context = vote["payload"].get("context") or () if vote else ()
    documents = {span["document"] for span in context} - {QUESTION}
    return n_linked_documents({"context": [{"passage": document} for document in documents]})
