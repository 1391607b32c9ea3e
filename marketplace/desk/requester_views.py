"""Requesters' accounts: opened by the host, with keys, people and credit; what workers read."""

from decimal import Decimal
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from marketplace import clock, funds
from marketplace.amounts import price_of
from marketplace.configuration import base_url, default_balance_cents
from marketplace.desk.users import UserError, close_user, new_password, open_user, reset_password
from marketplace.hits.facts import LABELS
from marketplace.models import AccessKey, DeskSession, DeskUser, Requester
from marketplace.models.identifiers import new_entity_id, new_secret
from marketplace.people.accounts import open_requester
from marketplace.people.grants import HOST_ACCOUNT
from marketplace.router import atomic
from marketplace.web.desk_pages import (
    DeskRequest,
    SeenForm,
    host_page,
    leave_notice,
    page_of,
    record,
    requester_page,
    show,
)
from marketplace.web.pages import first_or_error


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
