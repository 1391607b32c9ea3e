"""What the stages of a collection have cost and hold so far, and the places they have made."""

from collections import Counter
from dataclasses import dataclass, field

from django.db.models import Case, Count, Exists, F, IntegerField, OuterRef, Q, Sum, When

from collector.models import Collection, Seed, Stage
from tasks.models import (
    BonusFund,
    Dialog,
    DialogState,
    Lease,
    Payment,
    PaymentState,
    Posting,
    PostingState,
    Question,
    Submission,
    Ticket,
    Topic,
    Unit,
    UnitItem,
)
from tasks.work.kinds.registry import kind_of
from tasks.work.units import left_out, made_by, was_read

OUT = (PostingState.PUBLISHING, PostingState.LIVE)
# A closed unit's places are those that were handed in.
MADE = Case(When(closed=True, then="submitted"), default="redundancy", output_field=IntegerField())


@dataclass
class StageCommitments:
    """Of one stage, in cents with fees, what is `spent`, and `held` for what can still be earned.

    `withheld`: of rejected work, which can be taken back. `fund`: held and paid for its own
    bonuses, `awarded` the paid part; neither is in the others. `made`: places there are, `left` of
    them not handed in; `live_hits`: HITs that are up or planned; `seeds` by fold, `waiting` those
    in no bundle; `imported`: questions by fold that were read from files, whose seeds are none
    here; `talks`: dialogs taken up, `talking` now; `tickets`: whose wait is held.
    """

    spent: int = 0
    held: int = 0
    withheld: int = 0
    fund: int = 0
    awarded: int = 0
    made: int = 0
    left: int = 0
    submitted: int = 0
    live_hits: int = 0
    talks: int = 0
    talking: int = 0
    tickets: int = 0
    seeds: Counter[str] = field(default_factory=Counter)
    waiting: Counter[str] = field(default_factory=Counter)
    imported: Counter[str] = field(default_factory=Counter)

    @property
    def cents(self) -> int:
        """Return all that is bound but for bonuses of its own."""
        return self.spent + self.held + self.withheld


def commitments_by_stage(
    collection: Collection, stages: list[Stage]
) -> dict[int, StageCommitments]:
    """Return what is bound by each of the collection's stages, by its id.

    The queries are as many for any amount of work.
    """
    found = {stage.pk: StageCommitments() for stage in stages}
    if was_read(collection):
        _count_imported(found)
    else:
        _count_seeds(found)
    _count_places(collection, found)
    _count_money(collection, found)
    if any(kind_of(stage).pairs_workers for stage in stages):
        _count_dialogs(collection, found)
    return found


def _count_seeds(found: dict[int, StageCommitments]) -> None:
    bundled = Exists(UnitItem.objects.filter(seed=OuterRef("pk")))
    rows = (
        Seed.objects.filter(stage__in=found)
        .order_by()
        .values_list("stage_id", "fold", bundled)
        .annotate(n=Count("pk"))
    )
    for stage, fold, is_bundled, number in rows:
        found[stage].seeds[fold] += number
        if not is_bundled:
            found[stage].waiting[fold] += number


def _count_imported(found: dict[int, StageCommitments]) -> None:
    rows = Question.objects.filter(stage__in=found).order_by().values_list("stage_id", "seed__fold")
    for stage, fold, number in rows.annotate(n=Count("pk")):
        found[stage].imported[fold] += number


def _count_places(collection: Collection, found: dict[int, StageCommitments]) -> None:
    units = Unit.objects.filter(stage__collection=collection).order_by().values_list("stage_id")
    for stage, places, submitted in units.annotate(places=Sum(MADE), submitted=Sum("submitted")):
        found[stage].made, found[stage].submitted = places, submitted
        found[stage].left = places - submitted
    # What was left out of the dataset is made once more.
    gone = Submission.objects.filter(lease__unit__stage__collection=collection, replaced=True)
    for stage, number in gone.order_by().values_list("lease__unit__stage").annotate(n=Count("pk")):
        found[stage].made -= number
        found[stage].submitted -= number
    postings = Posting.objects.filter(stage__collection=collection, worker__isnull=True)
    for stage, number, held in (
        postings.order_by()
        .values_list("stage_id")
        .annotate(n=Count("pk", filter=Q(state__in=OUT)), held=Sum("reserved_cents"))
    ):
        found[stage].live_hits, found[stage].held = number, held
    stays = Lease.objects.filter(
        unit__stage__collection=collection, reserved_cents__gt=0
    ).order_by()
    for stage, held in stays.values_list("unit__stage_id").annotate(held=Sum("reserved_cents")):
        found[stage].held += held
    # Where all questions are left out, others are asked in their place.
    out, items = left_out(collection.pk), UnitItem.objects.filter(unit=OuterRef("pk"))
    made = made_by(out, "question__")
    useless = units.filter(Exists(items.filter(made)), ~Exists(items.exclude(made)))
    for stage, places, submitted in useless.annotate(places=Sum(MADE), submitted=Sum("submitted")):
        found[stage].made -= places
        found[stage].submitted -= submitted


def _count_money(collection: Collection, found: dict[int, StageCommitments]) -> None:
    paid = Payment.objects.filter(collection=collection, stage__isnull=False)
    withheld, cost = Q(state=PaymentState.WITHHELD), F("amount_cents") + F("fee_cents")
    for stage, spent, back in (
        paid.order_by()
        .values_list("stage_id")
        .annotate(
            spent=Sum(cost, filter=~withheld, default=0),
            back=Sum(cost, filter=withheld, default=0),
        )
    ):
        found[stage].spent, found[stage].withheld = spent, back
    for fund in BonusFund.objects.filter(stage__collection=collection):
        row = found[fund.stage_id]
        row.fund, row.awarded = fund.held_cents, fund.paid_cents
        row.spent -= fund.paid_cents


def _count_dialogs(collection: Collection, found: dict[int, StageCommitments]) -> None:
    tickets = Ticket.objects.filter(stage__collection=collection).order_by()
    for stage, held, waiting in tickets.values_list("stage_id").annotate(
        held=Sum("reserved_cents"), waiting=Count("pk", filter=Q(reserved_cents__gt=0))
    ):
        found[stage].held += held
        found[stage].tickets = waiting
    dialogs = Dialog.objects.filter(stage__collection=collection, settled=False).order_by()
    for stage, held, talking in dialogs.values_list("stage_id").annotate(
        held=Sum("reserved_cents"), talking=Count("pk", filter=~Q(state=DialogState.OVER))
    ):
        found[stage].held += held
        found[stage].talking = talking
    topics = Topic.objects.filter(stage__collection=collection).order_by()
    for stage, taken in topics.values_list("stage_id").annotate(taken=Sum("taken")):
        found[stage].talks = taken
