"""IIRC's questions beside questions of other datasets, which need no more than their text."""

import random
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from annotation.metrics.result import ScoreError, read_file
from annotation.protocols.contracts import Combined
from annotation.protocols.iirc.export import ARTICLES_FILE, streams
from annotation.protocols.iirc.export import article_trees as as_tree
from annotation.protocols.iirc.official_files import (
    MAIN,
    NONE,
    QUESTION,
    Answer,
    Dataset,
    LayoutError,
    Link,
    Passage,
    Question,
    Span,
    parse,
    passage_id,
    question_id,
    read_articles,
    read_passages,
)
from annotation.protocols.iirc.parameters import CombinedTable, Parameters
from annotation.records.articles import article_record, linked_articles
from annotation.tables.table import Cell, Table
from collector.models import Article, Corpus, Paragraph
from collector.models.corpus import ArticleKind

# Where a sentence begins; evidence need not be exact.
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[\"“(]?[A-Z])")
NUMBER = re.compile(r"[-−]?[\d,]*\.?\d+")


def squad_passages(name: str, content: bytes) -> Iterator[Passage]:
    """Yield the passages of a SQuAD file, 1.1 or 2.0; raises LayoutError naming the file.

    The first answer is kept. A question whose answer does not stand where it says is left out.
    """
    try:
        for article in parse(name, content)["data"]:
            title = str(article.get("title", "")).replace("_", " ")
            for paragraph in article["paragraphs"]:
                text = str(paragraph["context"])
                asked = ((each["question"], _of_squad(each, text)) for each in paragraph["qas"])
                yield from _passage(title, text, asked, _sentence)
    except (KeyError, TypeError, AttributeError) as error:
        raise LayoutError(f"{name}: it is no file of SQuAD's layout ({error!r}).") from None


def drop_passages(name: str, content: bytes) -> Iterator[Passage]:
    """Yield the passages of a DROP file; raises LayoutError naming the file.

    A question whose answer is a date, or spans that stand nowhere, is left out.
    """
    try:
        for key, paragraph in parse(name, content).items():
            text = str(paragraph["passage"])
            asked = (
                (each["question"], _of_drop(each["answer"], text, str(each["question"])))
                for each in paragraph["qa_pairs"]
            )
            yield from _passage(key, text, asked, _whole)
    except (KeyError, TypeError, AttributeError) as error:
        raise LayoutError(f"{name}: it is no file of DROP's layout ({error!r}).") from None


def _passage(
    title: str,
    text: str,
    asked: Iterator[tuple[Any, Answer | None]],
    evidence_of: Callable[[Answer, str], tuple[Span, ...]],
) -> Iterator[Passage]:
    """Yield the passage with the questions that have an answer here; nothing without any."""
    pid = passage_id(title, text)
    questions = {}
    for words, answer in asked:
        if answer is not None and str(words).strip():
            qid, evidence = question_id(pid, str(words)), evidence_of(answer, text)
            questions[qid] = Question(qid, str(words), (), evidence, answer)
    if questions:
        yield Passage(pid, title, text, (), tuple(questions.values()))


def _sentence(answer: Answer, text: str) -> tuple[Span, ...]:
    """Return the sentence, or the sentences, in which the answer stands."""
    breaks = [match.span() for match in SENTENCE.finditer(text)]
    found = []
    for span in answer.spans:
        first = max((end for _, end in breaks if end <= span.start), default=0)
        last = min((start for start, _ in breaks if start >= span.end), default=len(text))
        found.append(Span(MAIN, text[first:last], first, last))
    return tuple(found)


def _whole(answer: Answer, text: str) -> tuple[Span, ...]:
    return () if answer.type == NONE else (Span(MAIN, text, 0, len(text)),)


def _of_squad(asked: Mapping[str, Any], text: str) -> Answer | None:
    if asked.get("is_impossible") or not asked["answers"]:
        return Answer(NONE)
    first = asked["answers"][0]
    words, start = str(first["text"]), int(first["answer_start"])
    if not words or text[start : start + len(words)] != words:
        return None
    return Answer("span", (Span(MAIN, words, start, start + len(words)),))


