"""What workers read of a requester before they accept, changed by the requester or the host."""

from django import forms
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect

from marketplace.desk.access import record, requester_page
from marketplace.desk.pages import leave_notice, show
from marketplace.desk.seen_form import SeenForm
from marketplace.desk.sessions import DeskRequest
from marketplace.hits.frame_permissions import LABELS
from marketplace.models import Requester
from marketplace.router import DATABASE


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
    with transaction.atomic(using=DATABASE):
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
