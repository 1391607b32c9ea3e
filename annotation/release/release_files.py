"""Writes the files of a release from records that are read once."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatch
from functools import partial
from itertools import chain, combinations
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from django.conf import settings

from annotation.decisions.records import keyed_digest, records, snapshot
from annotation.models import SplitAssignment
from annotation.protocols.contracts import EXPORT, RANKERS, ExportModule
from annotation.records.schema import IMPORTED, ArticleRecord, SeedRecord, is_kept
from annotation.records.withholding import (
    Told,
    WithoutText,
    ids_by_title,
    is_closed,
    public_records,
    questions_alone,
    told_by,
    withheld_records,
)
from annotation.release import (
    articles,
    croissant,
    label_files,
    release_folder,
    row_tables,
    write_log,
)
from annotation.release.articles import all_articles, articles_of, linked_titles
from annotation.release.dataset_card import FILE as CARD
from annotation.release.dataset_card import MANIFEST, card, changes
from annotation.release.facts import (
    ABOUT_INSTRUCTIONS,
    INSTRUCTIONS_FILE,
    Dates,
    Facts,
    dates_of,
    instructions_lines,
    not_said,
    statements_of,
)
from annotation.release.row_tables import columns_of, question_rows, write_questions
from annotation.release.write_log import log_lines
from annotation.reports.collection import tables_from
from annotation.reports.pay import rates_table
from annotation.tables.charts import FOLDER, files_of
from annotation.tables.table import Cell, Table
from collector.ingest.licences import contradictions
from collector.models import Collection, Corpus
from collector.protocols.creation import parameters_of
from collector.protocols.loading import Protocol, get_protocol
from collector.retrieval.terms import runs_of
from common.actions import ActionError
from common.safe_files import inside

if TYPE_CHECKING:
    from annotation.protocols.contracts import ExportModule

WORDS_IN_A_ROW = 5
# The columns of the words that prove answers, or only seem to, as the protocols call them.
PROOF = ("evidence", "plausible_evidence", "answer_context")
OVERLAP, OVERLAP_TITLE = "overlap", "The same words in two splits"
OVERLAP_COLUMNS = ("split", "compared with", "question share", "passage share")
OVERLAP_NOTE = (
    f"A split's runs of {WORDS_IN_A_ROW} words in a row, each counted once: the share that the "
    "split it is compared with has too. Passages are those that questions are about, and the "
    "words that prove answers. In a language with few blanks between words, pairs of characters "
    "are counted. Words that many documents have, such as those of a licence, are counted too."
)
TEXTS_AT_ONCE = 1000
PIECE_BYTES = 1 << 20
CLOSED_CARD = (
    "# Not to be published\n\n"
    "The official files of the release beside this folder, and rankings if there are any, with\n"
    "the text of its closed documents, for `score` and for those who may read them.\n"
)
PRIVATE_CARD = (
    "# Not to be published\n\n"
    "What the release beside this folder withholds: the answers, in files of the same names for\n"
    "`score`, all votes on these questions, and in the manifest the random seed, from which\n"
    "anybody could draw the same passages again.\n"
)


class Spool:
    """Files of one seed a line, read as often as needed: one of all seeds, one of each split."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.by_split: dict[str, Path] = {}

    def fill(
        self, seeds: Iterable[SeedRecord], advance: Callable[[], object] = lambda: None
    ) -> "Spool":
        """Write `seeds`, calling `advance` after each; returns self."""
        with ExitStack() as stack:
            whole = stack.enter_context(self.path.open("w", encoding="utf-8"))
            opened: dict[str, IO[str]] = {}
            for seed in seeds:
                # The bulk of a release is what systems read: ten passages and more a question.
                bare = [dict(each) for each in seed["questions"]]
                for each in bare:
                    each.pop("contexts", None)
                _write_line(whole, {**seed, "questions": bare})
                splits = {each["split"]: None for each in seed["questions"] if is_kept(each)}
                if IMPORTED in seed["payload"]:
                    splits[seed["fold"]] = None
                for split in filter(None, splits):
                    if split not in opened:
                        path = self.path.with_name(f"{self.path.stem}-{len(opened)}.jsonl")
                        self.by_split[split] = path
                        opened[split] = stack.enter_context(path.open("w", encoding="utf-8"))
                    questions = [
                        each
                        for each in seed["questions"]
                        if is_kept(each) and each["split"] == split
                    ]
                    _write_line(opened[split], {**seed, "questions": questions})
                advance()
        return self

    def seeds(self) -> Iterator[SeedRecord]:
        """Yield all seeds with all their questions, but not what systems read to answer them."""
        yield from Lines(self.path)

    def of_split(self, split: str) -> Iterable[SeedRecord]:
        """Return the seeds that the split's file holds, each with its kept questions there alone.

        They are read anew each time they are gone through. A seed without such a question is left
        out, unless it was read from a file that has it so.
        """
        return Lines(self.by_split[split]) if split in self.by_split else ()


