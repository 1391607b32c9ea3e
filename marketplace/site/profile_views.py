"""A worker's own: account and data, preferences, earnings, history, messages."""

from datetime import timedelta
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Count, Min, Prefetch, Q, Sum
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, override
from django.views.decorators.http import require_POST, require_safe

from common.sent_form import form_key
from common.visitors import safe_next_url
from marketplace import clock, funds
from marketplace.configuration import base_url, payment_terms, requesters_see_mail
from marketplace.erasure import erase, everything_about
from marketplace.funds import bonus_cents
from marketplace.hits.acceptance import RAISED_WITHIN, late_work
from marketplace.hits.access import kinds_opened_by
from marketplace.hits.lifecycle import settle_due
from marketplace.languages import CODES, LANGUAGES, remember
from marketplace.models import (
    HANDED_IN,
    Assignment,
    AssignmentState,
    BonusPayment,
    HITType,
    LedgerEntry,
    LedgerKind,
    Message,
    Payout,
    PayoutWay,
    Requester,
    Worker,
    WorkerProfile,
)
from marketplace.models.identifiers import new_entity_id
from marketplace.models.keywords import stated_terms
from marketplace.notifications.messages import OPENING, MessageError, send_message, translated
from marketplace.payouts import PayoutError, choose_way, report_payment, statement_csv
from marketplace.people.accounts import PasswordError, choose_password, renew_link
from marketplace.people.requirements import is_country, is_subdivision, record_of
from marketplace.site.work_views import own_assignment
from marketplace.web.pages import PageError, first_or_error, page
from marketplace.web.worker_pages import (
    SignedInRequest,
    end,
    leave_notice,
    session_of,
    show,
    worker_page,
)


@worker_page
@require_safe
def account(request: SignedInRequest) -> HttpResponse:
    """Show how the worker signs in and what can be done with their data."""
    return _account(request)


def _account(request: SignedInRequest, status: int = 200, **context: object) -> HttpResponse:
    worker = request.worker
    pending = Assignment.objects.filter(worker=worker, state=AssignmentState.SUBMITTED)
    return show(
        request,
        "account.html",
        status=status,
        here="account",
        mail_is_seen=requesters_see_mail(),
        owed_cents=funds.owed_cents(worker),
        n_pending=pending.count(),
        n_sessions=worker.sessions.filter(expires_at__gt=clock.now()).count(),
        **context,
    )


@worker_page
@require_POST
def password(request: SignedInRequest) -> HttpResponse:
    """Choose a name and a password to sign in with, beside the personal link."""
    name = request.POST.get("name", "")
    try:
        choose_password(request.worker, name, request.POST.get("password", ""))
    except PasswordError as refusal:
        request.worker.refresh_from_db()
        return _account(request, 400, problem=str(refusal), typed_name=name)
    _end_other_sessions(request)
    leave_notice(request, _("You can sign in with this name and password from now on."))
    return redirect("account")


@worker_page
@require_POST
def link(request: SignedInRequest) -> HttpResponse:
    """Make a new personal link and show it this once."""
    token = renew_link(request.worker)
    path = reverse("enter", kwargs={"token": token})
    return _account(request, link=f"{base_url(request)}{path}")


@worker_page
@require_POST
def leave_everywhere(request: SignedInRequest) -> HttpResponse:
    """End every other sign-in of the worker."""
    _end_other_sessions(request)
    leave_notice(request, _("You are signed in here only."))
    return redirect("account")


def _end_other_sessions(request: SignedInRequest) -> None:
    request.worker.sessions.exclude(pk=request.worker_session.pk).delete()


@worker_page
@require_safe
def data(request: SignedInRequest) -> HttpResponse:
    """Send everything the marketplace holds about the worker, as one JSON document."""
    response = JsonResponse(
        everything_about(request.worker), json_dumps_params={"ensure_ascii": False, "indent": 1}
    )
    response["Content-Disposition"] = 'attachment; filename="my-data.json"'
    return response


