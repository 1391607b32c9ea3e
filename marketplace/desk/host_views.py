"""The host's pages: requesters with credit, keys and people; payouts; settings, the audit log."""

from decimal import Decimal
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from common.long_bodies import long_bodies_from
from common.spreadsheet import UploadError
from marketplace import clock, funds
from marketplace.amounts import price_of
from marketplace.configuration import (
    SystemPolicy,
    auto_approval_cap_seconds,
    base_url,
    choose,
    currency,
    currency_symbol,
    default_balance_cents,
    payment_terms,
    requesters_see_mail,
    system_policies,
)
from marketplace.desk.users import UserError, close_user, new_password, open_user, reset_password
from marketplace.hits.facts import LABELS
from marketplace.hits.lifecycle import settle_due
from marketplace.models import (
    AccessKey,
    AuditEntry,
    DeskSession,
    DeskUser,
    PaymentReport,
    PayoutLine,
    PayoutList,
    Requester,
    Role,
)
from marketplace.models.identifiers import new_entity_id, new_secret
from marketplace.payouts import (
    COLUMNS,
    OPEN,
    TOTALS,
    PayoutError,
    answer_report,
    confirm,
    make_list,
    n_without_way,
    owed_by_worker,
    parts_of,
    payout_csv,
    remove_line,
    rows_of,
    totals,
)
from marketplace.people.accounts import open_requester
from marketplace.people.grants import HOST_ACCOUNT
from marketplace.router import atomic
from marketplace.web.desk_pages import (
    DeskRequest,
    SeenForm,
    csv_file,
    host_page,
    knows,
    leave_notice,
    page_of,
    record,
    requester_page,
    show,
    text_from,
)
from marketplace.web.pages import PageError, first_or_error


class AccountForm(SeenForm):
    """A requester's contact, own terms of payment, and what their tasks may use."""

    contact = forms.CharField(
        label="Contact",
        max_length=254,
        required=False,
        help_text="Where workers can write to: a mail address or a page. May stay empty.",
    )
    payment_terms = forms.CharField(
        label="Who pays, how and by when",
        max_length=300,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Workers read it before they accept a HIT. If empty, the marketplace's own "
        "words stand there.",
    )
    frame_permissions = forms.MultipleChoiceField(
        label="Your tasks may",
        choices=tuple(LABELS.items()),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Once a HIT is accepted. Workers read it before they accept, and browsers still "
        "ask them before a microphone or camera is used.",
    )

    def clean_frame_permissions(self) -> list[str]:
        """Return what is chosen in one order."""
        chosen = self.cleaned_data["frame_permissions"]
        return [name for name in LABELS if name in chosen]


def present(found: Requester) -> dict[str, str | list[str]]:
    """Return what is kept of an account, as the form names it."""
    return {
        "contact": found.contact,
        "payment_terms": found.payment_terms,
        "frame_permissions": found.frame_permissions.split(),
    }


def keep_account(request: DeskRequest, found: Requester) -> AccountForm:
    """Return the form that was sent; what it says is kept where it has no errors."""
    with atomic():
        row = Requester.objects.select_for_update().get(pk=found.pk)
        form = AccountForm(request.POST, initial=present(row))
        if form.is_valid():
            permissions = " ".join(form.cleaned_data["frame_permissions"])
            kept = form.cleaned_data | {"frame_permissions": permissions}
            Requester.objects.filter(pk=row.pk).update(**kept)
            for name in form.changed_data:
                said = kept[name] or "nothing"
                record(request, f"Set “{form.fields[name].label}” of {row.name} to {said}")
    if not form.errors:
        leave_notice(request, "The changes are kept. Workers read them from now on.")
    return form


@requester_page
def account(request: DeskRequest) -> HttpResponse:
    """Show the requester's account and keep what they change about it."""
    if request.method == "POST":
        form = keep_account(request, request.requester)
        if not form.errors:
            return redirect("desk-account")
    else:
        form = AccountForm(initial=present(request.requester))
    status = 400 if form.errors else 200
    return show(
        request, "account.html", status=status, here="account", found=request.requester, form=form
    )


NO_REQUESTER = "There is no such requester. Choose one from the list."
NO_SIGN_IN = "There is no such sign-in. Choose the requester from the list."