class Lines:
    """The seeds of one file, one a line."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __iter__(self) -> Iterator[SeedRecord]:
        with self.path.open(encoding="utf-8") as file:
            for line in file:
                yield json.loads(line)


def _write_line(file: IO[str], seed: Mapping[str, Any]) -> None:
    file.write(json.dumps(seed, ensure_ascii=False) + "\n")


class _Runs:
    """The different runs of words of many texts, each text read once."""

    def __init__(self) -> None:
        self._seen: set[int] = set()
        self._waiting: list[Any] = []
        self._found: list[Any] = []

    def add(self, text: str) -> None:
        """Add the runs of a text."""
        # The same passage has many questions.
        if text and hash(text) not in self._seen:
            self._seen.add(hash(text))
            self._waiting.append(runs_of(text, WORDS_IN_A_ROW))
            if len(self._waiting) == TEXTS_AT_ONCE:
                self._found, self._waiting = [self.all()], []

    def all(self) -> Any:
        """Return all runs as sorted numbers, each once: uint64[n]."""
        import numpy

        return numpy.unique(
            numpy.concatenate([numpy.zeros(0, "<u8"), *self._found, *self._waiting])
        )


def overlap(by_split: Mapping[str, Iterable[SeedRecord]], export: "ExportModule") -> Table:
    """Return how much of the wording of each split the ones before it have; no row for one alone.

    by_split: with all their texts, also of splits whose answers are withheld; they are read once.
    """
    found: dict[str, tuple[Any, Any]] = {}
    for split, seeds in by_split.items():
        questions, passages = _Runs(), _Runs()
        for row in question_rows(split, seeds, export):
            questions.add(row["question"])
            proof = [part for name in PROOF for part in row.get(name) or ()]
            for part in (*row["passages"], *proof):
                passages.add(part["text"])
        asked = questions.all()
        if len(asked):
            found[split] = asked, passages.all()
    told: list[list[Cell]] = [
        [split, other, *map(_share, found[split], found[other])]
        for other, split in combinations(found, 2)
    ]
    return Table(OVERLAP, OVERLAP_TITLE, OVERLAP_COLUMNS, told, OVERLAP_NOTE, named=True)


def _share(own: Any, others: Any) -> float | None:
    import numpy

    return float(numpy.isin(own, others, assume_unique=True).mean()) if len(own) else None


def kept_folder(protocol: str, corpus: Corpus) -> Path:
    """Return where the files of a corpus are kept, whether there are any or not."""
    return inside(Path(settings.RANKINGS), f"{protocol}-{corpus.slug}")


@contextmanager
def kept_anew(protocol: Protocol, corpus: Corpus) -> Iterator[Path]:
    """Yield a path for a new folder that takes the place of what was kept, all or nothing.

    Raises OSError where nothing can be written.
    """
    target = kept_folder(protocol.name, corpus)
    with release_folder.folder_beside(target) as space:
        made = space / "made"
        yield made
        if target.exists():
            target.rename(space / "before")
        made.rename(target)


def copy_rankings(collection: Collection, folder: Path) -> dict[str, str]:
    """Copy the files that were kept of the collection's corpus; return what each holds."""
    protocol = get_protocol(collection.protocol)
    if not protocol.has(RANKERS):
        return {}
    kept = kept_folder(protocol.name, collection.corpus)
    found = {
        name: words
        for name, words in protocol.part(RANKERS).FILES.items()
        if (kept / name).is_file()
    }
    for name in found:
        with (kept / name).open("rb") as file:
            release_folder.put(folder, name, iter(partial(file.read, PIECE_BYTES), b""))
    return found


@dataclass(frozen=True)
class Watcher:
    """Who is told how far it has come: `say` each step, `advance` each seed that was read."""

    say: Callable[[str], object] = lambda step: None
    advance: Callable[[], object] = lambda: None


@dataclass(frozen=True)
class _Anew:
    """Seeds that are read anew each time."""

    read: Callable[[], Iterator[SeedRecord]]

    def __iter__(self) -> Iterator[SeedRecord]:
        return self.read()


