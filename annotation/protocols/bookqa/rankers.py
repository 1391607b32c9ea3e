"""Rankers of passages: Table 2, and what is written to train more of them."""

from collections.abc import Callable, Mapping
from pathlib import Path

from annotation.metrics.result import ScoreError
from annotation.protocols.bookqa.parameters import Parameters
from annotation.protocols.bookqa.question_labels import (
    read_labels,
)
from annotation.protocols.bookqa.ranking import (
    BM25,
    ORACLE,
    UPPERBOUND,
    Coverage,
    Ranked,
    RankedBook,
    Ranking,
    books_of,
    ranked,
    table_by_label,
    table_of,
)
from annotation.protocols.bookqa.ranking_files import (
    CANDIDATES,
    CLOZE,
    PASSAGES,
    SUPERVISION,
    MutualInformation,
    append,
    candidate_lines,
    check_ranking,
    cloze_lines,
    passage_lines,
    read_ranking,
    supervision_lines,
)
from annotation.protocols.contracts import Ranks
from collector.models import Corpus

FILES = {
    PASSAGES: "every passage of the books, word for word, with its place in its book",
    CANDIDATES: "the questions that came with the books, each with what BM25 finds for it",
    SUPERVISION: "passages that hold an answer and that do not, to train rankers with",
    CLOZE: "sentences of the books as questions, their passages as answers, to train rankers with",
}
Report = Callable[[int, int], object]


def rank(
    corpus: Corpus,
    parameters: Parameters,
    rankings: Mapping[str, Path],
    folder: Path | None,
    seed: int,
    report: Report = lambda done, total: None,
    labels: Path | None = None,
) -> Ranks:
    """Return Table 2 of the corpus's questions; write the training files into a new folder.

    rankings: outside rankers' files by name, each an order of BM25's first passages. labels: of
    questions, by which the last column of Tables 5 and 6 is told too. Raises ScoreError naming the
    file, or saying that the corpus has no question.
    """
    numbers = parameters.ranking
    total = corpus.books.filter(questions__isnull=False).distinct().count()
    if not total:
        raise ScoreError(
            f"The corpus {corpus.slug} has no question about a book: read qaps.csv in."
        )
    taken = {BM25, ORACLE, UPPERBOUND} & rankings.keys()
    if taken:
        raise ScoreError(
            f"{rankings[min(taken)]}: name the file after its ranker, not {min(taken)}."
        )
    others = {name: read_ranking(path) for name, path in rankings.items()}
    information, known = _looked_at(corpus, parameters, rankings, others)
    labelled = read_labels(labels, known) if labels else None
    written: dict[str, int] = {}
    if folder is not None:
        folder.mkdir(parents=True)
    coverage = Coverage([BM25, *others, UPPERBOUND, ORACLE], numbers.coverage_at)
    for done, book in enumerate(books_of(corpus), start=1):
        found = list(ranked([book], numbers, others))
        for one in found:
            coverage.add(one)
        if folder is not None:
            _write(folder, book, found, information, parameters, seed, written)
        report(done, total)
    tables = [table_of(coverage, numbers)]
    if labelled is not None:
        tables.append(table_by_label(coverage, numbers, *labelled))
    return Ranks(tables, written)


def _looked_at(
    corpus: Corpus,
    parameters: Parameters,
    rankings: Mapping[str, Path],
    others: Mapping[str, Ranking],
) -> tuple[MutualInformation, set[str]]:
    """Return the counts of all books' words, and the questions' ids.

    Raises ScoreError for a ranking that does not fit.
    """
    information = MutualInformation()
    known: set[str] = set()
    for book in books_of(corpus):
        information.add(book)
        known |= {question.id for question in book.questions}
        for name, ranking in others.items():
            check_ranking(rankings[name], ranking, book, parameters.ranking)
    for name, ranking in others.items():
        for question in ranking:
            if question not in known:
                raise ScoreError(f"{rankings[name]}: the corpus has no question {question!r}.")
    return information, known


def _write(
    folder: Path,
    book: RankedBook,
    found: list[Ranked],
    information: MutualInformation,
    parameters: Parameters,
    seed: int,
    written: dict[str, int],
) -> None:
    """Write what belongs to one book at the end of each file, and count it."""
    numbers = parameters.ranking
    lines = {
        PASSAGES: passage_lines(book),
        CANDIDATES: candidate_lines(found),
        SUPERVISION: supervision_lines(found, numbers, seed),
        CLOZE: cloze_lines(book, information, numbers),
    }
    for name, each in lines.items():
        written[name] = written.get(name, 0) + append(folder / name, each)
