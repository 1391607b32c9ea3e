"""The texts of a question, read together: which two belong together, which sentences tell."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from readers.light.questions import Question
from readers.light.words import STOP, TOKEN, stem, tokens
from readers.reader import Text

if TYPE_CHECKING:
    import numpy

# Code points; shorter titles stand in any text by chance.
SHORTEST_TITLE = 3
# The number of a text's first tokens that say what its title is.
DEFINITION = 30
_LINE = 200


@dataclass(frozen=True)
class Passages:
    """All texts as one row of tokens; `places` of each text's tokens, `first` its first one.

    sentence: of each token, numbered through all texts. of, number: the text of each sentence and
    its number there. hit: which stem of the question a token is, -1 for none. known: sentences x
    stems of the question; titled: texts x these. titles, lowered: of each text, in lower case.
    named: whether the question names the title. links: whether a text names the title of another.
    """

    texts: tuple[Text, ...]
    places: list[list[tuple[int, int]]]
    words: list[str]
    stems: list[str]
    first: list[int]
    sentence: "numpy.ndarray"
    of: "numpy.ndarray"
    number: "numpy.ndarray"
    hit: "numpy.ndarray"
    known: "numpy.ndarray"
    titled: "numpy.ndarray"
    titles: list[str]
    lowered: list[str]
    named: list[bool]
    links: "numpy.ndarray"


def read_passages(texts: tuple[Text, ...], asked: Question) -> Passages:
    """Return the texts' tokens and what each of them knows of the question."""
    import numpy

    places = [tokens(text.text) for text in texts]
    words = [text.text[a:b] for text, row in zip(texts, places, strict=True) for a, b in row]
    stems = [stem(word) for word in words]
    sizes = numpy.array([max(1, len(text.sentences)) for text in texts], dtype=numpy.int64)
    before = numpy.cumsum(sizes) - sizes
    sentence = [
        _sentences(text, row) + start
        for text, row, start in zip(texts, places, before, strict=True)
    ]
    index = {each: at for at, each in enumerate(asked.stems)}
    hit = numpy.array([index.get(each, -1) for each in stems], dtype=numpy.int64)
    spread = numpy.concatenate([numpy.zeros(0, dtype=numpy.int64), *sentence])
    known = numpy.zeros((sizes.sum(), len(index)), dtype=bool)
    known[spread[hit >= 0], hit[hit >= 0]] = True
    titles = [bare_title(text.title).lower() for text in texts]
    lowered = [text.text.lower() for text in texts]
    of = numpy.repeat(numpy.arange(len(texts)), sizes)
    return Passages(
        texts=texts,
        places=places,
        words=words,
        stems=stems,
        first=[0, *numpy.cumsum([len(row) for row in places]).tolist()][:-1],
        sentence=spread,
        of=of,
        number=numpy.arange(len(of)) - before[of],
        hit=hit,
        known=known,
        titled=_table([[each in row for each in asked.stems] for row in map(_content, titles)]),
        titles=titles,
        lowered=lowered,
        named=[names(asked.text, title) for title in titles],
        links=_table([[names(one, title) for title in titles] for one in lowered]),
    )


def bare_title(title: str) -> str:
    """Return a title without what tells it from others of the same name."""
    return title.replace("&amp;", "&").partition(" (")[0]


def names(text: str, title: str) -> bool:
    """Return whether a text, both in lower case, holds the title as whole words."""
    start = text.find(title) if len(title) >= SHORTEST_TITLE else -1
    while start >= 0:
        end = start + len(title)
        if not (text[start - 1 : start].isalnum() or text[end : end + 1].isalnum()):
            return True
        start = text.find(title, start + 1)
    return False


def knowledge(read: Passages) -> "numpy.ndarray":
    """Return texts x stems of the question: which it has in its title or its text."""
    import numpy

    found: numpy.ndarray = read.titled.copy()
    numpy.logical_or.at(found, read.of, read.known)
    return found


def definitions(read: Passages, row: Sequence[str]) -> list[Sequence[str]]:
    """Return the first words, or stems, of each text: what says what its title is."""
    return [
        row[begin : begin + min(DEFINITION, len(places))]
        for begin, places in zip(read.first, read.places, strict=True)
    ]


def likeliest(chances: "numpy.ndarray", number: int) -> "numpy.ndarray":
    """Return the places of the likeliest texts, the likeliest first."""
    import numpy

    found: numpy.ndarray = numpy.argsort(-chances, kind="stable")[:number]
    return found