def write(
    collection: Collection,
    made: Path,
    private: Path,
    watcher: Watcher,
    log: Path | None,
    dates: Dates | None,
    now: datetime,
) -> tuple[dict[str, Any], list[Told]]:
    """Write every file of the release into `made`, and its log.

    Returns its counts, and what it tells of each question where the protocol withholds anything.
    made: a folder; what lies beside it is for use while writing. What the protocol withholds goes
    to the folder `private`, which is made only if there is any. dates: of a release that is made
    again; of another one they are read with the rest. Raises ActionError for what does not fit
    together.
    """
    export = get_protocol(collection.protocol).part(EXPORT)
    corpus, withheld, closed = collection.corpus, export.WITHHELD, is_closed(collection.corpus)
    watcher.say("Reading questions and votes")
    # All that changes while people work is read at one moment.
    with snapshot():
        spool = Spool(made.with_name("records.jsonl")).fill(
            export.identified(records(collection)), watcher.advance
        )
        lines = write_log.assignment_lines(collection, withheld)
        release_folder.put(made, write_log.ASSIGNMENTS_FILE, lines)
        dates, pay = dates or dates_of(collection, now), rates_table(collection)
        if log:
            release_folder.put(log.parent, log.name, log_lines(collection, dates))
    watcher.say("Writing the official files")
    by_split = _splits(collection, export, spool)
    in_public = {
        name: _Anew(partial(questions_alone, seeds, tuple(withheld[name])))
        if name in withheld
        else seeds
        for name, seeds in by_split.items()
    }
    try:
        _write_private(collection, private, export, by_split, spool)
        official = _write_official(collection, made, private, export, in_public)
    except ValueError as error:
        # What a protocol's export says does not fit.
        raise ActionError(str(error)) from error
    shown: Iterable[SeedRecord] = _Anew(lambda: public_records(spool.seeds(), withheld))
    if closed:
        # The tables are without a word of closed documents.
        ids = ids_by_title(corpus)
        in_public = {name: WithoutText(seeds, ids) for name, seeds in in_public.items()}
        shown = WithoutText(shown, ids)
    watcher.say("Writing the tables of questions")
    examples = write_questions(made, in_public, export)
    watcher.say("Writing votes, licence and card")
    n_votes = row_tables.write_votes(made / row_tables.VOTES_FILE, shown)
    beside = label_files.write_labels(made, shown, parameters_of(collection))
    if instructions := b"".join(instructions_lines(collection)):
        release_folder.put(made, INSTRUCTIONS_FILE, [instructions])
        beside[INSTRUCTIONS_FILE] = ABOUT_INSTRUCTIONS
    if not closed:
        beside |= copy_rankings(collection, made)
    used, whole = chain(shown, *in_public.values()), export.WHOLE_CORPUS and not closed
    attributions = articles.attribution_lines(corpus, used, whole=whole)
    release_folder.put(made, articles.FILE, attributions)
    release_folder.put(made, articles.LICENCE_FILE, [articles.licence_text(collection).encode()])
    tables, outcomes = tables_from(collection, spool.seeds(), pay=pay, withheld=withheld)
    watcher.say("Comparing the words of splits")
    tables.append(overlap(by_split, export))
    found = Counter(
        question["split"]
        for seed in spool.seeds()
        for question in seed["questions"]
        if is_kept(question)
    )
    facts = Facts(
        collection=collection,
        kept={name: found[name] for name in by_split},
        official={
            name: next(
                (words for pattern, words in export.FILES_HOLD.items() if fnmatch(name, pattern)),
                "in the official layout of the protocol",
            )
            for name in official
        },
        tables=tables,
        outcomes=outcomes,
        secret=[name for name in by_split if name in withheld] if private.exists() else [],
        beside=beside,
        columns=columns_of(export),
        examples=examples,
        dates=dates,
        said=statements_of(collection),
    )
    told_of = list(told_by(spool.seeds(), withheld)) if withheld else []
    return _describe(facts, made, private, n_votes), told_of


def _write_official(
    collection: Collection,
    made: Path,
    private: Path,
    export: ExportModule,
    in_public: Mapping[str, Iterable[SeedRecord]],
) -> list[str]:
    """Return the names of the protocol's files, which are written.

    Those of closed documents are not public: they go, with rankings, beside what is withheld.
    """
    files = export.files(in_public, _articles(collection, export, in_public))
    if not is_closed(collection.corpus):
        names = []
        for name, chunks in files:
            release_folder.put(made, name, chunks)
            names.append(name)
        return names
    has_gold = private.exists()
    private.mkdir(exist_ok=True)
    for name, chunks in files:
        # Of a withheld split its gold stands there under the same name.
        if not (private / name).exists():
            release_folder.put(private, name, chunks)
    copy_rankings(collection, private)
    if not has_gold:
        release_folder.put(private, CARD, [CLOSED_CARD.encode()])
    release_folder.write_sums(private)
    return []