def _of_drop(answer: Mapping[str, Any], text: str, asked: str) -> Answer | None:
    number, spans = str(answer.get("number") or ""), list(answer.get("spans") or [])
    if NUMBER.fullmatch(number):
        return Answer("value", value=number)
    found = [_place(str(words), text, asked) for words in spans]
    if not found or None in found:
        return None
    return Answer("span", tuple(span for span in found if span))


def _place(words: str, text: str, asked: str) -> Span | None:
    """Return where words first stand in the passage, or else in the question."""
    for document, within in ((MAIN, text), (QUESTION, asked)):
        start = within.find(words) if words else -1
        if start >= 0:
            return Span(document, words, start, start + len(words))
    return None


@dataclass(frozen=True)
class Drawn:
    """What stands beside one fold's own questions, and how many there were to be."""

    squad: tuple[Passage, ...]
    drop: tuple[Passage, ...]
    wanted: int

    @property
    def number(self) -> int:
        """Return how many questions were drawn."""
        return n_questions(self.squad) + n_questions(self.drop)


def n_questions(passages: Iterable[Passage]) -> int:
    """Return how many questions the passages have together."""
    return sum(len(passage.questions) for passage in passages)


def drawn(
    own: Sequence[int],
    squad: Sequence[Passage],
    drop: Sequence[Passage],
    numbers: CombinedTable,
    rng: random.Random,
) -> list[Drawn]:
    """Return what is drawn for each fold; own: how many questions of IIRC each has.

    No passage is in two folds: they are dealt out in proportion. Where a file is too short, fewer
    are drawn of both, so that their ratio is kept.
    """
    percent, parts = numbers.others_percent, (numbers.squad_parts, numbers.drop_parts)
    dealt = [_dealt(passages, own, rng) for passages in (squad, drop)]
    found = []
    for number, of_squad, of_drop in zip(own, *dealt, strict=True):
        wanted = round(number * percent / (100 - percent))
        most = min(
            n_questions(of) * sum(parts) // part
            for of, part in zip((of_squad, of_drop), parts, strict=True)
        )
        n_drop = round(min(wanted, most) * parts[1] / sum(parts))
        n_squad = min(wanted, most) - n_drop
        found.append(Drawn(_some(of_squad, n_squad, rng), _some(of_drop, n_drop, rng), wanted))
    return found


def _dealt(
    passages: Sequence[Passage], own: Sequence[int], rng: random.Random
) -> list[list[Passage]]:
    """Return the passages by fold, each fold's questions in proportion to its own."""
    whole, left = sum(own) or 1, rng.sample(passages, len(passages))
    total, folds = n_questions(passages), []
    for number in own[:-1]:
        fold: list[Passage] = []
        while left and n_questions(fold) + len(left[-1].questions) <= total * number / whole:
            fold.append(left.pop())
        folds.append(fold)
    return [*folds, left]


def _some(passages: Sequence[Passage], number: int, rng: random.Random) -> tuple[Passage, ...]:
    """Return so many questions of the passages, drawn, with their passages in order."""
    places = [(at, nth) for at, one in enumerate(passages) for nth in range(len(one.questions))]
    chosen = set(rng.sample(places, min(number, len(places))))
    kept = [
        replace(
            passage,
            questions=tuple(q for nth, q in enumerate(passage.questions) if (at, nth) in chosen),
        )
        for at, passage in enumerate(passages)
    ]
    return tuple(passage for passage in kept if passage.questions)


WORD = re.compile(r"\w+")
QUALIFIER = re.compile(r"\s*\([^()]*\)$")
# In words; longer names are rare.
LONGEST = 8
# Every tenth paragraph is not learned from, but measured on.
HELD_OUT = 10
MEASURED = 2000
Linked = Iterable[tuple[str, Iterable[tuple[int, int, str]]]]


