"""Giving a bonus for work that was handed in, and looking for those that others have paid."""

from dataclasses import dataclass
from uuid import UUID, uuid4

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from annotation.dashboard.access import name_of
from annotation.dashboard.collection_context import CollectionContext, collection_page
from annotation.dashboard.forms import LONGEST_AMOUNT, cents_of
from common.actions import ActionError
from tasks.ledger import payments
from tasks.models import Payment, PaymentKind, Session, Submission
from tasks.paying import external_bonuses


@dataclass(frozen=True)
class BonusForm:
    """The form for one assignment: sent twice it gives once, refused it keeps what was typed."""

    once: str
    amount: str = ""
    reason: str = ""


def bonus_form(request: HttpRequest, submission: Submission) -> BonusForm:
    """Return the form as it is shown now."""
    typed = request.session.pop(_typed(submission), {})
    return BonusForm(once=str(uuid4()), **typed)


def bonuses_of(submission: Submission) -> list[Payment]:
    """Return every bonus for the assignment, the newest first."""
    rows = Payment.objects.filter(kind=PaymentKind.BONUS, lease=submission.lease_id)
    return list(rows.order_by("-pk"))


@collection_page
@require_POST
def give_bonus(request: HttpRequest, context: CollectionContext, key: int) -> HttpResponse:
    """Give a bonus for what was handed in with one assignment."""
    rows = Submission.objects.filter(lease__unit__stage__collection=context.collection)
    rows = rows.select_related("lease__unit__stage__collection", "lease__worker__identity")
    # Django knows of a key of its own, not of a reference, that no column takes thirty digits.
    session = Session.objects.filter(pk=key)
    submission = rows.filter(lease__session__in=session).order_by("counts", "pk").last()
    if submission is None:
        raise Http404
    amount, reason = request.POST.get("amount", ""), request.POST.get("reason", "")
    cents = cents_of(amount, context.parameters.pay.minor_units)
    try:
        once = UUID(request.POST.get("once", ""))
        payment = payments.give_bonus(
            submission.lease, cents or 0, reason, name_of(request), once, timezone.now()
        )
    except (ActionError, ValueError) as error:
        given = {"amount": amount[:LONGEST_AMOUNT], "reason": reason[: payments.MOST_WORDS + 100]}
        request.session[_typed(submission)] = given
        is_ours = isinstance(error, ActionError)
        messages.error(request, str(error) if is_ours else "Send it with the button on this page.")
    else:
        price = context.price(payment.amount_cents)
        messages.success(request, f"A bonus of {price} is given. The marketplace is told next.")
    return redirect(context.url("assignment", key=key) + "#bonus")


@collection_page
@require_POST
def find_bonuses(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Have every HIT asked about now for bonuses that were not paid from here."""
    hits = external_bonuses.ask_anew(context.collection, timezone.now())
    counted = f"{hits:,} HIT" if hits == 1 else f"{hits:,} HITs"
    messages.success(
        request,
        f"The marketplace is asked about {counted} in the next minutes. What it lists is entered.",
    )
    return redirect(context.url("money") + "#beside")


def _typed(submission: Submission) -> str:
    return f"bonus {submission.pk}"
