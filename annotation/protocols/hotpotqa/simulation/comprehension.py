"""What a simulated worker finds in two paragraphs: answers to ask for, and what proves them."""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.protocols.hotpotqa.advice import without_brackets

Paragraph = Mapping[str, Any]
CAPITAL = re.compile(r"^[^\W\d_]")
# How many words before an answer a question quotes.
LEFT, RIGHT = 5, 4


@dataclass(frozen=True)
class FoundAnswer:
    """Words of one sentence, with those before and after them in it."""

    paragraph: Paragraph
    sentence: int
    start: int
    end: int
    left: str
    right: str

    @property
    def text(self) -> str:
        """Return the words."""
        return str(self.paragraph["text"][self.start : self.end])

    @property
    def kind(self) -> str:
        """Return what one would call the words: a year, a number or a name."""
        if re.fullmatch(r"1[0-9]{3}|20[0-9]{2}", self.text):
            return "year"
        return "number" if self.text[0].isdigit() else "name"

    def answer(self) -> dict[str, Any]:
        """Return the words as the page sends an answer."""
        span = {"document": self.paragraph["document"], "start": self.start, "end": self.end}
        return {"type": "span", "spans": [span]}


def answers_in(paragraph: Paragraph, most_words: int) -> list[FoundAnswer]:
    """Return every number and every run of words with capitals, but for first words and titles."""
    title = without_brackets(paragraph["title"]).casefold()
    found = []
    for number, (start, end) in enumerate(paragraph["sentences"]):
        tokens = [one for one in paragraph["tokens"] if start <= one[0] and one[1] <= end]
        for first, last in _runs(paragraph["text"], tokens):
            run = _found(paragraph, number, tokens, first, last)
            if first and last - first < most_words and run.text.casefold() not in title:
                found.append(run)
    return found


def _runs(text: str, tokens: Sequence[tuple[int, int, bool]]) -> list[tuple[int, int]]:
    """Return (first, last) of the runs of tokens that could be an answer."""
    runs: list[tuple[int, int]] = []
    for place, (start, end, is_word) in enumerate(tokens):
        word = text[start:end]
        if word[0].isdigit():
            runs.append((place, place))
        elif is_word and word[0].isupper() and CAPITAL.match(word):
            joins = runs and runs[-1][1] == place - 1 and text[tokens[place - 1][0]].isupper()
            runs = [*runs[:-1], (runs[-1][0], place)] if joins else [*runs, (place, place)]
    return runs


def _found(
    paragraph: Paragraph,
    sentence: int,
    tokens: Sequence[tuple[int, int, bool]],
    first: int,
    last: int,
) -> FoundAnswer:
    text = paragraph["text"]
    before, after = tokens[max(0, first - LEFT) : first], tokens[last + 1 : last + 1 + RIGHT]
    start, end = tokens[first][0], tokens[last][1]
    left = text[before[0][0] : before[-1][1]] if before else ""
    right = text[after[0][0] : after[-1][1]] if after else ""
    return FoundAnswer(paragraph, sentence, start, end, left, right)


def mention(paragraph: Paragraph, title: str) -> int:
    """Return the first sentence that names the title, or shares most words with it, else 0."""
    wanted = set(without_brackets(title).casefold().split())
    shared = [
        len(wanted & set(paragraph["text"][start:end].casefold().split()))
        for start, end in paragraph["sentences"]
    ]
    return max(range(len(shared)), key=shared.__getitem__)


def own_name(paragraph: Paragraph) -> tuple[int, int]:
    """Return where the paragraph names what it is about; its first word where it does not."""
    text, tokens = paragraph["text"], paragraph["tokens"]
    name = without_brackets(paragraph["title"])
    starts, ends = {one[0] for one in tokens}, {one[1] for one in tokens}
    at = text.find(name)
    if at in starts and at + len(name) in ends:
        return at, at + len(name)
    return next(((start, end) for start, end, is_word in tokens if is_word), tuple(tokens[0][:2]))


def has_year(paragraph: Paragraph) -> bool:
    """Return whether the paragraph names a year."""
    return re.search(r"\b(?:1[0-9]{3}|20[0-9]{2})\b", paragraph["text"]) is not None


def year_fact(paragraph: Paragraph) -> list[int]:
    """Return the sentence that names a year, else the first, as a fact."""
    for number, (start, end) in enumerate(paragraph["sentences"]):
        if re.search(r"\b(?:1[0-9]{3}|20[0-9]{2})\b", paragraph["text"][start:end]):
            return [int(paragraph["document"]), number]
    return [int(paragraph["document"]), 0]


def any_words(paragraph: Paragraph, rng: random.Random) -> dict[str, Any]:
    """Return some word of the paragraph as an answer."""
    start, end, _ = rng.choice([one for one in paragraph["tokens"] if one[2]])
    span = {"document": paragraph["document"], "start": start, "end": end}
    return {"type": "span", "spans": [span]}
