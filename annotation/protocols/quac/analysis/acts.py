"""How questions change as a dialog goes on (QuAC, Figure 6)."""

from collections import Counter
from itertools import combinations

from annotation.protocols.quac.analysis.sizes import YES_NO
from annotation.protocols.quac.turns import MarkedAnswer, Turn
from annotation.tables.table import NO_QUESTION, Cell, Table, share

FOLLOW_UP = "y"


class Acts:
    """Counts by turn: yes/no questions, unanswerable ones, those with several answers."""

    def __init__(self) -> None:
        self.counts: dict[int, Counter[str]] = {}

    def add(self, turn: Turn) -> None:
        """Count one question."""
        several = has_several_answers(turn)
        found = {
            "questions": True,
            "yes or no": turn.teacher.affirmation in YES_NO,
            "no answer": turn.is_unanswerable,
            "follow up": turn.continuation == FOLLOW_UP,
            "compared": several is not None,
            "several": bool(several),
        }
        self.counts.setdefault(turn.number, Counter()).update(
            name for name, holds in found.items() if holds
        )

    def tables(self) -> list[Table]:
        """Return Figure 6, a row for each turn and one for all."""
        rows = [_row(str(turn + 1), self.counts[turn]) for turn in sorted(self.counts)]
        if rows:
            whole: Counter[str] = sum(self.counts.values(), Counter())
            rows.append(_row("all", whole))
        shares = ("yes or no", "no answer", "follow up", "several answers")
        columns = ["turn", "questions", *(f"{name} share" for name in shares)]
        note = (
            "Several answers: of the questions with two spans or more, those where two of them do "
            "not touch."
            if rows
            else NO_QUESTION
        )
        return [
            Table(
                "acts",
                "Kinds of questions by turn (Figure 6 of the QuAC paper)",
                columns,
                rows,
                note,
            )
        ]


def has_several_answers(turn: Turn) -> bool | None:
    """Return whether two people marked places that do not touch; None with fewer than two spans.

    Ours: the paper does not say when a question has multiple answers.
    """
    spans = [each for each in (turn.teacher, *turn.validators) if each.start is not None]
    if len(spans) < 2 or turn.is_unanswerable:
        return None
    return any(not _touch(one, other) for one, other in combinations(spans, 2))


def _touch(one: MarkedAnswer, other: MarkedAnswer) -> bool:
    return (one.start or 0) < (other.end or 0) and (other.start or 0) < (one.end or 0)


def _row(name: str, counts: Counter[str]) -> list[Cell]:
    whole = counts["questions"]
    shares = [share(counts[each], whole) for each in ("yes or no", "no answer", "follow up")]
    return [name, whole, *shares, share(counts["several"], counts["compared"])]
