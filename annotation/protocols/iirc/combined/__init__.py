"""IIRC beside questions that need nothing more than their paragraph (IIRC 5, Table 7)."""

import random
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from annotation.metrics.result import ScoreError, read_file
from annotation.protocols.contracts import Combined
from annotation.protocols.iirc.combined.other_datasets import drop_passages, squad_passages
from annotation.protocols.iirc.combined.sampling import Drawn, drawn, n_questions
from annotation.protocols.iirc.combined.wikifier import Linked, Measured, Wikifier
from annotation.protocols.iirc.dataset_tree import Dataset, LayoutError, Passage
from annotation.protocols.iirc.export import ARTICLES_FILE, streams
from annotation.protocols.iirc.parameters import CombinedTable, Parameters
from annotation.protocols.iirc.parsing import read_articles, read_passages
from annotation.protocols.iirc.release_tree import articles as as_tree
from annotation.records.articles import article_record, linked_articles
from annotation.tables.table import Cell, Table
from collector.models import Article, Corpus, Paragraph
from collector.models.corpus import ArticleKind

TRAIN, DEV, DEV_COMBINED = "train.json", "dev.json", "dev_combined.json"
SQUAD, DROP = "squad", "drop"
SOURCES: Mapping[str, str] = {
    SQUAD: "SQuAD's training file, 2.0 or 1.1",
    DROP: "DROP's training file",
}


def combine(
    corpus: Corpus,
    parameters: Parameters,
    release: Path,
    sources: Mapping[str, Path],
    folder: Path,
    seed: int,
    report: Callable[[str], object] = lambda step: None,
) -> Combined:
    """Write train, dev, dev with others' questions, and the linked articles into a new folder.

    Only the release's train and dev are read: never its test questions. Others' passages get
    links by the names that the corpus links by. Raises ScoreError naming the file.
    """
    try:
        own = {name: read_passages(name, read_file(release / name)) for name in (TRAIN, DEV)}
        of_squad = list(squad_passages(str(sources[SQUAD]), read_file(sources[SQUAD])))
        of_drop = list(drop_passages(str(sources[DROP]), read_file(sources[DROP])))
        linked = read_articles(ARTICLES_FILE, read_file(release / ARTICLES_FILE))
    except LayoutError as error:
        raise ScoreError(str(error)) from None
    report("names of the corpus")
    numbers = parameters.combined
    wikifier, measured = wikifier_of(corpus, numbers.min_link_probability)
    counts = [n_questions(own[name]) for name in (TRAIN, DEV)]
    beside = drawn(counts, of_squad, of_drop, numbers, random.Random(seed))
    found = [_with_links(each, wikifier) for each in beside]
    report("linked articles")
    known = {article.title.lower() for article in linked}
    # Of two titles that differ in case alone one may be known, and the other be another article.
    own_targets = {link.target for of in own.values() for each in of for link in each.links}
    own_targets = {title for title in own_targets if title.lower() in known}
    known -= {title.lower() for title in own_targets}
    known |= own_targets
    titles = {link.target for each in found for passage in _all(each) for link in passage.links}
    new = [title for title in sorted(titles) if not {title, title.lower()} & known]
    records = (article_record(title, of) for title, of in linked_articles(corpus, new))
    folds = {
        "train": [*own[TRAIN], *_all(found[0])],
        "dev": own[DEV],
        "dev_combined": [*own[DEV], *_all(found[1])],
    }
    folder.mkdir(parents=True)
    _write(folder, Dataset(folds, [*linked, *as_tree(records)]))
    shutil.copyfile(release / DEV, folder / DEV)
    tables = [sizes_table(counts, found, numbers), wikifier_table(measured)]
    written = {f"{name}.json": n_questions(passages) for name, passages in folds.items()}
    return Combined(tables, written)


def wikifier_of(corpus: Corpus, min_link_probability: float) -> tuple[Wikifier, Measured]:
    """Return what finds links by the names of a corpus, and how well it does on its own links.

    min_link_probability: from 0 to 1, as the Wikifier takes it. Raises ScoreError where the corpus
    has no links.
    """
    titles = Article.objects.filter(corpus=corpus, kind=ArticleKind.ARTICLE)
    wikifier = Wikifier(min_link_probability)
    wikifier.learn(titles.values_list("title", flat=True).iterator(), lambda: _paragraphs(corpus))
    measured = wikifier.measured(_paragraphs(corpus))
    if not measured.paragraphs:
        raise ScoreError(
            f"The corpus {corpus.slug} has no links, by whose names others could be found; name "
            "one that was read from a dump with --corpus."
        )
    return wikifier, measured


def _paragraphs(corpus: Corpus) -> Linked:
    rows = Paragraph.objects.filter(article__corpus=corpus, n_links__gt=0).order_by("id")
    return rows.values_list("text", "links").iterator()


def _with_links(drawn_of_fold: Drawn, wikifier: Wikifier) -> Drawn:
    def linked(passages: Iterable[Passage]) -> tuple[Passage, ...]:
        return tuple(replace(passage, links=wikifier.links(passage.text)) for passage in passages)

    return replace(
        drawn_of_fold, squad=linked(drawn_of_fold.squad), drop=linked(drawn_of_fold.drop)
    )


def _all(drawn_of_fold: Drawn) -> Iterator[Passage]:
    yield from drawn_of_fold.squad
    yield from drawn_of_fold.drop


def _write(folder: Path, dataset: Dataset) -> None:
    for name, chunks in streams(dataset):
        with (folder / name).open("wb") as file:
            file.writelines(chunks)


def sizes_table(own: list[int], beside: list[Drawn], numbers: CombinedTable) -> Table:
    """Return how many questions of which dataset each file has."""
    rows: list[list[Cell]] = [
        [
            name,
            number,
            n_questions(of.squad),
            n_questions(of.drop),
            of.number / (number + of.number) if number + of.number else 0.0,
        ]
        for name, number, of in zip((TRAIN, DEV_COMBINED), own, beside, strict=True)
    ]
    short = any(of.number < of.wanted for of in beside)
    ratio = f"{numbers.squad_parts} of SQuAD to {numbers.drop_parts} of DROP"
    note = (
        f"SQuAD's and DROP's files were too short for {numbers.others_percent} % of all questions: "
        f"all that kept {ratio} was taken."
        if short
        else f"{ratio}, together {numbers.others_percent} % of all questions."
    )
    columns = ["file", "IIRC", "SQuAD", "DROP", "others' share"]
    return Table("combined", "Questions (IIRC 5)", columns, rows, note)


def wikifier_table(measured: Measured) -> Table:
    """Return how well links are found in paragraphs whose links are known."""
    row: list[Cell] = [measured.paragraphs, measured.precision, measured.recall]
    columns = ["paragraphs held out", "precision share", "recall share"]
    note = "Against the corpus's own links, which name a thing once and leave out what is plain."
    return Table("wikifier", "Links found by titles and anchors", columns, [row], note)
