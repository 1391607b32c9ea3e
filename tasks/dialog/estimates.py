"""What the dialogs of a stage will cost beside their rewards: waits and turns."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from django.db.models import F, Sum

from collector.models import Stage
from collector.parameters import Parameters
from tasks.dialog.earnings import longest_dialog_cents, longest_wait_cents, usual_dialog_cents
from tasks.models import Dialog, Payment, PaymentKind, Ticket, Topic


@dataclass(frozen=True)
class Talks:
    """Cents, fees included: at most, and as dialogs and waits usually are."""

    worst: int
    expected: int


def dialogs_wanted(stage: Stage, table: Any) -> Counter[str]:
    """Return how many dialogs the stage's sections are to have, by fold."""
    folds = Counter(
        stage.collection.seeds.filter(stage_name=stage.name).values_list("fold", flat=True)
    )
    return Counter({fold: n * table.redundancy.of(fold) for fold, n in folds.items()})


def talk_cents(stage: Stage, parameters: Parameters) -> Talks:
    """Return what waits and turns have cost, what is held for them, and what is still to come."""
    table: Any = parameters.stages()[stage.name]
    taken = Topic.objects.filter(stage=stage).aggregate(n=Sum("taken", default=0))["n"]
    missing = max(0, dialogs_wanted(stage, table).total() - taken)
    earned = Payment.objects.filter(stage=stage, kind=PaymentKind.BONUS).aggregate(
        cents=Sum(F("amount_cents") + F("fee_cents"), default=0)
    )["cents"]
    bound = earned + sum(
        rows.filter(stage=stage).aggregate(cents=Sum("reserved_cents", default=0))["cents"]
        for rows in (Ticket.objects, Dialog.objects)
    )
    wait = longest_wait_cents(table, parameters)
    return Talks(
        worst=bound + missing * (2 * wait + longest_dialog_cents(table, parameters)),
        # Nobody knows before how many wait at a time: half the longest wait.
        expected=bound + missing * (wait + usual_dialog_cents(table, parameters)),
    )