@worker_page
@require_POST
def forget(request: SignedInRequest) -> HttpResponse:
    """Erase the worker, who has to say so, and to give up what is still owed or pending."""
    worker = request.worker
    open_work = Assignment.objects.filter(worker=worker, state=AssignmentState.SUBMITTED).exists()
    is_owed = funds.owed_cents(worker) > 0 or open_work
    if "sure" not in request.POST or (is_owed and "waive" not in request.POST):
        problem = _("Nothing was erased: tick the boxes first.")
        return _account(request, 400, erasing_problem=problem)
    erase(worker, clock.now())
    response = redirect(f"{reverse('home')}?erased=1")
    end(request, response)
    return response


BOXES = ("accepts_next", "is_adult", "has_large_text")
CHOICES = {"language": ("", *CODES), "theme": ("", "light", "dark")}


@worker_page
def preferences(request: SignedInRequest) -> HttpResponse:
    """Show the worker's choices and keep changed ones; a field that is not sent stays as it is."""
    if request.method != "POST":
        return _preferences(request)
    worker = request.worker
    country = request.POST.get("country", worker.country).strip().upper()
    # One code for both is how lists have it: US-CA.
    country, _dash, part = country.partition("-")
    kept = worker.subdivision if country == worker.country else ""
    subdivision = request.POST.get("subdivision", kept).strip().upper()
    subdivision = part or subdivision.removeprefix(f"{country}-")
    if country and not is_country(country):
        problem = _("Write the country as two letters, like DE or US, or leave it empty.")
        return _preferences(request, 400, problem)
    if subdivision and not is_subdivision(country, subdivision):
        problem = _(
            "Write the state or region as its two letters or digits, like CA for California, "
            "beside its country, or leave it empty."
        )
        return _preferences(request, 400, problem)
    worker.country, worker.subdivision = country, subdivision
    # A box that is not ticked is not sent, so each form says which boxes it has.
    for box in BOXES:
        if box in request.POST.getlist("boxes"):
            setattr(worker, box, box in request.POST)
    for name, allowed in CHOICES.items():
        if (value := request.POST.get(name)) in allowed:
            setattr(worker, name, value)
    worker.save(update_fields=["country", "subdivision", *BOXES, *CHOICES])
    if "quietly" in request.POST:
        return HttpResponse(status=204)
    with override(worker.language or None):
        leave_notice(request, _("Your preferences are kept."))
    return redirect("preferences")


def _preferences(request: SignedInRequest, status: int = 200, problem: str = "") -> HttpResponse:
    context = {"here": "preferences", "problem": problem, "languages": LANGUAGES}
    return show(request, "preferences.html", status=status, **context)


@page
@require_POST
def language(request: HttpRequest) -> HttpResponse:
    """Change the language of the site for this browser, and for the worker who is signed in."""
    response = redirect(safe_next_url(request, "home"))
    code = request.POST.get("language", "")
    if code in CODES:
        remember(response, code, secure=request.is_secure())
        if session := session_of(request):
            Worker.objects.filter(pk=session.worker_id).update(language=code)
    return response


WAYS = {
    PayoutWay.PAYPAL: gettext_noop("PayPal: the mail address of your account"),
    PayoutWay.IBAN: gettext_noop("Bank transfer: your IBAN"),
    PayoutWay.GIFT: gettext_noop("Gift card: the mail address it is sent to"),
    PayoutWay.PHONE: gettext_noop("Gift card: the phone number it is sent to"),
}
RECENTLY = timedelta(days=7)


@worker_page
@require_safe
def earnings(request: SignedInRequest) -> HttpResponse:
    """Show what waits for approval, was approved, is owed and was paid, with each payment."""
    return _earnings(request)