def _describe(facts: Facts, made: Path, private: Path, n_votes: int) -> dict[str, Any]:
    """Write card, metadata, manifest and checksums; returns the counts."""
    collection, outcomes = facts.collection, facts.outcomes
    for name, text in files_of(facts.tables):
        release_folder.put(made, f"{FOLDER}/{name}", [text.encode()])
    release_folder.put(made, CARD, [card(facts).encode()])
    counts = {
        "questions": dict(facts.kept),
        "dropped": outcomes.number("dropped"),
        "waiting": outcomes.number("waiting"),
        "votes": n_votes,
    }
    described = croissant.metadata(facts, release_folder.digests(made))
    release_folder.put(made, croissant.FILE, [described])
    value = _manifest(collection, counts, release_folder.digests(made))
    if facts.secret:
        # Another answer makes another release, and nobody can guess at answers by it.
        sums = json.dumps(release_folder.digests(private), sort_keys=True)
        seal = keyed_digest(collection.pseudonym_key, sums)
        value |= {"seed": None, "withheld": {"splits": facts.secret, "seal": seal}}
    release_folder.put(made, MANIFEST, [_as_json(value)])
    release_folder.write_sums(made)
    # What the card says of simulated work stands on the release's page too, and what it lacks.
    return {**counts, "simulated": outcomes.simulated(), "not_said": not_said(facts.said)}


def _write_private(
    collection: Collection,
    private: Path,
    export: Any,
    by_split: Mapping[str, Iterable[SeedRecord]],
    spool: Spool,
) -> None:
    """Write what is withheld, where the protocol withholds anything that is there."""
    withheld = export.WITHHELD
    secret = {name: seeds for name, seeds in by_split.items() if name in withheld}
    for name, chunks in export.gold(secret) if secret else ():
        private.mkdir(exist_ok=True)
        release_folder.put(private, name, chunks)
    if private.exists():
        n_votes = row_tables.write_votes(
            private / row_tables.VOTES_FILE, withheld_records(spool.seeds(), withheld)
        )
        release_folder.put(private, CARD, [PRIVATE_CARD.encode()])
        value = _manifest(collection, {"votes": n_votes}, release_folder.digests(private))
        release_folder.put(private, MANIFEST, [_as_json(value)])
        release_folder.write_sums(private)


def _splits(collection: Collection, export: Any, spool: Spool) -> dict[str, Iterable[SeedRecord]]:
    """Return the splits to write: the protocol's, or those that were read from files.

    A layout may hold all its splits in one file; what was read tells then which there are.
    """
    names = list(export.SPLITS)
    files = list(collection.official_files.all())
    if files:
        of_files = [file.split for file in files if file.split]
        placed = SplitAssignment.objects.filter(question__stage__collection=collection)
        found = set(placed.values_list("split", flat=True)) if not of_files else set()
        names = of_files or [name for name in names if name in found]
    return {name: spool.of_split(name) for name in names}


def _articles(
    collection: Collection, export: ExportModule, by_split: Mapping[str, Iterable[SeedRecord]]
) -> Iterator[ArticleRecord] | None:
    """Return the articles that released passages link to; None where the files read had none.

    Where the protocol releases its whole corpus, all articles of that.
    """
    files = collection.official_files.all()
    if files and all(file.split for file in files):
        return None
    if export.WHOLE_CORPUS:
        return all_articles(collection)
    titles: set[str] = set()
    for seeds in by_split.values():
        titles.update(linked_titles(seeds))
    return articles_of(collection, sorted(titles))


def _manifest(
    collection: Collection, counts: dict[str, Any], digests: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    corpus = collection.corpus
    return {
        "collection": collection.slug,
        "title": collection.title,
        "protocol": collection.protocol,
        "protocol_version": collection.protocol_version,
        "seed": collection.random_seed,
        "corpus": {
            "name": corpus.name,
            "language": corpus.language,
            "source": corpus.source,
            "licence": corpus.licence_name,
            "licence_url": corpus.licence_url,
            **({"other_licences": others} if (others := contradictions(corpus)) else {}),
        },
        "parameters": collection.parameters,
        "changes": changes(collection),
        "counts": counts,
        "files": digests,
    }


def _as_json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True).encode() + b"\n"
