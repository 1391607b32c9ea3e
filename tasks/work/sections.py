"""The section a dialog is about, as the teacher reads it, and what the student may know of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from collector.ingest.segmentation import tokens
from collector.models import Seed
from common.committed_cache import kept_once_committed
from tasks.work.dialog_rules import Token


@dataclass(frozen=True)
class Section:
    """A section with its article's beginning.

    tokens: (start, end, whether it is a word) in `text`; what has no letter or digit is none.
    paragraphs: (start, end) of each in `text`.
    """

    title: str
    heading: str
    background: str
    text: str
    tokens: tuple[Token, ...]
    paragraphs: tuple[tuple[int, int], ...]
    language: str
    direction: str


# More than a process has dialogs: to split a section into its tokens takes milliseconds.
@kept_once_committed(1024)
def section_of(seed_id: int) -> Section:
    """Return a seed's section; the first of its paragraphs is the article's, the background."""
    seed = Seed.objects.select_related("collection__corpus").get(pk=seed_id)
    rows = seed.seed_paragraphs.select_related("paragraph__article", "paragraph__section")
    first, *others = [each.paragraph for each in rows.order_by("position")]
    corpus = seed.collection.corpus
    text = section_text([paragraph.text for paragraph in (first, *others)])
    return Section(
        title=first.article.title,
        heading=others[0].section.heading,
        background=first.text,
        text=text,
        tokens=tuple(
            (start, end, any(map(str.isalnum, text[start:end])))
            for start, end in tokens(text, corpus.language)
        ),
        paragraphs=tuple(_paragraphs([paragraph.text for paragraph in others])),
        language=corpus.language,
        direction=corpus.direction,
    )


def _paragraphs(texts: list[str]) -> Iterator[tuple[int, int]]:
    """Yield where each paragraph stands in the section, as `section_text` joins them."""
    start = 0
    for text in texts:
        yield start, start + len(text)
        start += len(text) + 1


def section_text(texts: Sequence[str]) -> str:
    """Return the section's text, to which every offset refers: its paragraphs, a blank between.

    texts: those of the seed's paragraphs in order, the background first.
    """
    return " ".join(texts[1:])
