"""Cuts a text into sentences and tokens with spaCy's blank pipeline for its language."""

import re

from common.language_pipelines import pipeline, spacy_library

# Quotes and brackets after a full stop belong to the sentence that they close,
CLOSERS = "\"'”’»)]」』）"
# and those right before a word to the one that they open.
OPENERS = "\"'“‘«([„「『（¿¡"
# A full stop after one of these ends no sentence.
ABBREVIATIONS = frozenset(
    "fig no st mr mrs ms dr prof jr sr vs vol approx c ca e.g i.e etc op cit ed eds rev gen col lt "
    "capt sgt gov sen rep hon ave bros co corp inc ltd dept est min max ft lb oz sq mt".split()
)
# Scripts without blanks between words: spaCy's pipelines for some of them need other libraries.
_WIDE_STOP = re.compile(rf"(?<=[。！？])(?![。！？{re.escape(CLOSERS)}])")


def version() -> str:
    """Return the name under which boundaries are stored: the library's version and our rules'."""
    spacy = spacy_library()
    return f"spacy-{spacy.__version__}-sentencizer-2"


def split(text: str, language: str) -> list[list[int]]:
    """Return [[start, end], …] in code points: the sentences in order, white space between them."""
    sentences: list[list[int]] = []
    document = pipeline(language)(text)
    starts = {sentence.start_char for sentence in document.sents}
    starts.update(stop.start() for stop in _WIDE_STOP.finditer(text))
    moved = sorted({_before_openers(text, start) for start in starts} | {0})
    for start, end in list(zip(moved, [*moved[1:], len(text)], strict=True)):
        words = text[start:end]
        start += len(words) - len(words.lstrip())
        end -= len(words) - len(words.rstrip())
        if start >= end:
            continue
        if sentences and _belongs(text, sentences[-1], start):
            sentences[-1][1] = end
        else:
            sentences.append([start, end])
    return sentences


def _before_openers(text: str, start: int) -> int:
    opened = start
    while opened > 0 and text[opened - 1] in OPENERS:
        opened -= 1
    # A quote mark without a blank before it closes.
    return opened if opened == 0 or text[opened - 1].isspace() else start


def _belongs(text: str, previous: list[int], start: int) -> bool:
    """Return whether the piece at `start` continues the sentence before it."""
    before = text[previous[0] : previous[1]]
    following = text[start]
    last_word = before.rstrip(".").rpartition(" ")[2].lstrip("([\"'").casefold()
    abbreviated = before.endswith(".") and (
        last_word in ABBREVIATIONS or (len(last_word) == 1 and last_word.isalpha())
    )
    closes = following in CLOSERS and following not in OPENERS
    return abbreviated or closes or following.islower()


def tokenizer() -> str:
    """Return the name under which counts of tokens are stored: the library's version."""
    spacy = spacy_library()
    return f"spacy-{spacy.__version__}"


def tokens(text: str, language: str) -> list[tuple[int, int]]:
    """Return (start, end) of every token in code points; white space is none."""
    document = pipeline(language).make_doc(text)
    return [(token.idx, token.idx + len(token.text)) for token in document if not token.is_space]


def n_tokens(text: str, language: str) -> int:
    """Return how many tokens `tokens` would give, without making them."""
    document = pipeline(language).make_doc(text)
    return len(document) - int(document.to_array("IS_SPACE").sum())