def _earnings(request: SignedInRequest, status: int = 200, **context: str) -> HttpResponse:
    worker = request.worker
    settle_due(clock.now(), assignments__worker=worker)
    settle_due(clock.now(), assignments__worker__merged_into=worker)
    mine = Q(worker=worker) | Q(worker__merged_into=worker)
    pending = Assignment.objects.filter(mine, state=AssignmentState.SUBMITTED)
    earned = LedgerEntry.objects.filter(worker=worker)
    recent = Assignment.objects.filter(
        mine,
        state__in=[AssignmentState.SUBMITTED, AssignmentState.APPROVED],
        submitted_at__gt=clock.now() - RECENTLY,
    )
    recent_bonuses = earned.filter(kind=LedgerKind.BONUS, at__gt=clock.now() - RECENTLY)
    payouts = Payout.objects.filter(worker=worker).order_by("-paid_on", "-pk")
    reports = worker.payment_reports.order_by("-pk")
    profile = getattr(worker, "profile", None) or WorkerProfile()
    kept = {
        "way": profile.payout_way,
        "handle": profile.payout_to,
        "name": profile.payout_name,
    }
    is_waiting = any(report.answered_at is None for report in reports)
    return show(
        request,
        "earnings.html",
        status=status,
        here="earnings",
        pending_cents=pending.aggregate(n=Sum("reward_cents", default=0))["n"],
        n_pending=pending.count(),
        next_approval_at=pending.aggregate(at=Min("auto_approval_at"))["at"],
        recent_cents=recent.aggregate(n=Sum("reward_cents", default=0))["n"] + _sum(recent_bonuses),
        n_recent=recent.count(),
        reward_cents=_sum(earned.filter(kind=LedgerKind.REWARD)),
        bonus_cents=_sum(earned.filter(kind=LedgerKind.BONUS)),
        approved_cents=_sum(earned.exclude(kind=LedgerKind.PAYOUT)),
        owed_cents=funds.owed_cents(worker),
        paid_cents=_sum(payouts),
        payouts=payouts,
        reports=reports,
        can_report=earned.exists() and not is_waiting,
        terms=payment_terms(),
        stated=_stated(worker),
        ways=[(one.value, WAYS[one]) for one in PayoutWay],
        **kept | context,
    )


def _stated(worker: Worker) -> list[tuple[str, str]]:
    """Return who says how they pay of those who asked for the worker's work, and what they say."""
    done = Assignment.objects.filter(worker=worker, state__in=HANDED_IN).values("hit__hit_type")
    kinds = HITType.objects.filter(pk__in=done).exclude(requester__payment_terms="")
    asked = kinds.values_list("keywords", "requester__name", "requester__payment_terms").distinct()
    # One account may ask in several names, and workers know it by these.
    return sorted({(stated_terms(words).asked_by or name, terms) for words, name, terms in asked})


def _sum(rows: object) -> int:
    return rows.aggregate(n=Sum("amount_cents", default=0))["n"]  # type: ignore[attr-defined]


@worker_page
@require_POST
def payout_way(request: SignedInRequest) -> HttpResponse:
    """Keep how the worker wants to be paid; what is refused keeps what was typed."""
    typed = {name: request.POST.get(name, "") for name in ("way", "handle", "name")}
    try:
        is_under_way = choose_way(request.worker, **typed, now=clock.now())
    except PayoutError as refusal:
        return _earnings(request, 400, way_problem=str(refusal), **typed)
    if is_under_way:
        said = _("Kept. A payment that is on a list already still goes where you said before.")
    else:
        said = _("Kept. The next payments go there.")
    leave_notice(request, said)
    return redirect("earnings")


