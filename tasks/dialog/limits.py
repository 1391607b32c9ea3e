"""The numbers of a stage's dialogs, as its rules want them."""

from collector.protocols.stage_tables import DialogTable
from tasks.dialog.rules import Limits


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
