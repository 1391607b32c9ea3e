"""Finds the retrieval index of a corpus, which is built where it is missing."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import Max

from collector.array_files import Columns, column, exclusive_folder, numpy, put_in_place
from collector.graph.files import corpus_version, first_paragraphs
from collector.models import Corpus, Paragraph
from collector.models.corpus import CorpusState
from collector.retrieval import index
from collector.retrieval.index import (
    KEY_BITS,
    MANY,
    REST_BITS,
    SEPARATOR,
    VERSION,
    Index,
    RetrievalError,
    Vocabulary,
    table_bits,
)
from collector.retrieval.terms import parted, parts_no_words, words
from common.command_line import MANAGE
from common.safe_files import inside

TEXT_BITS = 14
TEXTS_AT_ONCE = 1 << TEXT_BITS
PART_BITS = 6
KEYS_AT_ONCE = 1 << 20

Progress = Callable[[str, float], object]


class _Postings(NamedTuple):
    """Of some texts: how often each n-gram is in each, ordered by key, then by text."""

    keys: Any
    texts: Any
    counts: Any


def build(
    folder: Path,
    texts: Iterable[tuple[int, str]],
    *,
    progress: Progress = lambda what, share: None,
) -> Path:
    """Write the index of (id, text) into the empty `folder` and return its path.

    The bytes depend on the input alone. Memory: about 150 bytes for each different word, and a
    64th of the postings at a time. Raises RetrievalError where there are too many of them.
    """
    vocabulary = Vocabulary()
    edges = numpy.arange((1 << PART_BITS) + 1, dtype="<u8") << (KEY_BITS - PART_BITS)
    n_texts = 0
    remaining = iter(texts)
    with Columns(folder) as columns:
        while batch := list(islice(remaining, TEXTS_AT_ONCE)):
            columns.add("ids", numpy.array([each for each, _ in batch], "<i8"))
            postings = _postings([text for _, text in batch], vocabulary)
            cuts = numpy.searchsorted(postings.keys, edges)
            for part in range(1 << PART_BITS):
                here = slice(cuts[part], cuts[part + 1])
                columns.add(f"keys-{part}", postings.keys[here])
                columns.add(f"texts-{part}", postings.texts[here] + numpy.int32(n_texts))
                columns.add(f"counts-{part}", postings.counts[here])
            n_texts += len(batch)
            progress(f"{n_texts:,} first paragraphs", 0.0)
    parts = range(1 << PART_BITS)
    n_postings = sum(len(column(folder, f"texts-{part}", "<i4")) for part in parts)
    if n_postings >> REST_BITS:
        raise RetrievalError("The corpus has more n-grams than an index can hold: split it.")
    with Columns(folder) as columns:
        for part in parts:
            keys = column(folder, f"keys-{part}", "<u8")
            # Texts are in order already.
            order = numpy.argsort(keys, kind="stable")
            counts = column(folder, f"counts-{part}", "<u4")[order]
            keys = keys[order]
            firsts = numpy.flatnonzero(numpy.diff(keys, prepend=~keys[:1]))
            often = numpy.flatnonzero(counts >= MANY)
            columns.add("keys", keys[firsts])
            columns.add("lengths", numpy.diff(firsts, append=len(keys)).astype("<u4"))
            columns.add("often_at", (often + columns.size("counts")).astype("<u4"))
            columns.add("often", counts[often])
            columns.add("texts", column(folder, f"texts-{part}", "<i4")[order])
            columns.add("counts", numpy.minimum(counts, MANY).astype("<u1"))
            progress("n-grams in order", (part + 1) / len(parts))
    keys = column(folder, "keys", "<u8")
    n_often = len(column(folder, "often", "<u4"))
    path = folder / "index"
    arrays = index.create(path, n_texts, len(keys), n_postings, n_often)
    for name in ("ids", "texts", "counts", "often_at", "often"):
        arrays[name][:] = column(folder, name, arrays[name].dtype.str)
    arrays["starts"][1:] = column(folder, "lengths", "<u4").cumsum(dtype="<u4")
    bits = table_bits(len(keys))
    n_before = numpy.zeros(1 << bits, "<i8")
    for start in range(0, len(keys), KEYS_AT_ONCE):
        some = keys[start : start + KEYS_AT_ONCE]
        prefixes = (some >> (KEY_BITS - bits)).astype("<i8")
        n_before += numpy.bincount(prefixes, minlength=1 << bits)
        arrays["rests"][start : start + len(some)] = some >> (KEY_BITS - bits - REST_BITS) & (
            (1 << REST_BITS) - 1
        )
    arrays["firsts"][1:] = n_before.cumsum()
    return path


def _postings(texts: list[str], vocabulary: Vocabulary) -> _Postings:
    """Return the postings of these texts, numbered from 0."""
    numbers: list[int] = []
    ends = []
    for text in texts:
        numbers.extend(map(vocabulary.__getitem__, words(text)))
        numbers.append(SEPARATOR)
        ends.append(len(numbers))
    flat = numpy.array(numbers, "<u8")
    of_text = numpy.repeat(numpy.arange(len(texts), dtype="<u8"), numpy.diff([0, *ends]))
    kept = flat != SEPARATOR
    paired = kept[:-1] & kept[1:]
    pairs = flat[:-1][paired] << 32 | flat[1:][paired]
    single, which_single = numpy.unique(flat[kept], return_inverse=True)
    double, which_double = numpy.unique(pairs, return_inverse=True)
    keys = numpy.concatenate(
        [
            vocabulary.keys_of_words(single),
            vocabulary.keys_of_pairs(double >> 32, double & ((1 << 32) - 1)),
        ]
    )
    order = numpy.argsort(keys, kind="stable")
    rank = numpy.empty(len(keys), "<u8")
    rank[order] = numpy.arange(len(keys), dtype="<u8")
    found = numpy.concatenate([rank[which_single], rank[which_double + len(single)]])
    places = numpy.concatenate([of_text[kept], of_text[:-1][paired]])
    postings, counts = numpy.unique(found << TEXT_BITS | places, return_counts=True)
    texts_of = (postings & ((1 << TEXT_BITS) - 1)).astype("<i4")
    return _Postings(keys[order][postings >> TEXT_BITS], texts_of, counts.astype("<u4"))


# A larger corpus is built by the command, in a process of its own.
BUILT_ON_DEMAND = 50_000


def index_of(corpus: Corpus) -> Index:
    """Return the index of the corpus as it is now; of a small corpus, it is built when missing.

    Raises RetrievalError saying which command to run for a large one.
    """
    path = path_of(corpus)
    if not path.exists():
        if corpus.articles.count() > BUILT_ON_DEMAND:
            raise RetrievalError(
                f"The first paragraphs of {corpus.slug} have not been indexed on this machine: run "
                f"{MANAGE} build_index {corpus.slug}, then try again."
            )
        build_index(corpus)
    return _opened(path, corpus.language)


def path_of(corpus: Corpus) -> Path:
    """Return where the file is, or would be; its name changes with what it is made of."""
    by = "-characters" if parts_no_words(corpus.language) else ""
    return folder_of(corpus) / f"{state_of(corpus)}-{VERSION}{by}.index"


def state_of(corpus: Corpus) -> str:
    """Return 16 digits that change with the articles of the corpus and with their rows."""
    # Rows of another database have other ids; a document that is read again gets new ones.
    last = corpus.articles.aggregate(last=Max("pk"))["last"]
    told = f"{corpus_version(corpus)}:{last}"
    if removed := corpus.counts.get("removed"):
        told += f":{removed} removed"
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def build_index(
    corpus: Corpus, *, progress: Progress = lambda what, share: None
) -> tuple[Path, bool]:
    """Build the index unless it is there; return its file and whether it was built.

    A killed process leaves nothing that is read: the file is written aside and renamed.
    Raises RetrievalError for a corpus that is not read to its end.
    """
    if corpus.state != CorpusState.READY:
        raise RetrievalError(
            f"The corpus {corpus.slug} is not ready: run its ingest_dump again to the end first."
        )
    with exclusive_folder(folder_of(corpus) / "building") as folder:
        target = path_of(corpus)
        if target.exists():
            return target, False
        old = list(folder_of(corpus).glob("*.index"))
        put_in_place(build(folder, _texts(corpus), progress=progress), target)
        for path in old:
            path.unlink(missing_ok=True)
        return target, True


def _texts(corpus: Corpus) -> Iterator[tuple[int, str]]:
    """Yield the id and the text of each first paragraph, in the order of page ids."""
    prepare = _prepare(corpus.language)
    for batch in first_paragraphs(corpus):
        wanted = [page.paragraph for page in batch if page.paragraph is not None]
        texts = dict(Paragraph.objects.filter(pk__in=wanted).values_list("pk", "text"))
        yield from ((each, prepare(texts[each])) for each in wanted)


def folder_of(corpus: Corpus) -> Path:
    """Return the folder of the corpus's index."""
    return inside(Path(settings.HOME) / "retrieval", corpus.slug)


def _prepare(language: str) -> Callable[[str], str]:
    """Return what is done to texts and questions so that n-grams are of words, or characters."""
    return parted if parts_no_words(language) else str


@lru_cache(maxsize=8)
def _opened(path: Path, language: str) -> Index:
    return Index(path, _prepare(language))
