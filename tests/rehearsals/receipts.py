"""Receipts that an outage cut off on their way to the marketplace: sent again, or compensated.

All of it runs on an instance's databases, and goes through its pages as a person does.
"""

import time
from datetime import timedelta

from django.conf import settings
from django.db.models import Count, Sum
from django.utils import timezone

from collector.models import Collection
from tasks.lifecycle.maintenance import maintain
from tasks.models import Payment, PaymentState, Posting, PostingState, ReceiptState, Submission
from tasks.simulation import crowd
from tasks.simulation.browser import Browser, Form, Page, UnreachableError
from tasks.simulation.recruiting import recruit
from tasks.simulation.worker import SimulatedWorker

# More rounds than this with something to do are a circle.
MOST_ROUNDS = 20


class CutOff(Browser):
    """A browser that does not reach the marketplace any more once the work is handed in."""

    def send_from_frame(self, page: Page, form: Form, content: dict[str, str]) -> Page:
        """Raise UnreachableError for a receipt; whatever else a frame sends is sent."""
        if form.action.endswith("/externalSubmit"):
            raise UnreachableError("The marketplace does not answer.")
        return super().send_from_frame(page, form, content)


def cut_off(slug: str, stage: str, name: str) -> None:
    """Let somebody hand in one HIT of a stage, whose receipt does not get through."""
    collection = Collection.objects.get(slug=slug)
    (worker,) = recruit(collection, 1, behaviour="diligent", seed=5).workers
    worker.name, worker.browser = name, CutOff(settings.MARKETPLACE_URL)
    worker.sign_in()
    types = list(crowd.hit_types(collection, stage))
    try:
        outcome = worker.turn(crowd.available_hits(collection, types), time.monotonic())
    except UnreachableError:
        return
    raise AssertionError(f"{name} was not cut off: {outcome}")


def come_back(name: str) -> str:
    """Let somebody go on with what is in progress for them; returns what became of it."""
    return _person(name).turn({}, time.monotonic())


def _person(name: str) -> SimulatedWorker:
    person = SimulatedWorker(name, Browser(settings.MARKETPLACE_URL), lambda state, opener: {})
    person.sign_in()
    return person


def pass_days(slug: str, days: int) -> dict[str, int]:
    """Do all that is to do so many days from now; returns how often each step did something."""
    collection, did = Collection.objects.get(slug=slug), dict[str, int]()
    for _ in range(MOST_ROUNDS):
        done = maintain(collection, timezone.now() + timedelta(days=days))
        if not any(done.values()):
            return did
        did |= {name: did.get(name, 0) + number for name, number in done.items() if number}
    raise AssertionError(f"After {MOST_ROUNDS} rounds there is still something to do: {done}")


def collect(slug: str, names: dict[str, str]) -> int:
    """Let everybody who is owed something collect it; returns how many HITs that were.

    names: by which the marketplace's workers sign in, by their ids.
    """
    owed = Posting.objects.filter(
        stage__collection__slug=slug, worker__isnull=False, state=PostingState.LIVE
    ).select_related("worker__identity")
    for posting in owed:
        assert posting.worker
        person = _person(names[posting.worker.identity.person])
        page = person.accept(posting.external_id)
        assert page, f"{person.name} cannot take the HIT of what they are owed"
        inner = person.enter(page)
        assert inner
        form = inner.form("Collect it")
        assert person.hand_over(page, inner, form, form.filled("Collect it", {})) == "submitted"
    return len(owed)


def held(slug: str) -> int:
    """Return how many submissions the marketplace has not listed yet."""
    return Submission.objects.filter(
        lease__unit__stage__collection__slug=slug, state=ReceiptState.HELD
    ).count()


def ledger(slug: str) -> dict[str, int]:
    """Return how many payments there are, of how many cents; `open` are those not paid yet.

    `rerouted` are those of work whose receipt was lost, `submissions` the work itself.
    """
    payments = Payment.objects.filter(collection__slug=slug, amount_cents__gt=0)
    work = Submission.objects.filter(lease__unit__stage__collection__slug=slug)
    return {
        **payments.aggregate(number=Count("pk"), cents=Sum("amount_cents", default=0)),
        "open": payments.exclude(state=PaymentState.CONFIRMED).count(),
        "submissions": work.count(),
        "paid_once": work.annotate(n=Count("payments")).filter(n=1).count(),
        "rerouted": work.filter(payments__posting__worker__isnull=False).count(),
    }