@worker_page
@require_safe
def statement(request: SignedInRequest) -> HttpResponse:
    """Send the worker's account as a CSV file."""
    settle_due(clock.now(), assignments__worker=request.worker)
    response = HttpResponse(statement_csv(request.worker), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="statement-{clock.now():%Y-%m-%d}.csv"'
    return response


@worker_page
@require_POST
def report(request: SignedInRequest) -> HttpResponse:
    """Tell the host that a payment is missing or wrong; what is refused keeps what was written."""
    text = request.POST.get("text", "")
    try:
        report_payment(request.worker, text, clock.now())
    except PayoutError as refusal:
        return _earnings(request, 400, problem=str(refusal), text=text)
    leave_notice(request, _("Your report was sent. The answer will show here."))
    return redirect("earnings")


PAGE_SIZE = 25
# What can be picked in the address (`?show=rejected`), in the order of the page.
SHOWN: dict[str, list[AssignmentState]] = {
    "": [state for state in AssignmentState if state != AssignmentState.ACCEPTED],
    "submitted": [AssignmentState.SUBMITTED],
    "approved": [AssignmentState.APPROVED],
    "rejected": [AssignmentState.REJECTED],
    "returned": [AssignmentState.RETURNED, AssignmentState.ABANDONED],
}


@worker_page
@require_safe
def history(request: SignedInRequest) -> HttpResponse:
    """Show everything the worker accepted and is done with, newest first, all or by outcome."""
    settle_due(clock.now(), assignments__worker=request.worker)
    mine = Assignment.objects.filter(worker=request.worker)
    picked = request.GET.get("show", "")
    picked = picked if picked in SHOWN else ""
    rows = (
        mine.filter(state__in=SHOWN[picked])
        .select_related("hit__hit_type__requester", "contest")
        .prefetch_related(Prefetch("bonuses", BonusPayment.objects.order_by("pk")))
        .annotate(bonus_cents=bonus_cents())
        .order_by("-pk")
    )
    numbers = dict(mine.order_by().values_list("state").annotate(Count("pk")))
    tabs = [(name, sum(numbers.get(state, 0) for state in SHOWN[name])) for name in SHOWN]
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    return show(
        request,
        "history.html",
        here="history",
        page=page,
        picked=picked,
        tabs=tabs,
        handed_in=HANDED_IN,
        late={assignment.pk for assignment in late_work(request.worker, clock.now())},
    )


MESSAGES_SHOWN = 25
# Who wrote or reads a message is named as on the HIT or the qualification that it is about.
ABOUT = ("requester", "about__hit__hit_type__requester", "qualification_type__requester")
NO_MESSAGE = gettext_noop("There is no such message.")


@worker_page
@require_safe
def messages(request: SignedInRequest) -> HttpResponse:
    """Show the messages both ways, newest first; those shown count as read from then on."""
    rows = Message.objects.filter(worker=request.worker).select_related(*ABOUT)
    page = Paginator(rows.order_by("-pk"), MESSAGES_SHOWN).get_page(request.GET.get("page"))
    shown = [message.pk for message in page if not message.is_from_worker]
    opening = [
        (message, message.qualification_type)
        for message in page
        if message.qualification_type and (message.subject_message or {}).get("key") in OPENING
    ]
    if opening:
        types = [row for _message, row in opening]
        opened = kinds_opened_by(types, record_of(request.worker), clock.now())
        for message, row in opening:
            message.opened = opened[row.pk]  # type: ignore[attr-defined]
    response = show(
        request,
        "messages.html",
        here="messages",
        page=page,
        mail_is_seen=requesters_see_mail(),
        contest_days=RAISED_WITHIN.days,
    )
    Message.objects.filter(pk__in=shown, read_at=None).update(read_at=clock.now())
    return response


@worker_page
def reply(request: SignedInRequest, key: int) -> HttpResponse:
    """Write back to the requester of one of the worker's messages."""
    rows = Message.objects.filter(worker=request.worker, is_from_worker=False)
    found = first_or_error(rows.filter(pk=key).select_related(*ABOUT), NO_MESSAGE)
    if found.requester is None:
        raise PageError(NO_MESSAGE)
    named = found.about.hit.hit_type if found.about else found.qualification_type
    name = named.asked_by if named else found.requester.name
    told = translated(found.subject, found.subject_message)
    subject = told if told.startswith("Re: ") else f"Re: {told}"
    return _letter(request, found.requester, name, subject[:200], found.about, answered=found)


@worker_page
def write(request: SignedInRequest, key: int) -> HttpResponse:
    """Write to the requester of a HIT that the worker has or had."""
    assignment = own_assignment(request, key)
    kind = assignment.hit.hit_type
    return _letter(request, kind.requester, kind.asked_by, kind.title, assignment)


def _letter(
    request: SignedInRequest,
    requester: Requester,
    name: str,
    subject: str,
    about: Assignment | None,
    answered: Message | None = None,
) -> HttpResponse:
    context: dict[str, Any] = {
        "name": name,
        "about": about,
        "answered": answered,
        "here": "messages",
        "mail_is_seen": requesters_see_mail(),
        "address": request.path,
        "once": request.POST.get("once") or new_entity_id(),
    }
    if request.method != "POST":
        return show(request, "message.html", subject=subject, text="", problem="", **context)
    subject, text = request.POST.get("subject", ""), request.POST.get("text", "")
    try:
        key = form_key(request)
        send_message(request.worker, requester, subject, text, clock.now(), key, about)
    except MessageError as refusal:
        typed = {"subject": subject, "text": text, "problem": str(refusal)}
        return show(request, "message.html", status=400, **typed, **context)
    leave_notice(request, _("Your message to %(name)s was sent.") % {"name": name})
    return redirect("messages")
