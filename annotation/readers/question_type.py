"""Whether a question asks for words of a text, or for a yes or a no, as the light reader sees."""

from typing import TYPE_CHECKING

from annotation.readers.example import Example
from annotation.readers.features import Asked, plain_title
from annotation.readers.words import TOKEN, content

if TYPE_CHECKING:
    import numpy

SPAN, YES, NO = range(3)
AUXILIARIES = "is are was were do does did has have had can could will would".split()
MARKS = ("both", "same", "either", "or", "and", "also", "more", "than", "which", "who", "what")
N_FEATURES = 8 + len(MARKS)


def of_example(example: Example, asked: Asked) -> "numpy.ndarray":
    """Return the row of features of one question; the first column is its auxiliary's number."""
    import numpy

    words = [word.lower() for word in TOKEN.findall(example.question)]
    known = [content(f"{text.title}\n{text.text}") for text in example.texts]
    both = set.intersection(*known) if known else set()
    starts = [
        content(text.text[slice(*text.sentences[0])]) if text.sentences else set()
        for text in example.texts
    ]
    alike = set.intersection(*starts) if starts else set()
    row = numpy.zeros(N_FEATURES, dtype=numpy.float32)
    first = words[0] if words else ""
    row[0] = AUXILIARIES.index(first) + 1 if first in AUXILIARIES else 0
    row[1] = len(words)
    row[2] = sum(plain_title(text.title) in asked.text for text in example.texts)
    row[3] = sum(weight for each, weight in asked.weights.items() if each in both)
    row[4] = sum(
        weight for each, weight in asked.weights.items() if not any(each in one for one in known)
    )
    row[5] = len(alike) / (len(set().union(*starts)) or 1)
    row[6] = sum(weight for each, weight in asked.weights.items() if each in alike)
    row[7] = len(asked.weights)
    row[8:] = [mark in words for mark in MARKS]
    return row
