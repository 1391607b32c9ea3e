"""What the light reader knows of a candidate: lexical, positional and overlap features."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from annotation.readers.candidates import MONTHS, YEAR, candidates
from annotation.readers.example import Example, Text
from annotation.readers.words import STOP, TOKEN, stem, tokens

if TYPE_CHECKING:
    import numpy

OPENINGS = ("who", "whose", "when", "where", "what", "which")
_HOW, _HOW_MANY, _STATED = range(len(OPENINGS) + 1, len(OPENINGS) + 4)
_FOCUS = re.compile(r"\b(?:which|what)\b\s+(?:is |was |are |were )?(?:the |a |an )?([\w'-]+)", re.I)
NEAR = 6
# Columns whose numbers are names: kind, opening of the question, word before and word after.
CATEGORIES = [0, 1, 2, 3]
N_FEATURES = 27
# Words told apart before and after a candidate.
KNOWN_WORDS = 120


@dataclass(frozen=True)
class QuestionFeatures:
    """A question as it is compared with texts; `weights` of its content stems add up to 1."""

    opening: int
    weights: Mapping[str, float]
    text: str
    focus: str
    has_or: bool


@dataclass(frozen=True)
class TextFeatures:
    """A text in tokens; `hits`: how much of the question each token is; `sentence` of each."""

    words: list[str]
    places: list[tuple[int, int]]
    stems: list[str]
    hits: "numpy.ndarray"
    sentence: "numpy.ndarray"


def read_question(question: str, weight: Callable[[str], float]) -> QuestionFeatures:
    """Return the question's parts; weight: how telling a stem is, at least above 0."""
    words = [word.lower() for word in TOKEN.findall(question)]
    stems = {stem(word) for word in words if word[0].isalnum() and word not in STOP}
    total = sum(weight(each) for each in stems) or 1.0
    focus = _FOCUS.search(question)
    return QuestionFeatures(
        opening=_opening(words),
        weights={each: weight(each) / total for each in sorted(stems)},
        text=question.lower(),
        focus=stem(focus[1]) if focus else "",
        has_or="or" in words,
    )


def read_text(text: Text, asked: QuestionFeatures) -> TextFeatures:
    """Return the text's tokens with how much of the question each is."""
    import numpy

    places = tokens(text.text)
    words = [text.text[start:end] for start, end in places]
    stems = [stem(word) for word in words]
    hits = numpy.array([asked.weights.get(each, 0.0) for each in stems], dtype=numpy.float32)
    ends = numpy.array([end for _, end in text.sentences], dtype=numpy.int64)
    starts = numpy.array([start for start, _ in places], dtype=numpy.int64)
    return TextFeatures(words, places, stems, hits, numpy.searchsorted(ends, starts, side="right"))


def spans(
    example: Example, asked: QuestionFeatures, vocabulary: Mapping[str, int]
) -> tuple[list[str], "numpy.ndarray"]:
    """Return every candidate's words and its features, a row each.

    vocabulary: numbers from 1 of the words that are told apart around a candidate.
    """
    import numpy

    texts = [read_text(text, asked) for text in example.texts]
    covered = [_covered(text.stems, asked) for text in texts]
    answers: list[str] = []
    rows = []
    for place, (text, read) in enumerate(zip(example.texts, texts, strict=True)):
        found = candidates(read.words, read.places, text.text)
        if not found:
            continue
        said = [text.text[read.places[a][0] : read.places[b - 1][1]] for a, b, _ in found]
        others = [other for at, other in enumerate(example.texts) if at != place]
        shared = _of_text(text, others, covered, place, asked)
        table = numpy.empty((len(found), N_FEATURES), dtype=numpy.float32)
        first = numpy.array([a for a, _, _ in found])
        last = numpy.array([b for _, b, _ in found])
        _lexical(table, read, first, last, [kind for *_, kind in found], asked, vocabulary)
        _overlaps(table, read, first, last, asked)
        _repetitions(table, said, text, others, asked)
        table[:, 22:] = shared
        answers += said
        rows.append(table)
    if not rows:
        return [], numpy.empty((0, N_FEATURES), dtype=numpy.float32)
    return answers, numpy.concatenate(rows)


