"""The texts that an answer may be marked in, and texts laid out so that known places are true."""

from collections.abc import Iterable, Mapping
from typing import Any

MAIN, QUESTION = "main", "question"
FILLER = "·"
# Beyond this an article would be mostly filler.
MOST_CHARACTERS = 200_000


class Documents:
    """What one question's answer may quote: question, paragraph, and articles opened on demand."""

    def __init__(self, item: Mapping[str, Any], open_article: Any) -> None:
        self._item, self._open = item, open_article
        self._texts = {MAIN: item["passage"]["text"], QUESTION: item["question"]}
        titles = [link["title"] for link in item["passage"]["links"]]
        self._linked = set(titles)
        # Official files write the article of an answer in lower case.
        self._titles = {title.casefold(): title for title in reversed(titles)}

    def text(self, name: str) -> str | None:
        """Return a document's text, None for an article that cannot be opened."""
        if name not in self._texts:
            page = self._open(self._item["id"], name) if name in self._linked else None
            self._texts[name] = joined(page) if page else ""
        return self._texts[name] or None

    def name(self, written: str) -> str:
        """Return a document's name as the page has it."""
        if written in self._linked:
            return written
        if written.casefold() in (MAIN, QUESTION):
            return written.casefold()
        return self._titles.get(written.casefold(), written)

    def span(self, written: str, text: str, start: int, end: int) -> dict[str, Any] | None:
        """Return the span as the page sends it: where it is said to be, else where it stands."""
        name = self.name(written)
        document = self.text(name)
        if document is None or not text.strip():
            return None
        if not (0 <= start < end and document[start:end] == text):
            start = document.find(text)
            end = start + len(text)
        return {"document": name, "start": start, "end": end} if start >= 0 else None


def joined(page: Mapping[str, Any]) -> str:
    """Return an opened article's text, in which its paragraphs stand at their places."""
    text = ""
    for section in page["sections"]:
        for paragraph in section["paragraphs"]:
            text = text.ljust(paragraph["start"]) + paragraph["text"]
    return text


def laid_out(pieces: Iterable[tuple[int, str]]) -> list[str]:
    """Return paragraphs that, joined by newlines, have each piece at its place where it can be.

    pieces: (start, text); one whose place is taken by other words comes after all others.
    """
    letters: dict[int, str] = {}
    homeless = []
    for start, text in sorted(set(pieces), key=lambda piece: (-len(piece[1]), piece)):
        places = range(start, start + len(text))
        fits = start >= 0 and start + len(text) <= MOST_CHARACTERS
        if fits and all(
            letters.get(at, letter) == letter for at, letter in zip(places, text, strict=True)
        ):
            letters.update(zip(places, text, strict=True))
        else:
            homeless.append(text)
    laid = _gaps_filled(letters)
    homeless = [text for text in homeless if text not in laid]
    return [*(laid.split("\n") if laid else []), *(" ".join(text.split("\n")) for text in homeless)]


def _gaps_filled(letters: Mapping[int, str]) -> str:
    text = ""
    for at in sorted(letters):
        gap = at - len(text)
        if gap:
            text += " " if gap == 1 else f" {FILLER * (gap - 2)} "
        text += letters[at]
    return text
