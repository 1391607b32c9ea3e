"""The host's pages of invitations: who, how, into which group; sent, printed, revoked."""

from django import forms
from django.db import transaction
from django.db.models import F, OuterRef, Subquery
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from marketplace import clock
from marketplace.configuration import base_url, mail_from
from marketplace.models import ClassCode, DeskUser, Invitation, InvitationDelivery, Worker
from marketplace.people.grants import groups
from marketplace.people.invitations import (
    InvitationError,
    invite,
    link_of,
    make_class_code,
    revoke,
    send,
)
from marketplace.router import DATABASE
from marketplace.web.desk_pages import (
    DeskRequest,
    csv_file,
    host_page,
    leave_notice,
    page_of,
    record,
    show,
)
from marketplace.web.pages import first_or_error

# Letters that one request mails; the others wait for a second click.
MOST_AT_ONCE = 500
WHO = {
    "never": "everybody who was never invited",
    "waiting": "everybody who was invited and has not come",
    "group": "the members of the group below",
}


class InviteForm(forms.Form):
    """Who is invited, how, and into which group."""

    who = forms.ChoiceField(label="Who", choices=list(WHO.items()), widget=forms.RadioSelect)
    delivery = forms.ChoiceField(label="How", widget=forms.RadioSelect)
    group = forms.ChoiceField(
        label="Group", required=False, help_text="Whoever comes in by the link is a member then."
    )

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.fields["delivery"].choices = ways()  # type: ignore[attr-defined]
        self.fields["group"].choices = group_choices()  # type: ignore[attr-defined]


def ways() -> list[tuple[str, str]]:
    """Return how links can be handed over here; by mail only where mail is set up."""
    found = [(InvitationDelivery.MAIL.value, "By mail, now")] if mail_from() else []
    return [
        *found,
        (
            InvitationDelivery.LINKS.value,
            "As a CSV of personal links, to hand over or mail yourself",
        ),
        (InvitationDelivery.PRINT.value, "As printable codes, one slip per person"),
    ]


def group_choices() -> list[tuple[str, str]]:
    """Return the groups to choose from, none first."""
    return [("", "no group"), *((str(row.pk), str(row)) for row in groups())]


class ClassCodeForm(forms.Form):
    """One code for many."""

    label = forms.CharField(label="For whom", max_length=80, help_text="Like “Spring class”.")
    n_seats = forms.IntegerField(label="Seats", min_value=1, max_value=10_000, initial=30)
    days = forms.IntegerField(label="Good for (days)", min_value=1, max_value=365, initial=14)
    group = forms.ChoiceField(
        label="Group", required=False, help_text="Everybody who joins becomes a member."
    )

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.fields["group"].choices = group_choices()  # type: ignore[attr-defined]


@host_page
def invitations(request: DeskRequest) -> HttpResponse:
    """Show what went out and what became of it; invite more people."""
    form = InviteForm(request.POST or None, initial={"who": "never", "delivery": ways()[0][0]})
    if request.method == "POST" and form.is_valid():
        chosen = form.cleaned_data
        group = groups().filter(pk=chosen["group"] or 0).first()
        if chosen["who"] == "group" and group is None:
            form.add_error("group", "Choose the group whose members are to be invited.")
        else:
            people = _people(chosen["who"], group.qualification_type_id if group else None)
            row = group.qualification_type if group and chosen["who"] != "group" else None
            return _handed_out(request, people, InvitationDelivery(chosen["delivery"]), row)
    return _drawn(request, form, ClassCodeForm())


def _drawn(request: DeskRequest, form: InviteForm, code_form: ClassCodeForm) -> HttpResponse:
    rows = Invitation.objects.select_related("worker__profile", "qualification_type", "class_code")
    return show(
        request,
        "invitations.html",
        status=400 if form.errors or code_form.errors else 200,
        here="invitations",
        form=form,
        code_form=code_form,
        codes=ClassCode.objects.select_related("qualification_type").order_by("-pk"),
        page=page_of(request, rows.order_by("-pk")),
        has_mail=bool(mail_from()),
        join_url=base_url(request) + reverse("join"),
        now=clock.now(),
    )