class RequesterForm(forms.Form):
    """A requester's name and contact, as workers see them."""

    name = forms.CharField(label="Name", max_length=120, help_text="Workers see it on every HIT.")
    contact = forms.CharField(
        label="Contact",
        max_length=254,
        required=False,
        help_text="Where workers can write to: a mail address or a page. May stay empty.",
    )


class CreditForm(forms.Form):
    """Credit for a requester: it only bounds what can be posted."""

    amount = forms.DecimalField(
        label="Amount",
        min_value=Decimal("0.01"),
        max_value=Decimal("1000000"),
        decimal_places=2,
        help_text="Like 500.00. No money moves: credit bounds what this requester can promise.",
    )
    # Names this grant, made with the page: a reload or a second click adds nothing.
    once = forms.RegexField(r"^[A-Z0-9]{30}$", widget=forms.HiddenInput, initial=new_entity_id)

    def clean(self) -> dict[str, Any]:
        """Refuse a form that does not name its grant, with what to do."""
        if "once" in self.errors:
            self.add_error(None, "This form is incomplete. Open the page again and send it anew.")
        return self.cleaned_data


@host_page
def requesters(request: DeskRequest) -> HttpResponse:
    """Show the requesters and open a new one."""
    form = RequesterForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        name = form.cleaned_data["name"].strip()
        if not Requester.objects.filter(name__iexact=name).exists():
            with atomic():
                requester = open_requester(
                    name, form.cleaned_data["contact"], default_balance_cents(), clock.now()
                )
                record(request, f"Opened the requester {name}")
            leave_notice(
                request, f"{name} is open. Next: make a sign-in for a person, or a key for code."
            )
            return redirect("desk-requester", key=requester.pk)
        form.add_error("name", "A requester of this name is there already. Choose another name.")
    rows = _requesters().order_by("name").prefetch_related("desk_users", "access_keys")
    return show(
        request,
        "requesters.html",
        status=400 if form.errors else 200,
        here="requesters",
        page=page_of(request, rows),
        form=form,
    )


def _found(key: int) -> Requester:
    return first_or_error(_requesters().filter(pk=key), NO_REQUESTER)


def _requesters() -> QuerySet[Requester]:
    # The account that groups belong to posts nothing and has no desk.
    return Requester.objects.exclude(name=HOST_ACCOUNT)


@host_page
@require_safe
def requester(request: DeskRequest, key: int) -> HttpResponse:
    """Show one requester: credit, keys without their secrets, and who signs in for it."""
    return _drawn(request, _found(key))


def _drawn(
    request: DeskRequest, found: Requester, status: int = 200, **context: object
) -> HttpResponse:
    found.refresh_from_db()
    return show(
        request,
        "requester.html",
        status=status,
        here="requesters",
        found=found,
        keys=found.access_keys.order_by("revoked_at", "-pk"),
        users=found.desk_users.order_by("-is_active", "name"),
        endpoint=base_url(request),
        **{
            "credit_form": CreditForm(),
            "account_form": AccountForm(initial=present(found)),
            **context,
        },
    )


@host_page
@require_POST
def change_account(request: DeskRequest, key: int) -> HttpResponse:
    """Keep what the host writes as a requester's contact and terms of payment."""
    found = _found(key)
    form = keep_account(request, found)
    if form.errors:
        return _drawn(request, found, status=400, account_form=form)
    return redirect("desk-requester", key=key)


@host_page
@require_POST
def make_key(request: DeskRequest, key: int) -> HttpResponse:
    """Make an access key; its secret is on this one page and nowhere after."""
    found = _found(key)
    with atomic():
        secret = new_secret()
        made = AccessKey.objects.create(
            requester=found, secret_access_key=secret, created_at=clock.now()
        )
        record(request, f"Made the access key {made.access_key_id} of {found.name}")
    return _drawn(request, found, made=made)


@host_page
@require_POST
def revoke_key(request: DeskRequest, key: int) -> HttpResponse:
    """Revoke an access key; requests signed with it are refused from now on. Twice is as once."""
    found = first_or_error(
        AccessKey.objects.select_related("requester").filter(pk=key),
        "There is no such key. Choose the requester from the list.",
    )
    with atomic():
        rows = AccessKey.objects.filter(pk=key, revoked_at=None)
        if rows.update(revoked_at=clock.now()):
            record(request, f"Revoked the key {found.access_key_id} of {found.requester.name}")
    leave_notice(request, f"{found.access_key_id} is revoked.")
    return redirect("desk-requester", key=found.requester_id)


