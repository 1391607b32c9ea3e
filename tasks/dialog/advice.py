"""What a student is kindly told of a question; it was sent before, and stands whatever is said."""

from dataclasses import replace
from uuid import UUID

from django.db.models import Q

from collector.protocols.creation import parameters_of
from tasks.models import Lease, Turn
from tasks.work.kinds.protocol_checks import protocol_problems
from tasks.work.sections import section_of
from tasks.work.widgets.problems import Problem


def hints_on_question(lease: Lease, message: UUID) -> list[Problem]:
    """Return what the protocol's checks say of the question that this message of the page asked.

    `index`: its place among all questions that the lease's worker has asked. Nothing is said of
    what somebody else asked.
    """
    asked = Turn.objects.filter(dialog__student_ticket__lease=lease)
    turn = asked.filter(question_message=message).select_related("dialog__topic").first()
    if turn is None:
        return []
    stage = lease.unit.stage
    parameters = parameters_of(stage.collection)
    section = section_of(turn.dialog.topic.seed_id)
    seen: dict[str, object] = {
        "title": section.title,
        "heading": section.heading,
        "background": section.background,
    }
    found = protocol_problems(
        stage.collection.protocol,
        {"questions": [turn.question]},
        [seen],
        parameters.stages()[stage.name],
        parameters,
    )
    before = Q(dialog__lt=turn.dialog_id) | Q(dialog=turn.dialog_id, number__lt=turn.number)
    place = asked.filter(before).count()
    return [replace(each, index=place) for each in found if each.hint]
