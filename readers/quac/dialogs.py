"""Dialogs in tokens: the section with its token of no answer, the questions, where answers are."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from annotation.protocols.quac.file_format import CANNOT_ANSWER, context_of
from annotation.protocols.quac.turns import Turn
from readers.learners.tokens import Token, tokens

# In the files' letters.
YESNO, FOLLOWUP = ("y", "n", "x"), ("y", "n", "m")
# What a token is of an answer that was given d turns earlier: its only one, its first, …
N_PLACES = 4
ONLY, FIRST, INSIDE, LAST = range(1, N_PLACES + 1)


@dataclass(frozen=True)
class Asked:
    """One question: its tokens, and the teacher's answer as (first, last) token, inclusive."""

    turn: Turn
    tokens: tuple[Token, ...]
    answer: tuple[int, int]

    @property
    def text(self) -> str:
        """Return the question without white space at its ends, as its tokens are counted."""
        return self.turn.question.strip()

    @property
    def words(self) -> list[str]:
        """Return its tokens as texts."""
        return [token.text for token in self.tokens]

    @property
    def yesno(self) -> int:
        """Return which of YESNO the teacher said, `x` where nothing else was."""
        return YESNO.index(self.turn.teacher.affirmation or "x")

    @property
    def followup(self) -> int:
        """Return which of FOLLOWUP the teacher said, `n` where nothing was."""
        return FOLLOWUP.index(self.turn.continuation or "n")


@dataclass(frozen=True)
class Dialog:
    """One dialog: `text` is the section and, as its last token, the one of no answer."""

    text: str
    tokens: tuple[Token, ...]
    asked: tuple[Asked, ...]

    @property
    def words(self) -> list[str]:
        """Return the section's tokens as texts."""
        return [token.text for token in self.tokens]

    def span(self, first: int, last: int) -> str:
        """Return what stands from one token to another, inclusive."""
        return self.text[self.tokens[first].start : self.tokens[last].end]


def dialogs_of(turns: Iterable[Turn]) -> list[Dialog]:
    """Return the dialogs of turns that stand dialog by dialog."""
    found: list[list[Turn]] = []
    for turn in turns:
        if turn.previous is None:
            found.append([])
        found[-1].append(turn)
    return [_dialog(each) for each in found]


def _dialog(turns: Sequence[Turn]) -> Dialog:
    text, language = context_of(turns[0].section), turns[0].language
    found = tuple(tokens(text, language))
    return Dialog(text, found, tuple(_asked(turn, found) for turn in turns))


def _asked(turn: Turn, found: Sequence[Token]) -> Asked:
    words = tuple(tokens(turn.question.strip(), turn.language))
    # A blank question is one all the same; nothing is known of its word.
    return Asked(turn, words or (Token("", 0, 0),), _answer(turn, found))


def _answer(turn: Turn, found: Sequence[Token]) -> tuple[int, int]:
    """Return where the teacher's answer is; the last token where there is none."""
    last, teacher = len(found) - 1, turn.teacher
    if teacher.text == CANNOT_ANSWER or teacher.start is None:
        return last, last
    # White space at its ends is of no token.
    start = teacher.start + len(teacher.text) - len(teacher.text.lstrip())
    end = teacher.start + len(teacher.text.rstrip())
    return token_span([(token.start, token.end) for token in found], start, max(end, start + 1))[0]


def token_span(
    offsets: Sequence[tuple[int, int]], start: int, end: int
) -> tuple[tuple[int, int], bool]:
    """Return the (first, last) tokens of the characters [start, end), and whether it is not exact.

    As AllenNLP maps them: a token that is cut is taken whole; a start between two tokens takes the
    one before it, -1 where there is none; the end is -1 then too, and the last token's number if
    it is behind the text. Raises ValueError where the start is.
    """
    first = next((at for at, (begin, _) in enumerate(offsets) if begin >= start), len(offsets))
    if first and offsets[first - 1][1] > start:
        first -= 1
    elif first == len(offsets):
        raise ValueError(f"No token begins at {start} or later.")
    elif offsets[first][0] > start:
        first -= 1
    if first < 0:
        return (-1, -1 if offsets[-1][1] >= end else len(offsets) - 1), True
    reaching = (at for at in range(first, len(offsets)) if offsets[at][1] >= end)
    last = next(reaching, len(offsets) - 1)
    return (first, last), (offsets[first][0], offsets[last][1]) != (start, end)


def marks(dialog: Dialog, at: int, k: int) -> list[list[int]]:
    """Return for each of k turns before question `at` what every token is of the answer then.

    0 is a token of none; N_PLACES numbers a distance follow, the nearest turn's first. The true
    answers are marked, when the model is used too (QuAC 5.3).
    """
    found = []
    for distance in range(1, k + 1):
        places = [0] * len(dialog.tokens)
        if distance <= at:
            first, last = dialog.asked[at - distance].answer
            base = N_PLACES * (distance - 1)
            places[first : last + 1] = [base + INSIDE] * (last + 1 - first)
            places[first], places[last] = base + FIRST, base + LAST
            if first == last:
                places[first] = base + ONLY
        found.append(places)
    return found
