"""The rules of a dialog: whose move it is, which moves are legal, when and why it ends.

A pure state machine, the same for a socket, a simulated worker and a replay.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from operator import itemgetter

from collector.protocols.stage_tables import DialogTable


class Role(StrEnum):
    """Who asks, and who answers from the section."""

    STUDENT = "student"
    TEACHER = "teacher"

    @property
    def partner(self) -> "Role":
        """Return the other role."""
        return Role.TEACHER if self is Role.STUDENT else Role.STUDENT


class Ending(StrEnum):
    """Why a dialog is over (QuAC 2.1; left and reported are ours)."""

    ALL_ASKED = "all_asked"
    UNANSWERABLE = "unanswerable"
    ENDED = "ended"
    LEFT = "left"
    REPORTED = "reported"


# (start, end, whether it is a word): a token of the section, half-open, in code points.
Token = tuple[int, int, bool]
CONTINUATION = ("follow_up", "maybe", "dont")
AFFIRMATION = ("yes", "no", "neither")


class Refused(ValueError):
    """A move that the rules do not allow; the message tells the worker what to do."""


@dataclass(frozen=True)
class Limits:
    """The numbers of a dialog, from the protocol's parameters.

    pay_cents: what each partner earns for the first, second, … completed turn; the last amount
    holds for all turns after it.
    """

    min_pairs: int
    max_questions: int
    max_unanswerable: int
    max_span_tokens: int
    max_question_characters: int
    pay_cents: tuple[int, ...]


@dataclass(frozen=True)
class Reply:
    """A teacher's answer: a span of the section, half-open in code points, or none of both."""

    start: int | None
    end: int | None
    continuation: str
    affirmation: str


@dataclass(frozen=True)
class Turn:
    """A question and its answer, None while the teacher is looking for it."""

    question: str
    reply: Reply | None = None


# How many turns there are, and whether the last has its answer: moves lead from one to the next.
Place = tuple[int, bool]


@dataclass(frozen=True)
class Dialog:
    """All that has been said; `ending` and `ended_by` are None while it goes on."""

    turns: tuple[Turn, ...] = ()
    ending: Ending | None = None
    ended_by: Role | None = None

    @property
    def completed(self) -> int:
        """Return the number of questions that have their answer."""
        # All but the last have one.
        return len(self.turns) - bool(self.turns and self.turns[-1].reply is None)

    @cached_property
    def unanswerable(self) -> int:
        """Return how many questions have no answer in the section."""
        return sum(turn.reply is not None and turn.reply.start is None for turn in self.turns)

    @property
    def place(self) -> Place:
        """Return how far it has come."""
        return len(self.turns), bool(self.turns and self.turns[-1].reply)

    @property
    def to_move(self) -> Role | None:
        """Return whose move it is; None when the dialog is over."""
        if self.ending:
            return None
        waiting = self.turns and self.turns[-1].reply is None
        return Role.TEACHER if waiting else Role.STUDENT


def ask(dialog: Dialog, question: str, limits: Limits) -> Dialog:
    """Return the dialog with the student's question; raises Refused."""
    _check_move(dialog, Role.STUDENT)
    text = question.strip()
    if not text:
        raise Refused("Write a question first.")
    if len(text) > limits.max_question_characters:
        raise Refused(
            f"A question has at most {limits.max_question_characters} characters; shorten it."
        )
    return Dialog((*dialog.turns, Turn(text)))


def answer(dialog: Dialog, reply: Reply, tokens: Sequence[Token], limits: Limits) -> Dialog:
    """Return the dialog with the teacher's answer; raises Refused.

    tokens: every token of the section. The dialog is over with the last question or with the last
    unanswerable one, which need not be in a row (QuAC 2.1).
    """
    _check_move(dialog, Role.TEACHER)
    _check_reply(reply, tokens, limits)
    answered = Dialog((*dialog.turns[:-1], Turn(dialog.turns[-1].question, reply)))
    if len(answered.turns) >= limits.max_questions:
        return replace(answered, ending=Ending.ALL_ASKED)
    if answered.unanswerable >= limits.max_unanswerable:
        return replace(answered, ending=Ending.UNANSWERABLE)
    return answered


def follow(dialog: Dialog, turn: Turn) -> Dialog:
    """Return the dialog after a move that was allowed, of which the turn is what came of it."""
    before = dialog.turns[:-1] if turn.reply else dialog.turns
    return Dialog((*before, turn))


def end(dialog: Dialog, role: Role, ending: Ending = Ending.ENDED) -> Dialog:
    """Return the dialog as `role` ends, reports or leaves it; raises Refused when it is over.

    A question without an answer stays in it and is nobody's completed turn.
    """
    if dialog.ending:
        raise Refused("This dialog is over already.")
    if ending not in (Ending.ENDED, Ending.LEFT, Ending.REPORTED):
        raise Refused("A dialog ends like this by itself only.")
    return replace(dialog, ending=ending, ended_by=role)


def earned_cents(completed: int, limits: Limits) -> int:
    """Return what each partner has earned by the completed turns, whatever comes after."""
    schedule = limits.pay_cents
    return sum(schedule[:completed]) + schedule[-1] * max(0, completed - len(schedule))


def most_cents(limits: Limits) -> int:
    """Return what each partner can earn at most: what is reserved when they are paired."""
    return earned_cents(limits.max_questions, limits)


def _check_move(dialog: Dialog, role: Role) -> None:
    """Raise Refused unless it is the role's move."""
    if dialog.ending:
        raise Refused("This dialog is over; what you wrote was not sent.")
    if dialog.to_move is not role:
        raise Refused(f"It is the {role.partner}'s turn; wait for their message.")


def _check_reply(reply: Reply, tokens: Sequence[Token], limits: Limits) -> None:
    """Raise Refused unless the reply is one contiguous span of whole tokens, or no answer.

    Marks between the words are not counted: so no released answer is longer than the limit.
    """
    if reply.continuation not in CONTINUATION:
        raise Refused("Choose whether the student should follow up on this.")
    if reply.affirmation not in AFFIRMATION:
        raise Refused("Choose yes, no or neither.")
    if (reply.start is None) != (reply.end is None):
        raise Refused("Mark the answer in the section, or choose “No answer”.")
    if reply.start is None or reply.end is None:
        return
    first, behind = (bisect_left(tokens, at, key=itemgetter(0)) for at in (reply.start, reply.end))
    inside = tokens[first:behind]
    if not inside or inside[0][0] != reply.start or inside[-1][1] != reply.end:
        raise Refused("Mark whole words of the section.")
    n_words = sum(is_word for _, _, is_word in inside)
    if n_words > limits.max_span_tokens:
        raise Refused(f"The answer has {n_words} words; mark at most {limits.max_span_tokens}.")


def limits_of(table: DialogTable) -> Limits:
    """Return the limits that a dialog stage's table of the parameters gives."""
    return Limits(
        min_pairs=table.min_pairs,
        max_questions=table.max_questions,
        max_unanswerable=table.max_unanswerable,
        max_span_tokens=table.max_span_tokens,
        max_question_characters=table.max_question_characters,
        pay_cents=tuple(table.turn_cents),
    )
