"""Real prose with pairs planted in it that share one name, a citation or a rare word."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from collector.seeds.passage_sets import Passage

MIN_CHARACTERS, MAX_CHARACTERS = 200, 2500
PER_DOCUMENT = 6
# What two passages say of one person, house or device; the rest of each is real.
FIRST = (
    "In the end the drainage was left to {name}, who asked for two horses and a dry shed.",
    "A brass clock and eleven chairs are entered under the heading of {name}.",
    "The last timetable still lists {name} at the foot of the page.",
    "The report recommends it and says that the drawings came from {name}.",
)
SECOND = (
    "The largest sum on the subscription list stands against {name}.",
    "A short obituary calls {name} the most stubborn correspondent of all.",
    "The map of that year is the first to show {name} where the old ford was.",
    "The catalogue credits {name} with the idea and a joiner with the work.",
)
CITES = ("Whoever wants the figures will find them in {name}, year by year.",)
ONSETS = "b br d dr f g gr h k l m n p r s st t th v w".split()
NUCLEI = "a e i o u ai ea or ar el".split()
CODAS = "l m n nd r rk s st th x".split()
PLACES = "Mill Bridge House Yard Lodge Works Chapel Quay Barn Tower".split()
COMMON = "Morning Silver Winter Second Garden Captain Evening Little Broken Summer".split()


@dataclass
class Planted:
    """Passages in the order of documents, their names, and the numbers of what was planted."""

    passages: list[Passage] = field(default_factory=list)
    names: list[list[str]] = field(default_factory=list)
    pairs: list[tuple[int, int]] = field(default_factory=list)
    citations: list[tuple[int, int]] = field(default_factory=list)


def prose(folder: Path) -> list[list[str]]:
    """Return the paragraphs of each book, those of a fit length."""
    books = []
    for path in sorted(folder.glob("*.txt")):
        whole = path.read_text("utf-8", "replace").replace("\r", "")
        # Every one has the same licence.
        text = whole.partition("*** START")[2].partition("*** END")[0]
        paragraphs = [" ".join(each.split()) for each in text.split("\n\n")]
        books.append([p for p in paragraphs if MIN_CHARACTERS <= len(p) <= MAX_CHARACTERS])
    return books


def plant(
    sources: Sequence[Sequence[str]], n_documents: int, n_pairs: int, n_cited: int, seed: int
) -> Planted:
    """Return documents cut from real texts, pairs planted into different ones.

    Of half of the pairs the name is of words that the texts have themselves.
    """
    rng = random.Random(seed)
    documents = rng.sample(_cut(sources), n_documents)
    names = [[f"Papers {number}"] for number in range(n_documents)]
    free = list(range(n_documents))
    rng.shuffle(free)
    found, names_of_pairs = Planted(names=names), _names(rng)
    places: list[tuple[tuple[int, int], tuple[int, int]]] = []
    for number in range(n_pairs + n_cited):
        one, other = free.pop(), free.pop()
        name = next(names_of_pairs)
        sentences = [rng.choice(FIRST).format(name=name), rng.choice(SECOND).format(name=name)]
        if number >= n_pairs:
            name = f"The {_word(rng)} {rng.choice(PLACES)} Accounts"
            names[other] = [name]
            sentences = [CITES[0].format(name=name), ""]
        at = [rng.randrange(len(documents[document])) for document in (one, other)]
        for document, place, sentence in zip((one, other), at, sentences, strict=True):
            documents[document][place] = f"{documents[document][place]} {sentence}".strip()
        places.append(((one, at[0]), (other, at[1])))
    starts = [0]
    for number, texts in enumerate(documents):
        found.passages += [Passage(number, number, text) for text in texts]
        starts.append(len(found.passages))
    numbered = [
        (starts[one] + here, starts[other] + there) for (one, here), (other, there) in places
    ]
    found.pairs, found.citations = numbered[:n_pairs], numbered[n_pairs:]
    return found


def _cut(texts: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return all texts in pieces of paragraphs that follow one another."""
    return [
        list(text[start : start + PER_DOCUMENT])
        for text in texts
        for start in range(0, len(text) - PER_DOCUMENT + 1, PER_DOCUMENT)
    ]


def _names(rng: random.Random) -> Iterator[str]:
    """Yield names, none twice, every other one of words that are words of all texts."""
    known = [f"{first} {second}" for first in COMMON for second in PLACES]
    rng.shuffle(known)
    for name in known:
        yield f"{_word(rng)} {_word(rng)}"
        yield name


def _word(rng: random.Random) -> str:
    syllables = (rng.choice(ONSETS) + rng.choice(NUCLEI) for _ in range(2))
    return ("".join(syllables) + rng.choice(CODAS)).capitalize()
