"""Dialog HITs: a ticket to be brought together with a partner; the section comes with them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from collector.models import Stage
from collector.protocols.creation import parameters_of
from collector.protocols.parameters import Parameters, StageTable
from collector.protocols.stage_tables import DialogTable
from collector.serving.plan import LONGEST_MESSAGE_BYTES
from tasks.dialog.partner_view import trial_state
from tasks.dialog.settlement import usual_turns_cents
from tasks.models import (
    Exposure,
    Lease,
    LeaseState,
    Submission,
    Ticket,
    TicketState,
    Topic,
    Turn,
    Unit,
    Worker,
)
from tasks.work import dialog_rules as rules
from tasks.work.dialog_rules import Role, limits_of
from tasks.work.kinds.kind import (
    Data,
    Documents,
    ExtraPay,
    Item,
    StageKind,
    protocol_problems,
    table_as,
)
from tasks.work.passages import section_of
from tasks.work.widgets import reply
from tasks.work.widgets.problems import Problem

UNFINISHED = "Your dialog is not over yet: it is handed in when it is."


class DialogKind(StageKind):
    """Live dialogs of two workers, who both hold a ticket of the stage."""

    name = "dialog"
    correction_types = ("span", "none")
    pairs_workers = True

    def allowed(self, units: QuerySet[Unit], worker: Worker) -> QuerySet[Unit]:
        """Leave out all tickets where nothing is left to talk about that is new to the worker.

        Also where the worker is at another ticket of the stage: nobody is in two dialogs at once.
        """
        at_work = Lease.objects.filter(
            unit__stage=OuterRef("stage"), worker=worker, state=LeaseState.LIVE
        )
        return self.left_for(units, worker).exclude(Exists(at_work))

    def left_for(self, units: QuerySet[Unit], worker: Worker) -> QuerySet[Unit]:
        """Leave out all tickets where nothing is left to talk about that is new to the worker."""
        seen = Exposure.objects.filter(worker=worker).values("seed_id")
        topics = Topic.objects.filter(stage=OuterRef("stage"), taken__lt=F("wanted"))
        return units.filter(Exists(topics.exclude(seed__in=seen)))

    def role_qualifications(self, table: StageTable) -> tuple[str, ...]:
        """Return the stages whose qualifications open the student's and the teacher's role."""
        own = table_as(table, DialogTable)
        return own.requires_student, own.requires_teacher

    def extra_pay(self, table: StageTable) -> ExtraPay:
        """Return what a dialog pays beside its HIT's reward: answered questions, and waiting."""
        own = table_as(table, DialogTable)
        return ExtraPay(
            bonus_cents=rules.most_cents(limits_of(own)),
            waiting_cents=own.wait_cents_per_minute,
            waiting_minutes=own.wait_minutes if own.wait_cents_per_minute else 0,
            keeps_work=False,
            is_one_at_a_time=True,
        )

    def usual_bonus_cents(self, table: StageTable) -> int:
        """Return what the turns of a dialog of usual length earn each partner."""
        return usual_turns_cents(table_as(table, DialogTable))

    def trial_states(self, stage: Stage, now: datetime) -> dict[str, dict[str, object]]:
        """Return a dialog about the first seed as the student and the teacher see it, by role.

        It is the move of each.
        """
        tables: Mapping[str, StageTable] = parameters_of(stage.collection).stages()
        table = table_as(tables[stage.name], DialogTable)
        seed = stage.seeds.order_by("position").values_list("pk", flat=True).first()
        if seed is None:
            return {}
        return {
            str(role): {"talk": trial_state(table, seed, role, now)}
            for role in (Role.STUDENT, Role.TEACHER)
        }

    def seeds_shown(self, unit: Unit) -> list[int]:
        """Return nothing: what is talked about is chosen, and noted, when two are paired."""
        return []

    def page_items(self, unit: Unit) -> list[Item]:
        """Return nothing: the page hears of its dialog over a socket."""
        return []

    def limits(self, table: StageTable, parameters: Parameters) -> dict[str, object]:
        """Return how much the page may send at once, and whether it asks for advice."""
        return {
            "advice": parameters.reader_looks_on(),
            "message_bytes": LONGEST_MESSAGE_BYTES,
        }

    def clean(
        self,
        data: object,
        items: Sequence[Item],
        documents: Documents,
        table: StageTable,
        parameters: Parameters,
    ) -> tuple[Data, list[Problem]]:
        """Return {"dialog": [true]}, and what is wrong; whether it is over, `unfinished` knows."""
        if isinstance(data, dict) and data.get("dialog"):
            return {"dialog": [True]}, []
        return {}, [Problem(UNFINISHED)]

    def unfinished(self, lease: Lease) -> list[Problem]:
        """Return the one sentence that tells to go on, until the worker's ticket is done."""
        if Ticket.objects.filter(lease=lease, state=TicketState.DONE).exists():
            return []
        return [Problem(UNFINISHED)]

    def parts_wanted(self, table: StageTable, n_items: int) -> int:
        """Return one: a HIT is done as a whole, or not at all."""
        return 1

    def parts_done(self, data: Mapping[str, object]) -> int:
        """Return 1 for a draft that says that the dialog is over, 0 for any other."""
        return int(bool(data.get("dialog")))

    def hints_on_sent(self, lease: Lease, message: UUID) -> list[Problem]:
        """Return what the protocol's checks kindly say of a question that the worker has asked."""
        return hints_on_question(lease, message)

    def categories(self, type: str, payload: Mapping[str, object]) -> dict[str, str]:
        """Return whether there is an answer, and what was said beside it."""
        return reply.categories(type, payload)

    def store(self, submission: Submission, data: Data) -> None:
        """Write nothing: turns are kept as they are taken, and settled when a dialog is over."""


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
