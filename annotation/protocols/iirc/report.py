"""The paper's own tables for a collection: size, linked documents, answer types (IIRC 2.4, 4.2)."""

import random
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from annotation.metrics.result import ScoreError
from annotation.protocols.iirc.agreement import Agreement, HumanPerformance
from annotation.protocols.iirc.analysis import labels
from annotation.protocols.iirc.analysis.openings import Openings
from annotation.protocols.iirc.analysis.released_answers import needed_documents
from annotation.protocols.iirc.analysis.systems import Systems
from annotation.protocols.iirc.dataset_tree import NONE, LayoutError
from annotation.protocols.iirc.export import FOLDS
from annotation.protocols.iirc.scoring import links_group, read_predictions
from annotation.records.schema import QuestionRecord, SeedRecord, chosen_vote, is_kept
from annotation.tables.table import Cell, Table, share
from tasks.work.answer_summary import type_words

if TYPE_CHECKING:
    from annotation.protocols.iirc.parameters import Parameters

ALL = "all"
TYPES = ("span", "value", "binary", NONE)


def tables(seeds: Iterable[SeedRecord], parameters: "Parameters") -> list[Table]:
    """Return the tables of sections 2.4 and 4.2; goes through the seeds once."""
    sizes = {fold: Size() for fold in (ALL, *FOLDS)}
    links: Counter[tuple[int, bool]] = Counter()
    types: Counter[str] = Counter()
    agreement, reading, openings = Agreement(parameters), HumanPerformance(parameters), Openings()
    for seed in seeds:
        kept = [question for question in seed["questions"] if is_kept(question)]
        for fold in (ALL, seed["fold"]):
            if kept and fold in sizes:
                sizes[fold].add(seed, kept)
        for question in kept:
            openings.add(question["text"])
            vote = chosen_vote(question)
            if vote is not None:
                types[vote["type"]] += 1
                links[needed_documents(question), vote["type"] == NONE] += 1
        for question in seed["questions"]:
            agreement.add(seed["fold"], question)
            reading.add(question)
    return [
        size_table(sizes),
        links_table(links, parameters.report.most_links),
        types_table(types),
        openings.table(),
        agreement.table(),
        reading.table(),
    ]


def predicted(
    seeds: Iterable[SeedRecord], parameters: "Parameters", predictions: Path
) -> list[Table]:
    """Return the scores of official predictions by split, links and type of answer, and Table 6.

    Raises ScoreError naming the file.
    """
    try:
        systems = Systems(read_predictions(predictions), parameters.report.most_links)
    except LayoutError as error:
        raise ScoreError(str(error)) from None
    for seed in seeds:
        for question in seed["questions"]:
            systems.add(seed["fold"], question)
    return systems.tables()


def sample(
    seeds: Iterable[SeedRecord], parameters: "Parameters", rng: random.Random
) -> list[dict[str, str]]:
    """Return the questions that Table 1 wants labelled by hand."""
    return labels.drawn(seeds, parameters.report.hand_labels, rng)


def labelled(rows: Iterable[Mapping[str, str]], parameters: "Parameters") -> list[Table]:
    """Return Table 1 of the sample with its labels; raises ScoreError naming a row."""
    return labels.counted(rows)


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
    return Table("size", "Size (Table 2 of the IIRC paper)", ["measure", *sizes], rows, note)


def links_table(links: Counter[tuple[int, bool]], most: int) -> Table:
    """Return how many linked documents the questions need (Table 4).

    links: questions by that number and whether they have no answer. most: from this number on
    they are one group.
    """
    whole, found = links.total(), max((number for number, _ in links), default=0)
    rows: list[list[Cell]] = []
    for group in range(most + 1):
        counts = {
            none: sum(
                n for (k, is_none), n in links.items() if is_none == none and min(k, most) == group
            )
            for none in (False, True)
        }
        questions = sum(counts.values())
        name = links_group(group, most)
        rows.append([name, questions, share(questions, whole), share(counts[True], questions)])
    note = (
        "Counted by the evidence of the answer; where there is no answer, by the links that the "
        "writer picked. In the paper 30 % need two or more, and nearly half of 4+ "
        "have no answer."
    )
    if whole:
        note = f"{found} at most. {note}"
    columns = ["documents", "questions", "share", "no answer share"]
    return Table(
        "links", "Linked documents needed (Table 4 of the IIRC paper)", columns, rows, note
    )


def types_table(types: Counter[str]) -> Table:
    """Return the share of each type of answer (IIRC 2.4)."""
    names = [*TYPES, *sorted(types.keys() - set(TYPES))]
    whole = types.total()
    rows: list[list[Cell]] = [
        [type_words(name), types[name], share(types[name], whole)] for name in names
    ]
    note = "No answer: the linked articles do not tell; 30 % in the paper."
    return Table("types", "Types of answers", ["type", "questions", "share"], rows, note)
