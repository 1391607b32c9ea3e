"""The host's page of settings, and the audit log."""

from decimal import Decimal

from django import forms
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from marketplace import clock
from marketplace.configuration import (
    SystemPolicy,
    auto_approval_cap_seconds,
    choose,
    payment_terms,
    requesters_see_mail,
    system_policies,
)
from marketplace.models import AuditEntry, DeskUser, Role
from marketplace.router import atomic
from marketplace.web.desk_pages import (
    DeskRequest,
    SeenForm,
    host_page,
    leave_notice,
    page_of,
    record,
    show,
)

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


def _present() -> dict[str, object]:
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
        form = SettingsForm(initial=_present())
        return show(request, "settings.html", here="settings", form=form)
    with atomic():
        # What was never chosen has no row to lock, so hosts lock each other out.
        list(DeskUser.objects.select_for_update().filter(role=Role.HOST).order_by("pk"))
        form = SettingsForm(request.POST, initial=_present())
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