def _people(who: str, group_type: int | None) -> list[Worker]:
    rows = Worker.objects.filter(is_active=True).select_related("profile")
    if who == "group":
        rows = rows.filter(grants__qualification_type=group_type, grants__is_revoked=False)
    elif who == "never":
        # Workers who came in another way need no link.
        rows = rows.filter(invitations=None, link_digest=None, sign_in_name=None)
    else:
        waiting = Invitation.objects.filter(used_at=None, revoked_at=None)
        rows = rows.filter(pk__in=waiting.values("worker"))
    # Those invited longest ago come first, so that the next press goes on with the others.
    last = Subquery(
        Invitation.objects.filter(worker=OuterRef("pk")).order_by("-made_at").values("made_at")[:1]
    )
    rows = rows.annotate(last_invited_at=last)
    return list(rows.order_by(F("last_invited_at").asc(nulls_first=True), "pk")[:MOST_AT_ONCE])


def _handed_out(
    request: DeskRequest, people: list[Worker], delivery: InvitationDelivery, row: object
) -> HttpResponse:
    if not people:
        leave_notice(request, "There is nobody to invite like this. Import workers first.")
        return redirect("desk-invitations")
    now, base = clock.now(), base_url(request)
    with transaction.atomic(using=DATABASE):
        letters = invite(people, delivery, request.desk.user.name, now, row)  # type: ignore[arg-type]
        record(request, f"Invited {len(letters)} workers {delivery.label}")
    if delivery == InvitationDelivery.MAIL:
        n_sent, n_failed = send(letters, base, now)
        failed = f" {n_failed} could not be sent: the table says why." if n_failed else ""
        leave_notice(request, f"{n_sent} invitations were sent.{failed}")
        return redirect("desk-invitations")
    if delivery == InvitationDelivery.PRINT:
        join_url = base + reverse("join")
        return show(request, "codes.html", here="invitations", letters=letters, join_url=join_url)
    rows = [
        [
            letter.worker.display_name,
            getattr(getattr(letter.worker, "profile", None), "mail", None) or "",
            letter.worker.worker_id,
            link_of(letter.token, base),
        ]
        for letter in letters
    ]
    return csv_file("personal-links.csv", ["name", "mail", "worker_id", "link"], rows)


@host_page
@require_POST
def resend(request: DeskRequest, key: int) -> HttpResponse:
    """Invite a worker again the way the form says; the earlier link stops working."""
    worker = first_or_error(
        Worker.objects.select_related("profile").filter(pk=key, is_active=True),
        "There is no such worker, or the account is closed.",
    )
    wanted = request.POST.get("delivery", "")
    if wanted not in dict(ways()):
        leave_notice(request, "Choose how the link is to be handed over.")
        return redirect("desk-worker", key=key)
    return _handed_out(request, [worker], InvitationDelivery(wanted), None)


@host_page
@require_POST
def revoke_invitation(request: DeskRequest, key: int) -> HttpResponse:
    """End a worker's link; they come in again by a new one only."""
    found = first_or_error(
        Invitation.objects.select_related("worker").filter(pk=key, revoked_at=None),
        "There is no such invitation. Choose one from the list.",
    )
    with transaction.atomic(using=DATABASE):
        revoke(found, clock.now())
        record(request, f"Revoked the link of worker {found.worker.worker_id}")
    leave_notice(request, f"The link of {found.worker.display_name} does not work any more.")
    return redirect("desk-invitations")


@host_page
@require_POST
def make_code(request: DeskRequest) -> HttpResponse:
    """Make a class code."""
    form = ClassCodeForm(request.POST)
    if form.is_valid():
        chosen = form.cleaned_data
        group = groups().filter(pk=chosen["group"] or 0).first()
        row = group.qualification_type if group else None
        try:
            with transaction.atomic(using=DATABASE):
                # A second click waits for the first one, and finds its code.
                by = DeskUser.objects.select_for_update().get(pk=request.desk.user.pk).name
                made = make_class_code(
                    chosen["label"], chosen["n_seats"], chosen["days"], by, clock.now(), row
                )
                record(request, f"Made a class code with {made.n_seats} seats for {made.label}")
            leave_notice(request, f"The code for {made.label} is ready. Show it to the class.")
            return redirect("desk-invitations")
        except InvitationError as error:
            form.add_error("label", str(error))
    return _drawn(request, InviteForm(initial={"who": "never", "delivery": ways()[0][0]}), form)


@host_page
@require_POST
def revoke_code(request: DeskRequest, key: int) -> HttpResponse:
    """End a class code; workers who have joined stay."""
    found = first_or_error(
        ClassCode.objects.filter(pk=key), "There is no such code. Choose one from the list."
    )
    with transaction.atomic(using=DATABASE):
        if ClassCode.objects.filter(pk=key, revoked_at=None).update(revoked_at=clock.now()):
            record(request, f"Revoked the class code for {found.label}")
    leave_notice(request, f"Nobody can join {found.label} any more.")
    return redirect("desk-invitations")
