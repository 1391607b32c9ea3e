"""An index of all paragraphs of a corpus: built where it is missing, searched by BM25."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from collector import array_files
from collector.array_files import (
    ArraysError,
    Columns,
    column,
    exclusive_folder,
    numpy,
    put_in_place,
)
from collector.models import Corpus, Paragraph
from collector.models.corpus import ArticleKind, CorpusKind, CorpusState
from collector.retrieval.files import folder_of, state_of
from collector.retrieval.index import RetrievalError, SearchHit
from collector.retrieval.terms import terms
from common.command_line import MANAGE

VERSION = 1
# BM25's, as Lucene has them.
K1, B = 1.2, 0.75
TEXT_BITS = 14
TEXTS_AT_ONCE = 1 << TEXT_BITS
MOST = (1 << 16) - 1

Progress = Callable[[str, float], object]


class _Batch(NamedTuple):
    """Where the postings of some texts lie in the columns."""

    start: int
    end: int


class PassageIndex:
    """Texts by number from 0; `ids[text]` is the id it was built with.

    Ties are in the order of texts. No score depends on other terms than the query's.
    """

    def __init__(self, path: Path) -> None:
        """Map the file; raises RetrievalError."""
        try:
            mapped = array_files.read(path, _holds())
        except ArraysError as error:
            raise RetrievalError(f"{error}: delete it; it is built again.") from None
        self.ids: Any = mapped["ids"]
        self.n_texts = len(self.ids)
        self._lengths: Any = mapped["lengths"]
        self._norms: Any = mapped["norms"]
        self._words: Any = mapped["words"]
        self._word_at: Any = mapped["word_at"]
        self._starts: Any = mapped["starts"]
        self._texts: Any = mapped["texts"]
        self._counts: Any = mapped["counts"]
        self.n_terms = len(self._starts) - 1
        self._mean_length = max(float(self._lengths.mean()) if self.n_texts else 0.0, 1.0)

    def search(self, query: str, k: int) -> list[SearchHit]:
        """Return the k texts of the highest BM25 scores above 0, best first.

        A term that a query has twice counts twice. Robertson and Zaragoza 2009, equation 3.15, with
        an idf of ln(1 + (N - n + .5) / (n + .5)), which is never negative.
        """

        def weight(texts: Any, counts: Any, n_times: int) -> Any:
            idf = math.log1p((self.n_texts - len(texts) + 0.5) / (len(texts) + 0.5))
            length = 1 - B + B * self._lengths[texts] / self._mean_length
            return n_times * idf * counts * (K1 + 1) / (counts + K1 * length)

        return self._best(query, k, weight)

    def search_tf_idf(self, query: str, k: int) -> list[SearchHit]:
        """Return the k texts whose tf-idf vectors are nearest to the query's by cosine, best first.

        Weights are (1 + ln count) × (1 + ln((1 + N) / (1 + n))); the query's length is left out.
        """

        def weight(texts: Any, counts: Any, n_times: int) -> Any:
            idf = _idf(self.n_texts, len(texts))
            own = (1 + math.log(n_times)) * idf
            return own * (1 + numpy.log(counts)) * idf / self._norms[texts]

        return self._best(query, k, weight)

    def n_with(self, term: str) -> int:
        """Return how many texts have a term."""
        return len(self._postings(term)[0])

    def _best(self, query: str, k: int, weight: Callable[[Any, Any, int], Any]) -> list[SearchHit]:
        scores = numpy.zeros(self.n_texts)
        # Sums of floats depend on their order, which no hash may decide.
        for term, n_times in sorted(Counter(terms(query)).items()):
            texts, counts = self._postings(term)
            if len(texts):
                scores[texts] += weight(texts, counts.astype("<f8"), n_times)
        found = numpy.flatnonzero(scores)
        if len(found) > k:
            least = numpy.partition(scores[found], len(found) - k)[len(found) - k]
            found = found[scores[found] >= least]
        order = numpy.argsort(-scores[found], kind="stable")[:k]
        return [SearchHit(int(found[each]), float(scores[found[each]])) for each in order]

    def _postings(self, term: str) -> tuple[Any, Any]:
        """Return the texts that have the term, ascending, and how often each has it."""
        wanted = term.encode()
        low, high = 0, self.n_terms
        while low < high:
            middle = (low + high) // 2
            if self._word(middle) < wanted:
                low = middle + 1
            else:
                high = middle
        if low == self.n_terms or self._word(low) != wanted:
            return self._texts[:0], self._counts[:0]
        start, end = int(self._starts[low]), int(self._starts[low + 1])
        return self._texts[start:end], self._counts[start:end]

    def _word(self, number: int) -> bytes:
        start, end = self._word_at[number : number + 2]
        return bytes(self._words[start:end])


def build(
    folder: Path,
    texts: Iterable[tuple[int, str]],
    *,
    progress: Progress = lambda what, share: None,
) -> Path:
    """Write the index of (id, text) into the empty `folder` and return its path.

    The bytes depend on the input alone. Memory: about 150 bytes for each different term.
    """
    numbers: dict[str, int] = {}
    batches: list[_Batch] = []
    remaining, n_texts, n_postings = iter(texts), 0, 0
    with Columns(folder) as columns:
        while some := list(islice(remaining, TEXTS_AT_ONCE)):
            found = [
                [numbers.setdefault(term, len(numbers)) for term in terms(text)] for _, text in some
            ]
            lengths = numpy.array([len(each) for each in found], "<u4")
            flat = numpy.array([number for each in found for number in each], "<u8")
            of_text = numpy.repeat(numpy.arange(len(some), dtype="<u8"), lengths)
            postings, counts = numpy.unique(flat << TEXT_BITS | of_text, return_counts=True)
            columns.add("ids", numpy.array([each for each, _ in some], "<i8"))
            columns.add("lengths", lengths)
            columns.add("terms", (postings >> TEXT_BITS).astype("<u4"))
            columns.add("texts", (postings & (TEXTS_AT_ONCE - 1)).astype("<i4") + n_texts)
            columns.add("counts", numpy.minimum(counts, MOST).astype("<u2"))
            batches.append(_Batch(n_postings, n_postings + len(postings)))
            n_texts, n_postings = n_texts + len(some), n_postings + len(postings)
            progress(f"{n_texts:,} paragraphs", 0.0)
    ids = column(folder, "ids", "<i8")
    of_term = column(folder, "terms", "<u4")
    in_order = sorted((term.encode(), number) for term, number in numbers.items())
    rank = numpy.zeros(len(in_order), "<u4")
    rank[[number for _, number in in_order]] = numpy.arange(len(in_order), dtype="<u4")
    n_with = numpy.zeros(len(in_order), "<i8")
    for batch in batches:
        n_with += numpy.bincount(rank[of_term[batch.start : batch.end]], minlength=len(in_order))
    path = folder / "index"
    arrays = array_files.create(
        path,
        _holds(),
        {
            "ids": ("<i8", len(ids)),
            "lengths": ("<u4", len(ids)),
            "norms": ("<f8", len(ids)),
            "words": ("<u1", sum(len(term) for term, _ in in_order)),
            "word_at": ("<u8", len(in_order) + 1),
            "starts": ("<u8", len(in_order) + 1),
            "texts": ("<i4", len(of_term)),
            "counts": ("<u2", len(of_term)),
        },
    )
    arrays["ids"][:] = ids
    arrays["lengths"][:] = column(folder, "lengths", "<u4")
    arrays["words"][:] = numpy.frombuffer(b"".join(term for term, _ in in_order), "<u1")
    arrays["word_at"][1:] = numpy.cumsum([len(term) for term, _ in in_order], dtype="<u8")
    arrays["starts"][1:] = n_with.cumsum(dtype="<u8")
    # Postings by term, batch by batch; those of a term stay in the order of texts.
    of_text, n_times = column(folder, "texts", "<i4"), column(folder, "counts", "<u2")
    free = arrays["starts"][:-1].astype("<i8")
    idf = _idf(len(arrays["ids"]), n_with)
    squares = numpy.zeros(len(arrays["ids"]))
    for batch in batches:
        here = slice(batch.start, batch.end)
        ranks = rank[of_term[here]]
        order = numpy.argsort(ranks, kind="stable")
        ranks, found, counts = ranks[order], of_text[here][order], n_times[here][order]
        first = numpy.flatnonzero(numpy.diff(ranks.astype("<i8"), prepend=-1))
        lengths = numpy.diff(first, append=len(ranks))
        within = numpy.arange(len(ranks)) - numpy.repeat(first, lengths)
        places = free[ranks] + within
        arrays["texts"][places], arrays["counts"][places] = found, counts
        free[ranks[first]] += lengths
        weights = (1 + numpy.log(counts.astype("<f8"))) * idf[ranks]
        squares += numpy.bincount(found, weights * weights, minlength=len(squares))
    arrays["norms"][:] = numpy.sqrt(numpy.maximum(squares, 1e-300))
    return path


def _idf(n_texts: int, n_with: Any) -> Any:
    return 1 + numpy.log((1 + n_texts) / (1 + n_with))


def _holds() -> str:
    return f"passage index {VERSION}"


class Found(NamedTuple):
    """A paragraph by its row, and its score."""

    paragraph_id: int
    score: float


def search(corpus: Corpus, query: str, k: int) -> list[Found]:
    """Return the k paragraphs that have a query's words by BM25, best first; fewer where few do.

    Titles and headings count as words of their paragraphs. While documents are added, those of
    before are searched. Never builds: raises RetrievalError where `build_passages` was never
    called for the corpus.
    """
    try:
        earlier = [] if path_of(corpus).exists() else _earlier(corpus)
        index = _opened(earlier[-1]) if earlier else passages_of(corpus)
    except (FileNotFoundError, RetrievalError):
        # A newer index may have taken the place of what was there a moment ago.
        index = passages_of(corpus)
    return [Found(int(index.ids[hit.text]), hit.score) for hit in index.search(query, k)]


def passages_of(corpus: Corpus) -> PassageIndex:
    """Return the index of the corpus as it is now; raises RetrievalError where it is not built."""
    path = path_of(corpus)
    if not path.exists():
        raise RetrievalError(
            f"The paragraphs of {corpus.slug} have not been indexed on this machine: run "
            f"{MANAGE} build_index {corpus.slug} --paragraphs, then try again."
        )
    return _opened(path)


def build_passages(
    corpus: Corpus, *, progress: Progress = lambda what, share: None
) -> tuple[Path, bool]:
    """Build the index unless it is there; return its file and whether it was built.

    For jobs and commands: a thousand paragraphs take about a tenth of a second. Whoever dies
    half-way leaves nothing that is read. Raises RetrievalError for a corpus that is being read.
    """
    target = path_of(corpus)
    if target.exists():
        return target, False
    if corpus.state != CorpusState.READY:
        raise RetrievalError(f"The corpus {corpus.slug} is not ready: read its files to the end.")
    with exclusive_folder(folder_of(corpus) / "building-passages") as folder:
        if target.exists():
            return target, False
        old = list(folder_of(corpus).glob("*.passages"))
        put_in_place(build(folder, _texts(corpus), progress=progress), target)
        for path in old:
            path.unlink(missing_ok=True)
        return target, True


def build_again(corpus: Corpus) -> None:
    """Build the index of documents to which others have come, if they had one."""
    if _earlier(corpus):
        build_passages(corpus)


def _earlier(corpus: Corpus) -> list[Path]:
    """Return the indexes there are, the newest last; those that have what was removed are gone.

    None of a corpus of another kind: nothing builds that one's again.
    """
    if corpus.kind != CorpusKind.DOCUMENTS:
        return []
    found = folder_of(corpus).glob(f"*-{VERSION}.passages")
    return sorted(found, key=lambda path: path.stat().st_mtime)


def path_of(corpus: Corpus) -> Path:
    """Return where the file is, or would be; its name changes with what it is made of."""
    return folder_of(corpus) / f"{state_of(corpus)}-{VERSION}.passages"


def _texts(corpus: Corpus) -> Iterator[tuple[int, str]]:
    """Yield the id and the words of each paragraph in an order that no database decides."""
    rows = (
        Paragraph.objects.filter(article__corpus=corpus, article__kind=ArticleKind.ARTICLE)
        .order_by("article__page_id", "position")
        .values_list("pk", "article__title", "section__heading", "text")
    )
    for pk, *words in rows.iterator(chunk_size=2000):
        yield pk, "\n".join(words)


@lru_cache(maxsize=8)
def _opened(path: Path) -> PassageIndex:
    return PassageIndex(path)
