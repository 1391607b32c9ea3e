"""Searches all paragraphs of a corpus; the index is a file that is built where it is missing."""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from collector.array_files import exclusive_folder, put_in_place
from collector.models import Corpus, Paragraph
from collector.models.article import ArticleKind
from collector.models.corpus import CorpusKind, CorpusState
from collector.retrieval.file_format import RetrievalError
from collector.retrieval.files import folder_of, state_of
from collector.retrieval.passage_index import VERSION, PassageIndex, Progress, build
from common.command_line import MANAGE


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