def partners(chances: "numpy.ndarray") -> "numpy.ndarray":
    """Return for each text the likeliest of the others; itself where it is alone."""
    import numpy

    best = likeliest(chances, 2)
    found = numpy.full(len(chances), best[0] if len(best) else 0)
    found[best[:1]] = best[-1:]
    return found


def pair_features(
    read: Passages, asked: Question
) -> tuple["numpy.ndarray", "numpy.ndarray", "numpy.ndarray"]:
    """Return (one, other, features) of every pair of texts; the one knows more of the question."""
    import numpy

    weights, known = asked.weights, knowledge(read)
    covered = known @ weights
    # What few of the texts know tells more about which of them are meant.
    rare = weights / numpy.maximum(1, known.sum(axis=0))
    rare = rare / (rare.sum() or 1.0)
    alone = known @ rare
    named = numpy.array(read.named, dtype=float)
    share = read.titled.sum(axis=1) / [max(1, len(_content(title))) for title in read.titles]
    best = _best_of_text(read, read.known @ weights)
    heads = numpy.array([asked.head in row for row in definitions(read, read.stems)], dtype=float)
    one, other = numpy.triu_indices(len(read.texts), 1)
    less = covered[one] < covered[other]
    one, other = numpy.where(less, other, one), numpy.where(less, one, other)
    both = known[one] | known[other]
    union = both @ weights
    there, back = read.links[one, other].astype(float), read.links[other, one].astype(float)
    linked = numpy.maximum(there, back)
    columns = [
        union,
        covered[one],
        covered[other],
        union - covered[one],
        both @ rare,
        numpy.minimum(alone[one], alone[other]),
        best[one] + best[other],
        named[one] + named[other],
        named[one] * named[other],
        numpy.maximum(share[one], share[other]),
        numpy.minimum(share[one], share[other]),
        (read.titled[one] | read.titled[other]) @ weights,
        heads[one] + heads[other],
        linked,
        there,
        back,
        linked * covered[other],
        (1 - linked) * named[one] * named[other],
    ]
    return one, other, numpy.stack(columns, axis=1)


def sentence_features(read: Passages, asked: Question, chances: "numpy.ndarray") -> "numpy.ndarray":
    """Return sentences x features; chances: of each text, to be one of the pair."""
    import numpy

    weights, of = asked.weights, read.of
    partner = partners(chances)
    own = read.known @ weights
    fresh = (read.known & ~knowledge(read)[partner[of]]) @ weights
    with_title = (read.known | read.titled[of]) @ weights
    lines = [
        text.text[start:end].lower()
        for text in read.texts
        for start, end in text.sentences or ((0, len(text.text)),)
    ]
    bridges = numpy.array(
        [
            partner[at] != at and names(line, read.titles[partner[at]])
            for line, at in zip(lines, of, strict=True)
        ],
        dtype=float,
    )
    heads = numpy.array([each == asked.head for each in read.stems], dtype=float)
    chance, opens = chances[of], (read.number == 0).astype(float)
    columns = [
        numpy.log(chance + 1e-3),
        own,
        own / (own.max(initial=0) or 1.0),
        own - _best_of_text(read, own)[of],
        with_title,
        fresh,
        bridges,
        opens,
        read.number,
        numpy.array([len(line) / _LINE for line in lines]),
        numpy.bincount(read.sentence, heads, len(of)) > 0,
        with_title * chance,
        own * chance,
        bridges * chance,
        opens * chance,
    ]
    return numpy.stack(columns, axis=1)


def _best_of_text(read: Passages, values: "numpy.ndarray") -> "numpy.ndarray":
    """Return the greatest value among each text's sentences."""
    import numpy

    found = numpy.zeros(len(read.texts))
    numpy.maximum.at(found, read.of, values)
    return found


def _sentences(text: Text, places: list[tuple[int, int]]) -> "numpy.ndarray":
    """Return the number of the sentence that each token begins in."""
    import numpy

    ends = numpy.array([end for _, end in text.sentences[:-1]], dtype=numpy.int64)
    starts = numpy.array([start for start, _ in places], dtype=numpy.int64)
    return numpy.searchsorted(ends, starts, side="right")


def _content(title: str) -> set[str]:
    words = TOKEN.findall(title)
    return {stem(word) for word in words if word[0].isalnum() and word not in STOP}


def _table(rows: list[list[bool]]) -> "numpy.ndarray":
    import numpy

    return numpy.array(rows, dtype=bool).reshape(len(rows), -1)
