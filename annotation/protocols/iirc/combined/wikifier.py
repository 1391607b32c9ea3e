"""Finds links in plain text by the titles and anchors of a corpus, and measures itself on it.

A piece of text leads where most links with these words lead, if it is a link often enough among
all its occurrences (link probability, Mihalcea and Csomai 2007); of pieces that overlap the longest
is taken from the left, and of each article the first mention, as in Wikipedia.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from annotation.protocols.iirc.dataset_tree import Link

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