@host_page
@require_POST
def give_credit(request: DeskRequest, key: int) -> HttpResponse:
    """Grant credit, once per form: the same form sent twice counts once."""
    found = _found(key)
    form = CreditForm(request.POST)
    if not form.is_valid():
        return _drawn(request, found, status=400, credit_form=form)
    cents = int(form.cleaned_data["amount"] * 100)
    reason = f"desk:{form.cleaned_data['once']}"
    with atomic():
        locked = Requester.objects.select_for_update().get(pk=found.pk)
        is_new = not locked.entries.filter(key=f"credit:{locked.pk}:{reason}").exists()
        if is_new:
            funds.credit(locked, cents, reason, clock.now())
            record(request, f"Granted {found.name} credit of {price_of(cents)}")
    leave_notice(
        request,
        f"{found.name} has {price_of(cents)} more to post HITs with."
        if is_new
        else "This credit was granted before, and counts once.",
    )
    return redirect("desk-requester", key=key)


@host_page
@require_POST
def make_user(request: DeskRequest, key: int) -> HttpResponse:
    """Make a sign-in for a person of this requester; the password is shown once."""
    found = _found(key)
    password = new_password()
    try:
        with atomic():
            user = open_user(request.POST.get("name", ""), password, found, clock.now())
            record(request, f"Opened the sign-in {user.name} for {found.name}")
    except UserError as error:
        return _drawn(request, found, status=400, user_problem=str(error))
    return _drawn(request, found, handed_over=(user, password, _address(request)))


@host_page
@require_POST
def renew_password(request: DeskRequest, key: int) -> HttpResponse:
    """Give a requester's person a new password, shown once, and sign them out everywhere."""
    user = _requester_user(key)
    assert user.requester is not None
    with atomic():
        password = reset_password(user)
        record(request, f"Renewed the password of {user.name}")
    return _drawn(request, user.requester, handed_over=(user, password, _address(request)))


@host_page
@require_POST
def end_user(request: DeskRequest, key: int) -> HttpResponse:
    """Close the sign-in of a requester's person."""
    user = _requester_user(key)
    with atomic():
        close_user(user)
        record(request, f"Closed the sign-in {user.name}")
    leave_notice(request, f"{user.name} cannot sign in any more.")
    return redirect("desk-requester", key=user.requester_id)


def _requester_user(key: int) -> DeskUser:
    rows = DeskUser.objects.filter(pk=key, requester__isnull=False, is_active=True)
    return first_or_error(rows.select_related("requester"), NO_SIGN_IN)


def _address(request: DeskRequest) -> str:
    return base_url(request) + reverse("desk-sign-in")


@host_page
@require_POST
def act_for(request: DeskRequest, key: int) -> HttpResponse:
    """Open a requester's desk as the host; whatever is done there is logged as done by the host."""
    found = _found(key)
    others = DeskSession.objects.filter(pk=request.desk.session.pk).exclude(acting_for=found)
    # Once, also where two clicks are served at the same moment.
    if others.update(acting_for=found):
        record(request, f"Began to act for {found.name}")
    return redirect("desk-projects")


@host_page
@require_POST
def act_no_more(request: DeskRequest) -> HttpResponse:
    """Leave a requester's desk and go back to the host's."""
    request.desk.session.acting_for = None
    request.desk.session.save(update_fields=["acting_for"])
    return redirect("desk-requesters")


NO_CURRENCY = (
    "Nobody has said which currency this is: the server's operator sets MARKETPLACE_CURRENCY "
    "to its three letters, like EUR."
)
NO_LIST = "There is no such list. Choose one under Payouts."