@dataclass(frozen=True)
class Measured:
    """How found links agree with those of paragraphs that were held out, in 0..1."""

    paragraphs: int
    precision: float
    recall: float


@dataclass
class Wikifier:
    """The names by which a corpus links, and where they lead.

    least: link probability from which a name is a link.
    """

    least: float
    targets: dict[str, str] = field(default_factory=dict)
    # The most words that a name has, by its first word.
    _longest: dict[str, int] = field(default_factory=dict)

    def links(self, text: str, but: str = "") -> tuple[Link, ...]:
        """Return the links of a text in order; none leads to the article `but`."""
        found, seen, at = [], {but}, 0
        words = [match.span() for match in WORD.finditer(text)]
        while at < len(words):
            size, name = next(self._named(text, words, at), (1, ""))
            target = self.targets.get(name, "")
            if target and target not in seen:
                seen.add(target)
                found.append(Link(target, words[at][0], words[at + size - 1][1]))
            at += size
        return tuple(found)

    def _named(self, text: str, words: list[tuple[int, int]], at: int) -> Iterator[tuple[int, str]]:
        """Yield the known names that begin with this word, the longest first, in words."""
        most = self._longest.get(text[slice(*words[at])], 0)
        for size in range(min(most, len(words) - at), 0, -1):
            name = text[words[at][0] : words[at + size - 1][1]]
            if name in self.targets:
                yield size, name

    def learn(self, titles: Iterable[str], paragraphs: Callable[[], Linked]) -> None:
        """Learn the names; paragraphs: text and links (start, end, target), gone through twice.

        Every tenth paragraph is left out, to be measured on.
        """
        leads: dict[str, Counter[str]] = defaultdict(Counter)
        for title in titles:
            for name in {title, QUALIFIER.sub("", title)}:
                leads[_bare(name)][title] += 1
        for text, links in _learned(paragraphs()):
            for start, end, target in links:
                leads[_bare(text[start:end])][target] += 1
        leads.pop("", None)
        self._know({name: where.most_common(1)[0][0] for name, where in leads.items()})
        times: Counter[str] = Counter()
        for text, _ in _learned(paragraphs()):
            words = [match.span() for match in WORD.finditer(text)]
            for at in range(len(words)):
                times.update(name for _, name in self._named(text, words, at))
        self._know(
            {
                name: target
                for name, target in self.targets.items()
                if leads[name].total() >= self.least * max(times[name], 1)
            }
        )

    def _know(self, targets: dict[str, str]) -> None:
        self.targets, self._longest = targets, {}
        for name in targets:
            words = WORD.findall(name)
            if len(words) <= LONGEST:
                self._longest[words[0]] = max(self._longest.get(words[0], 0), len(words))

    def measured(self, paragraphs: Linked) -> Measured:
        """Return how what is found agrees with the paragraphs that were held out.

        A link is right where one of the paragraph's own leads from words in common to the same
        title.
        """
        right = found = wanted = number = 0
        for text, links in _held_out(paragraphs):
            own = [(start, end, target) for start, end, target in links]
            ours = self.links(text)
            found, wanted, number = found + len(ours), wanted + len(own), number + 1
            right += sum(
                any(
                    link.target == target and link.start < end and start < link.end
                    for start, end, target in own
                )
                for link in ours
            )
            if number == MEASURED:
                break
        return Measured(number, right / found if found else 0.0, right / wanted if wanted else 0.0)


def _bare(name: str) -> str:
    """Return a name from its first to its last word, without what is around them."""
    words = list(WORD.finditer(name))
    return name[words[0].start() : words[-1].end()] if words else ""


def _learned(paragraphs: Linked) -> Iterator[tuple[str, Iterable[tuple[int, int, str]]]]:
    return (each for at, each in enumerate(paragraphs) if at % HELD_OUT)


def _held_out(paragraphs: Linked) -> Iterator[tuple[str, Iterable[tuple[int, int, str]]]]:
    return (each for at, each in enumerate(paragraphs) if not at % HELD_OUT)


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
