"""Finds the retrieval index of a corpus, a file that is built where it is missing."""

import hashlib
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.db.models import Max

from collector.array_files import exclusive_folder, put_in_place
from collector.graph.files import corpus_version
from collector.graph.pages import first_paragraphs
from collector.models import Corpus, Paragraph
from collector.models.corpus import CorpusState
from collector.retrieval.file_format import VERSION, RetrievalError
from collector.retrieval.index import Index
from collector.retrieval.index_builder import Progress, build
from collector.retrieval.terms import parted, parts_no_words
from common.command_line import MANAGE
from common.safe_files import inside

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

    Whoever dies half-way leaves nothing that is read: the file is written aside and renamed.
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