@host_page
def payouts(request: DeskRequest) -> HttpResponse:
    """Show what is owed and the lists made; a POST makes the next list."""
    if request.method == "POST":
        made = make_list(request.desk.user.name, clock.now())
        if made is None:
            leave_notice(request, "Nothing more is owed: all of it stands on a list already.")
            return redirect("desk-payouts")
        record(request, f"Made the payout list {made.pk}")
        return redirect("desk-payout-list", key=made.pk)
    settle_due(clock.now())
    owed = owed_by_worker()
    lists = PayoutList.objects.order_by("-pk").prefetch_related("lines")
    return show(
        request,
        "payouts.html",
        here="payouts",
        owed_cents=sum(owed.values()),
        n_owed=len(owed),
        page=page_of(request, lists),
        reports=PaymentReport.objects.filter(answered_at=None).select_related("worker"),
    )


@host_page
@require_safe
def payout_list(request: DeskRequest, key: int) -> HttpResponse:
    """Show one list: what is paid, what is still to pay."""
    return _drawn_list(request, key)


def _drawn_list(
    request: DeskRequest, key: int, status: int = 200, **context: object
) -> HttpResponse:
    made = first_or_error(PayoutList.objects.filter(pk=key), NO_LIST)
    lines = made.lines.select_related("worker", "payout").order_by("pk")
    still_open = lines.filter(OPEN)
    return show(
        request,
        "payout_list.html",
        status=status,
        here="payouts",
        made=made,
        page=page_of(request, lines),
        n_open=still_open.count(),
        parts=parts_of(made),
        n_without_way=n_without_way(made),
        open_cents=sum(still_open.values_list("amount_cents", flat=True)),
        **context,
    )


@host_page
@require_safe
def payout_file(request: DeskRequest, key: int) -> HttpResponse:
    """Return the list as CSV, the same as often as it is asked for."""
    made = first_or_error(PayoutList.objects.filter(pk=key), NO_LIST)
    rows = rows_of(made, currency() or currency_symbol())
    return csv_file(f"payouts-{made.pk}.csv", list(COLUMNS), rows)


@host_page
@require_safe
def service_file(request: DeskRequest, key: int, name: str, part: int) -> HttpResponse:
    """Return what of a list is to pay by one service, as that service reads it."""
    made = first_or_error(PayoutList.objects.filter(pk=key), NO_LIST)
    if (name, part) not in [(one, number) for one, _, number, _ in parts_of(made)]:
        raise PageError("Nothing is left to pay in this way. Choose a file on the list's page.")
    if not currency():
        raise PageError(NO_CURRENCY, 409)
    response = HttpResponse(payout_csv(made, name, part), content_type="text/csv; charset=utf-8")
    file = f"payouts-{made.pk}-{name}-{part}.csv"
    response["Content-Disposition"] = f'attachment; filename="{file}"'
    return response


@host_page
@require_safe
def totals_file(request: DeskRequest) -> HttpResponse:
    """Return what each person was paid in each year, as CSV."""
    return csv_file("paid-by-year.csv", list(TOTALS), totals())


@long_bodies_from(knows)
@host_page
@require_POST
def confirm_list(request: DeskRequest, key: int) -> HttpResponse:
    """Take the filled list back; rows with a problem say so, the others count."""
    try:
        found = confirm(text_from(request), request.POST.get("method", ""), clock.now())
    except UploadError as error:
        return _drawn_list(request, key, status=400, problem=str(error))
    if found.n_new:
        payments = "1 payment" if found.n_new == 1 else f"{found.n_new} payments"
        paid = f"{payments}, {price_of(found.cents)} in all"
        record(request, f"Confirmed {paid}, with list {key}")
    return _drawn_list(request, key, status=400 if found.problems else 200, confirmed=found)


@host_page
@require_POST
def drop_line(request: DeskRequest, key: int) -> HttpResponse:
    """Take a line off its list; its money is owed again and goes on the next one."""
    line = first_or_error(
        PayoutLine.objects.select_related("worker").filter(pk=key),
        "There is no such payment. Choose a list under Payouts.",
    )
    if remove_line(line, clock.now()):
        record(request, f"Took the payment {line.reference} off its list")
        leave_notice(request, f"{line.reference} is off the list; its money is owed again.")
    else:
        leave_notice(request, f"{line.reference} was paid or taken off before.")
    return redirect("desk-payout-list", key=line.payout_list_id)


