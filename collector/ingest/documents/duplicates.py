"""Says which documents of a corpus have the same text, or nearly the same."""

from collections.abc import Iterator, Set
from hashlib import sha256
from itertools import groupby

from collector.models import Corpus, Paragraph
from collector.retrieval.near_duplicates import alike

# Of the neighbouring words, by signatures: a later version of a text has as many of the earlier
# one's; two texts of their own on one subject have a tenth at most.
NEARLY = 0.8
NAMED = 5


def duplicates(corpus: Corpus, new: Set[str]) -> Iterator[str]:
    """Yield a sentence for each group of documents that are alike and of which one is `new`.

    Reads the whole corpus once; the work grows with its text.
    """
    names, same_text = list[str](), dict[bytes, int]()
    first_of: list[int] = []

    def read() -> Iterator[str]:
        for name, text in _texts(corpus):
            first_of.append(same_text.setdefault(sha256(text.encode()).digest(), len(names)))
            names.append(name)
            yield text

    groups: dict[int, list[int]] = {}
    for number, group in enumerate(alike(read(), NEARLY)):
        groups.setdefault(group, []).append(number)
    for numbers in groups.values():
        if len(numbers) > 1 and not new.isdisjoint(names[number] for number in numbers):
            is_equal = len({first_of[number] for number in numbers}) == 1
            are = "have the same text" if is_equal else "are nearly the same"
            yield f"{_listed([names[number] for number in numbers])} {are}: is one of them enough?"


def _texts(corpus: Corpus) -> Iterator[tuple[str, str]]:
    """Yield the id of each document with a text that stands for its words and their order."""
    rows = (
        Paragraph.objects.filter(article__corpus=corpus)
        .order_by("article__page_id", "position")
        .values_list("article__document__external_id", "text")
    )
    for name, paragraphs in groupby(rows.iterator(chunk_size=2000), key=lambda row: row[0]):
        yield name, "\n".join(text for _, text in paragraphs)


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if names[NAMED:] else ""
    if more or len(names) == 1:
        return ", ".join(names[:NAMED]) + more
    return f"{', '.join(names[:-1])} and {names[-1]}"