def _lexical(
    table: "numpy.ndarray",
    read: TextFeatures,
    first: "numpy.ndarray",
    last: "numpy.ndarray",
    kinds: list[int],
    asked: QuestionFeatures,
    vocabulary: Mapping[str, int],
) -> None:
    """Fill columns 0 to 9: what the candidate is, and the words around it."""
    import numpy

    n = len(read.words)
    known = numpy.array([vocabulary.get(word.lower(), 0) for word in read.words] + [0])
    table[:, 0] = kinds
    table[:, 1] = asked.opening
    table[:, 2] = numpy.where(first > 0, known[first - 1], 0)
    table[:, 3] = known[numpy.minimum(last, n)]
    table[:, 4] = last - first
    shapes = (
        [word[0].isupper() for word in read.words],
        [word[0].isdigit() for word in read.words],
        [bool(YEAR.match(word)) or word.lower() in MONTHS for word in read.words],
    )
    for column, shape in enumerate(shapes, start=5):
        counted = numpy.concatenate([[0], numpy.cumsum(shape)])
        table[:, column] = counted[last] - counted[first]
    table[:, 8] = first / n
    table[:, 9] = read.sentence[first]


def _overlaps(
    table: "numpy.ndarray",
    read: TextFeatures,
    first: "numpy.ndarray",
    last: "numpy.ndarray",
    asked: QuestionFeatures,
) -> None:
    """Fill columns 10 to 16: how much of the question is in, near and around the candidate."""
    import numpy

    n = len(read.words)
    sums = numpy.concatenate([[0], numpy.cumsum(read.hits)])
    focus = numpy.array([bool(asked.focus) and each == asked.focus for each in read.stems])
    focused = numpy.concatenate([[0], numpy.cumsum(focus)])
    own = sums[last] - sums[first]
    table[:, 10] = own
    table[:, 11] = sums[first] - sums[numpy.maximum(first - NEAR, 0)]
    table[:, 12] = sums[numpy.minimum(last + NEAR, n)] - sums[last]
    of_sentence = numpy.bincount(read.sentence, weights=read.hits)
    table[:, 13] = of_sentence[read.sentence[first]] - own
    table[:, 14] = of_sentence.max() - of_sentence[read.sentence[first]]
    table[:, 15] = (
        focused[numpy.minimum(last + NEAR, n)] - focused[numpy.maximum(first - NEAR, 0)] > 0
    )
    of_focus = numpy.bincount(read.sentence, weights=focus)
    table[:, 16] = of_focus[read.sentence[first]] > 0


def _repetitions(
    table: "numpy.ndarray", said: list[str], text: Text, others: list[Text], asked: QuestionFeatures
) -> None:
    """Fill columns 17 to 21: where else the candidate stands."""
    lowered = [each.lower() for each in said]
    title = text.title.lower()
    other_titles = "\n".join(other.title.lower() for other in others)
    elsewhere = "\n".join(other.text.lower() for other in others)
    whole = text.text.lower()
    table[:, 17] = [each in asked.text for each in lowered]
    table[:, 18] = [each in title for each in lowered]
    table[:, 19] = [each in other_titles for each in lowered]
    table[:, 20] = [each in elsewhere for each in lowered]
    table[:, 21] = [whole.count(each) for each in lowered]


def _of_text(
    text: Text, others: list[Text], covered: list[float], place: int, asked: QuestionFeatures
) -> tuple[float, ...]:
    """Return columns 22 to 26: how the question speaks of this text and of the others."""
    rest = [share for at, share in enumerate(covered) if at != place]
    return (
        covered[place],
        max(rest, default=0.0),
        plain_title(text.title) in asked.text,
        any(plain_title(other.title) in asked.text for other in others),
        asked.has_or,
    )


def plain_title(title: str) -> str:
    """Return a title in lower case without what tells it from others of the same name."""
    return title.partition(" (")[0].lower()


def _covered(stems: list[str], asked: QuestionFeatures) -> float:
    there = set(stems)
    return sum(weight for each, weight in asked.weights.items() if each in there)


def _opening(words: list[str]) -> int:
    """Return the number of the first word that tells what is asked for, from 1; 0 without one."""
    if words[:1] == ["how"]:
        return _HOW_MANY if "many" in words[:3] else _HOW
    for word in words:
        if word in OPENINGS:
            return OPENINGS.index(word) + 1
    return _STATED if words and words[0] in STOP else 0