@host_page
@require_POST
def answer(request: DeskRequest, key: int) -> HttpResponse:
    """Answer a worker who reports a missing payment."""
    report = first_or_error(
        PaymentReport.objects.select_related("worker").filter(pk=key),
        "There is no such report. Choose one under Payouts.",
    )
    try:
        answer_report(report, request.POST.get("answer", ""), clock.now())
    except PayoutError as error:
        leave_notice(request, str(error))
    else:
        record(request, f"Answered the payment report of {report.worker.worker_id}")
        leave_notice(request, "Your answer stands beside the worker's earnings now.")
    return redirect("desk-payouts")


DAY = 24 * 3600
POLICIES = [
    (SystemPolicy.UNTIL_HISTORY.value, "Met by everybody until they have handed in 100 HITs here"),
    (SystemPolicy.ENFORCE.value, "Counts from the start"),
    (SystemPolicy.IMPORTED.value, "Counts, with the history that was imported with the worker"),
]
# Country and adulthood have no history: they are what workers state.
STATED = [
    (SystemPolicy.ENFORCE.value, "Counts from the start, as workers state it"),
    (SystemPolicy.UNTIL_HISTORY.value, "Met by everybody until they have handed in 100 HITs here"),
]


class SettingsForm(SeenForm):
    """The marketplace's behaviour, as far as its host chooses it."""

    auto_approval_days = forms.DecimalField(
        label="Undecided work is approved after (days)",
        min_value=0,
        max_value=30,
        decimal_places=2,
        help_text="At the latest; a requester can choose less. It counts for work handed in after.",
    )
    payment_terms = forms.CharField(
        label="Who pays, how and by when",
        required=False,
        max_length=300,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Workers read it before they accept a HIT. A requester's own words go first.",
    )
    requesters_see_mail = forms.BooleanField(
        label="Requesters see the mail addresses of those who worked for them", required=False
    )
    locale = forms.ChoiceField(label="Country", choices=STATED)
    adult = forms.ChoiceField(label="Being an adult", choices=STATED)
    n_approved = forms.ChoiceField(label="Number of HITs approved", choices=POLICIES)
    percent_approved = forms.ChoiceField(label="Share of work approved", choices=POLICIES)
    masters = forms.ChoiceField(
        label="Masters",
        choices=POLICIES[:2],
        help_text="Nobody is a Master here: if it counts, such HITs are hidden from everybody.",
    )


def _chosen() -> dict[str, object]:
    return {
        "auto_approval_days": Decimal(f"{auto_approval_cap_seconds() / DAY:g}"),
        "payment_terms": payment_terms(),
        "requesters_see_mail": requesters_see_mail(),
        **{name: policy.value for name, policy in system_policies().items()},
    }


@host_page
def settings_page(request: DeskRequest) -> HttpResponse:
    """Show the settings and keep what the host changes."""
    if request.method != "POST":
        form = SettingsForm(initial=_chosen())
        return show(request, "settings.html", here="settings", form=form)
    with atomic():
        # What was never chosen has no row to lock, so hosts lock each other out.
        list(DeskUser.objects.select_for_update().filter(role=Role.HOST).order_by("pk"))
        form = SettingsForm(request.POST, initial=_chosen())
        if form.is_valid():
            now, values = clock.now(), form.cleaned_data
            choose("auto_approval_cap_seconds", int(values["auto_approval_days"] * DAY), now)
            choose("payment_terms", values["payment_terms"].strip(), now)
            choose("requesters_see_mail", values["requesters_see_mail"], now)
            choose("system_policies", {name: values[name] for name in system_policies()}, now)
            for name in form.changed_data:
                label = form.fields[name].label
                record(request, f"Set “{label}” to {_said(form, name)}")
    if form.errors:
        return show(request, "settings.html", status=400, here="settings", form=form)
    leave_notice(request, "Your settings are kept.")
    return redirect("desk-settings")


def _said(form: SettingsForm, name: str) -> str:
    value = form.cleaned_data[name]
    words = dict(getattr(form.fields[name], "choices", ()))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(words.get(value, value)) or "nothing"


@host_page
@require_safe
def audit_log(request: DeskRequest) -> HttpResponse:
    """Show every change made at the desk, newest first."""
    rows = AuditEntry.objects.order_by("-pk")
    return show(request, "audit.html", here="audit", page=page_of(request, rows))
