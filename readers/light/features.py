"""What the light reader knows of a candidate: where it stands, its shape, its neighbours."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from readers.light import questions
from readers.light import words as candidates
from readers.light.passages import (
    Passages,
    bare_title,
    definitions,
    knowledge,
    likeliest,
    partners,
)
from readers.light.questions import Question
from readers.light.words import MONTHS, STOP, TITLE

if TYPE_CHECKING:
    import numpy

# Texts that are searched for answers: the likeliest of the pair.
MOST_TEXTS = 4
# Tokens; what is farther away, or in another sentence, counts as this far.
FAR = 15
_LONG = 4
_LATE = 8
# The fewest things that a question for the first or the last compares.
PAIR = 2
_YEAR = re.compile(r"\b(?:1\d{3}|20[0-2]\d)\b")
_PERSON = re.compile(r"\bborn\b.*\b(?:he|she|his|her)\b", re.DOTALL)
# What may stand right before and right after a candidate; words of one row count alike.
_ROWS = (
    "in at on",
    "by",
    "of",
    "the a an",
    "from near to",
    ",",
    ".",
    '" “ ”',
    "and",
    "' ’ 's ’s",
    "(",
    ")",
    "is was are were",
    "as",
    "born",
    "- –",
)
_BESIDE = {word: at for at, row in enumerate(_ROWS, start=1) for word in row.split()}
# Endings of what people do, and of where they are from.
_DOES = ("er", "or", "ist", "ian", "ess", "man", "ic", "ing")
_FROM = ("ian", "ean", "ish", "ese", "can", "man", "nch")


@dataclass(frozen=True)
class Spans:
    """Candidates: tokens from `first` until before `last` of a `text`, and their words."""

    first: "numpy.ndarray"
    last: "numpy.ndarray"
    kind: "numpy.ndarray"
    text: "numpy.ndarray"
    words: list[str]


def find_spans(read: Passages, chances: "numpy.ndarray") -> Spans:
    """Return the candidates of the texts that are likeliest of the pair, with their titles."""
    import numpy

    rows, words = [], []
    for at in sorted(likeliest(chances, MOST_TEXTS).tolist()):
        begin, places, text = read.first[at], read.places[at], read.texts[at].text
        own = read.words[begin : begin + len(places)]
        for first, last, kind in candidates.candidates(own, places, text):
            rows.append((begin + first, begin + last, kind, at))
            words.append(text[places[first][0] : places[last - 1][1]])
        title = bare_title(read.texts[at].title)
        if places and title:
            # A title stands nowhere; it is looked at as if it began its text.
            rows.append((begin, begin + 1, TITLE, at))
            words.append(title)
    table = numpy.array(rows, dtype=numpy.int64).reshape(-1, 4)
    return Spans(table[:, 0], table[:, 1], table[:, 2], table[:, 3], words)


def features(
    read: Passages,
    asked: Question,
    chances: "numpy.ndarray",
    telling: "numpy.ndarray",
    found: Spans,
) -> "numpy.ndarray":
    """Return candidates x features.

    chances: of each text, to be one of the pair. telling: of each sentence, to prove the answer.
    """
    import numpy

    columns = [
        *_places(read, asked, chances, telling, found),
        *_shapes(read, found),
        *_repetitions(read, asked, found),
        *_neighbours(read, found),
        *_distances(read, asked, found),
        *_subjects(read, asked, chances, found),
    ]
    return numpy.stack([numpy.asarray(each, dtype=numpy.float32) for each in columns], axis=1)


def _places(
    read: Passages,
    asked: Question,
    chances: "numpy.ndarray",
    telling: "numpy.ndarray",
    found: Spans,
) -> list["numpy.ndarray"]:
    """Return what is known of the text and the sentence that a candidate stands in."""
    import numpy

    at = read.sentence[found.first]
    own = read.known @ asked.weights
    known = knowledge(read)
    together = read.known[at] | read.titled[found.text] | known[partners(chances)[found.text]]
    after = found.first - _copulas(read)[found.text]
    defines = (read.number[at] == 0) & (after > 0)
    lengths = numpy.bincount(read.sentence, minlength=len(read.of))
    starts = numpy.cumsum(lengths) - lengths
    return [
        numpy.log(chances[found.text] + 1e-3),
        chances[found.text],
        telling[at],
        numpy.log(telling[at] + 1e-3),
        own[at],
        telling[at] >= telling.max(initial=0) - 1e-9,
        together @ asked.weights,
        read.number[at] == 0,
        numpy.minimum(read.number[at], _LATE),
        defines,
        numpy.where(defines, 1 / numpy.maximum(1, after), 0),
        (found.first - starts[at]) / numpy.maximum(1, lengths[at]),
    ]


def _copulas(read: Passages) -> "numpy.ndarray":
    """Return the token by which each text begins to say what its title is, far where none does."""
    import numpy

    rows = definitions(read, read.words)
    verbs = ("is", "was", "are", "were")
    return numpy.array(
        [
            next((begin + at for at, word in enumerate(row) if word in verbs), len(read.words))
            for begin, row in zip(read.first, rows, strict=True)
        ],
        dtype=numpy.int64,
    )


def _shapes(read: Passages, found: Spans) -> list["numpy.ndarray"]:
    """Return what a candidate is by itself: its kind, length, capitals, digits, endings."""
    import numpy

    words = read.words
    lowered = [word.lower() for word in words]
    n = found.last - found.first
    capitals = _count([word[0].isupper() for word in words], found)
    digits = _count([word[0].isdigit() for word in words], found)
    years = _count([candidates.YEAR.match(word) is not None for word in words], found)
    months = _count([word in MONTHS for word in lowered], found)
    commas = _count([word == "," for word in words], found)
    does = numpy.array([word[0].islower() and word.endswith(_DOES) for word in words], dtype=bool)
    origin = numpy.array([word[0].isupper() and word.endswith(_FROM) for word in words], dtype=bool)
    ends = found.last - 1
    return [
        *(found.kind == kind for kind in range(candidates.KINDS)),
        n,
        n == 1,
        n > _LONG,
        capitals,
        capitals == n,
        (capitals == n) & (n > 1) & (n < _LONG),
        capitals == 0,
        (capitals == 0) & (digits == 0),
        digits > 0,
        (years > 0) & (n == 1),
        (years > 0) & (n > 1) & (months == 0),
        months > 0,
        (months > 0) & (years > 0) & (n > 2),
        (digits > 0) & (months == 0) & (years == 0),
        commas > 0,
        _count([word in STOP for word in lowered], found),
        does[ends],
        origin[ends] & (n == 1),
    ]


def _repetitions(read: Passages, asked: Question, found: Spans) -> list["numpy.ndarray"]:
    """Return how much of the question a candidate is."""
    import numpy

    n = found.last - found.first
    weights = numpy.append(asked.weights, 0.0)[read.hit]
    share = _count(read.hit >= 0, found) / n
    question = f" {' '.join(asked.words)} "
    verbatim = numpy.array([f" {one.lower()} " in question for one in found.words], dtype=bool)
    return [
        share,
        share == 1,
        _count(weights, found),
        _count([each in asked.focus for each in read.stems], found),
        _count([each == asked.head for each in read.stems], found),
        verbatim,
        verbatim & asked.offers,
        verbatim & asked.offers & (found.kind == TITLE),
    ]


def _neighbours(read: Passages, found: Spans) -> list["numpy.ndarray"]:
    """Return which words stand right before and right after a candidate."""
    import numpy

    words, stands = read.words, found.kind != TITLE
    beside = numpy.array([0, *(_BESIDE.get(word.lower(), 0) for word in words), 0])
    content = [word[0].isalnum() and word.lower() not in STOP for word in words]
    filled = numpy.array([False, *content, False])
    capital = numpy.array([False, *(word[0].isupper() for word in words), False])
    opened = numpy.cumsum([(word == "(") - (word == ")") for word in words])
    starts = numpy.isin(found.first, read.first)
    before = numpy.where(stands & ~starts, beside[found.first], 0)
    after = numpy.where(stands, beside[found.last + 1], 0)
    each = numpy.eye(len(_ROWS) + 1, dtype=bool)
    return [
        *each[before].T[1:],
        *each[after].T[1:],
        filled[found.first] & stands,
        filled[found.last + 1] & stands,
        capital[found.first] & stands,
        capital[found.last + 1] & stands,
        opened[found.first] > 0,
    ]


def _distances(read: Passages, asked: Question, found: Spans) -> list["numpy.ndarray"]:
    """Return how near in its sentence a candidate is to what the question says."""
    import numpy

    hits = numpy.flatnonzero(read.hit >= 0)
    away = _away(read, found, hits)
    weights = numpy.where((away > 0) & (away < FAR), asked.weights[read.hit[hits]], 0.0)
    focus = numpy.flatnonzero([each in asked.focus for each in read.stems])
    head = numpy.flatnonzero([each == asked.head for each in read.stems])
    to_head = _away(read, found, head).min(axis=1, initial=FAR)
    return [
        (weights / (1 + away)).sum(axis=1),
        (weights / numpy.sqrt(1 + away)).sum(axis=1),
        numpy.where(away > 0, away, FAR).min(axis=1, initial=FAR),
        _away(read, found, focus).min(axis=1, initial=FAR),
        to_head,
        to_head == 1,
    ]


def _away(read: Passages, found: Spans, tokens: "numpy.ndarray") -> "numpy.ndarray":
    """Return candidates x tokens: how far each is, 0 for what is part of it, FAR at most."""
    import numpy

    gap = numpy.maximum(found.first[:, None] - tokens, tokens - found.last[:, None] + 1)
    here = read.sentence[tokens] == read.sentence[found.first][:, None]
    return numpy.where(here, numpy.clip(gap, 0, FAR), FAR)


def _subjects(
    read: Passages, asked: Question, chances: "numpy.ndarray", found: Spans
) -> list["numpy.ndarray"]:
    """Return what is known of the text about a candidate, and which other texts name it."""
    import numpy

    titles: dict[str, int] = {}
    for at, title in enumerate(read.titles):
        titles.setdefault(title, at)
    lowered = [one.lower() for one in found.words]
    holding = {one: [one in text for text in read.lowered] for one in dict.fromkeys(lowered)}
    held = numpy.array([holding[one] for one in lowered]).reshape(len(lowered), len(read.texts))
    about = numpy.array([titles.get(one, -1) for one in lowered], dtype=numpy.int64)
    known, own = about >= 0, about == found.text
    rows = [set(row) for row in definitions(read, read.stems)]
    heads = _with_none([asked.head in row for row in rows])
    focus = _with_none([len(asked.focus & row) / (len(asked.focus) or 1) for row in rows])
    person = _with_none([_PERSON.search(text) is not None for text in read.lowered])
    named = _with_none(read.named)
    chance = _with_none(chances)[about]
    number = numpy.log(numpy.maximum(1, held.sum(axis=1)))
    return [
        known,
        own,
        known & ~own,
        chance,
        numpy.where(own, 0, chance),
        heads[about],
        focus[about],
        person[about],
        person[about] & (asked.kind == questions.PERSON),
        _with_none(_ordered(read, asked))[about],
        number,
        numpy.where(known, 0, number),
        held @ chances - chances[found.text] * held[numpy.arange(len(held)), found.text],
        named[about],
        named[about] & asked.offers,
        known & ~named[about],
        named[found.text],
    ]


def _ordered(read: Passages, asked: Question) -> list[int]:
    """Return for each text that the question names whether its first year answers "which first?".

    1 where it does, -1 where another's does, 0 where the question or the years do not tell.
    """
    years = [int(year[0]) if (year := _YEAR.search(text.text)) else None for text in read.texts]
    told = [year for year, named in zip(years, read.named, strict=True) if named and year]
    if not asked.order or len(set(told)) != len(told) or len(told) < PAIR:
        return [0] * len(years)
    wanted = min(told) if asked.order < 0 else max(told)
    return [
        0 if not named or not year else 1 if year == wanted else -1
        for year, named in zip(years, read.named, strict=True)
    ]


def _with_none(values: "numpy.ndarray | list[bool] | list[int] | list[float]") -> "numpy.ndarray":
    """Return one value of each text and a nought at its end, for what no text is about."""
    import numpy

    row = numpy.asarray(values)
    return numpy.append(row, numpy.zeros(1, dtype=row.dtype))


def _count(flags: "numpy.ndarray | list[bool]", found: Spans) -> "numpy.ndarray":
    """Return the sum of what each token of a candidate counts."""
    import numpy

    sums = numpy.concatenate([[0.0], numpy.cumsum(numpy.asarray(flags, dtype=numpy.float64))])
    counted: numpy.ndarray = sums[found.last] - sums[found.first]
    return counted
