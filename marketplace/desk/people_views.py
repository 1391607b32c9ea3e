"""The host's pages about workers, groups and invitations, and a requester's page of people."""

import re
from typing import Any

from django import forms
from django.db import IntegrityError
from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from common.long_bodies import long_bodies_from
from common.searching import holds
from common.spreadsheet import UploadError
from marketplace import clock, funds
from marketplace.configuration import base_url, mail_from, requesters_see_mail
from marketplace.desk.work_views import users_of
from marketplace.hits.access import UNLISTED
from marketplace.models import (
    HANDED_IN,
    Assignment,
    ClassCode,
    DeskUser,
    Invitation,
    InvitationDelivery,
    Worker,
    WorkerGroup,
    WorkerProfile,
)
from marketplace.people.accounts import MergeError, forget_name, merge, take_place
from marketplace.people.grants import (
    GroupError,
    add_members,
    make_group,
    remove_member,
)
from marketplace.people.grants import groups as all_groups
from marketplace.people.invitations import (
    InvitationError,
    invite,
    link_of,
    make_class_code,
    revoke,
    send,
)
from marketplace.people.requirements import record_of
from marketplace.people.worker_import import COLUMNS, Outcome, import_workers
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
    text_to_carry,
)
from marketplace.web.pages import PageError, first_or_error

NO_WORKER = "There is no such worker. Choose one from the list."
MOST_SHOWN = 500
EXAMPLE = (
    "name,mail,mturk_id,prolific_id,language,qualifications,notes\n"
    "Ada,ada@example.org,A2XK41EXAMPLE,,en,Spring class; Reader=85,Came with the pilot\n"
)


class PersonForm(SeenForm):
    """The form with what the host knows about a worker."""

    name = forms.CharField(label="Name", max_length=80, help_text="How the site addresses them.")
    mail = forms.EmailField(label="Mail address", required=False, max_length=254)
    mturk_id = forms.CharField(label="Old MTurk id", required=False, max_length=64)
    prolific_id = forms.CharField(label="Old Prolific id", required=False, max_length=64)
    notes = forms.CharField(
        label="Notes",
        required=False,
        max_length=5000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="For the host alone. The worker finds them when exporting their own data.",
    )


@host_page
@require_safe
def workers(request: DeskRequest) -> HttpResponse:
    """Show the workers, or those that a search finds by name, mail or any id."""
    wanted = request.GET.get("q", "").replace("\x00", "").strip()[:100]
    rows = matching(wanted).select_related("profile", "merged_into")
    return show(
        request,
        "workers.html",
        here="workers",
        q=wanted,
        page=page_of(request, rows.order_by("-is_active", "display_name", "pk")),
        n_all=matching("").count(),
    )


def matching(wanted: str) -> QuerySet[Worker]:
    """Return the workers that a search finds; all of them for an empty one."""
    rows = Worker.objects.filter(is_awaited=False)
    if wanted:
        ids = ("worker_id", "profile__mail", "profile__mturk_id", "profile__prolific_id")
        found = holds("display_name", wanted)
        for field in ids:
            found |= holds(field, wanted)
        rows = rows.filter(found)
    return rows


def found_worker(key: int) -> Worker:
    """Return the worker with this key, profile loaded; raises PageError if there is none."""
    rows = Worker.objects.select_related("profile", "merged_into")
    return first_or_error(rows.filter(pk=key), NO_WORKER)


@host_page
def worker(request: DeskRequest, key: int) -> HttpResponse:
    """Show one worker, and store what the host changes about them."""
    found = found_worker(key)
    if request.method != "POST":
        return _drawn(request, found, PersonForm(initial=_known(found)), 200)
    with atomic():
        Worker.objects.select_for_update().get(pk=key)
        found = found_worker(key)
        form = PersonForm(request.POST, initial=_known(found))
        if not found.erased_at and form.is_valid() and form.changed_data and _keep(form, found):
            changed = ", ".join(f"“{form[name].label}”" for name in form.changed_data)
            record(request, f"Changed {changed} of worker {found.worker_id}")
    if found.erased_at:
        leave_notice(request, "This person was erased at their own wish: nothing is kept of them.")
    elif form.errors:
        return _drawn(request, found, form, 400)
    else:
        leave_notice(request, "Your changes are kept.")
    return redirect("desk-worker", key=key)


def _known(found: Worker) -> dict[str, str]:
    """Return the stored values of a worker by the form's field names."""
    profile = getattr(found, "profile", None) or WorkerProfile(worker=found)
    names = [name for name in PersonForm.base_fields if name != "name"]
    return {"name": found.display_name, **{name: getattr(profile, name) or "" for name in names}}


def _drawn(
    request: DeskRequest, found: Worker, form: PersonForm, status: int, **context: object
) -> HttpResponse:
    grants = found.grants.filter(is_revoked=False).select_related("qualification_type__requester")
    history = record_of(found)
    return show(
        request,
        "worker.html",
        status=status,
        here="workers",
        found=found,
        form=form,
        history=history,
        owed_cents=funds.owed_cents(found),
        grants=grants.order_by("qualification_type__name"),
        groups=all_groups().exclude(qualification_type__in=grants.values("qualification_type")),
        invitations=found.invitations.order_by("-pk")[:5],
        latest=Assignment.objects.filter(worker=found)
        .select_related("hit__hit_type__requester")
        .order_by("-pk")[:10],
        **context,
    )


def _keep(form: PersonForm, found: Worker) -> bool:
    values = form.cleaned_data
    found.display_name = values["name"].strip()
    kept = {
        "mail": values["mail"].lower() or None,
        "mturk_id": values["mturk_id"].strip() or None,
        "prolific_id": values["prolific_id"].strip() or None,
        "notes": values["notes"],
    }
    try:
        with atomic():
            found.save(update_fields=["display_name"])
            forget_name(found, kept["mturk_id"] or "")
            if kept["mturk_id"]:
                take_place(found, kept["mturk_id"], clock.now())
            # Only these fields are written, so that history imported meanwhile stays.
            WorkerProfile.objects.update_or_create(worker=found, defaults=kept)
    except IntegrityError:
        form.add_error(
            None,
            "Another worker has this mail address or id. If they are one person, merge the two.",
        )
        return False
    return True


@host_page
@require_POST
def close(request: DeskRequest, key: int) -> HttpResponse:
    """Close a worker's account, or open it again, as the button says; what they earned stays owed.

    A request that is sent twice acts once.
    """
    found = found_worker(key)
    if found.merged_into_id or found.erased_at:
        leave_notice(request, "This account was merged or erased and stays closed.")
        return redirect("desk-worker", key=key)
    opens = {"open": True, "close": False}.get(request.POST.get("account", ""))
    if opens is None:
        leave_notice(request, "Use the button beside the worker's name.")
        return redirect("desk-worker", key=key)
    rows = Worker.objects.filter(pk=key, merged_into=None, erased_at=None)
    with atomic():
        if rows.filter(is_active=not opens).update(is_active=opens):
            if not opens:
                found.sessions.all().delete()
            done = "Opened" if opens else "Closed"
            record(request, f"{done} the account of worker {found.worker_id}")
    leave_notice(request, f"The account is {'open again' if opens else 'closed'}.")
    return redirect("desk-worker", key=key)


@host_page
@require_POST
def merge_into(request: DeskRequest, key: int) -> HttpResponse:
    """Merge a second account of the same person into this one."""
    found = found_worker(key)
    second_id = request.POST.get("second", "").strip().upper()
    second = Worker.objects.filter(worker_id=second_id).first()
    if second is None:
        leave_notice(request, f"There is no worker {second_id[:40] or 'without an id'}.")
        return redirect("desk-worker", key=key)
    try:
        with atomic():
            n_left = merge(found, second, clock.now())
            record(request, f"Merged worker {second.worker_id} into {found.worker_id}")
    except MergeError as error:
        leave_notice(request, str(error))
        return redirect("desk-worker", key=key)
    left = f" {n_left} HITs that both accounts did stay with the second one." if n_left else ""
    leave_notice(request, f"{second.worker_id} is part of this account now.{left}")
    return redirect("desk-worker", key=key)


@long_bodies_from(knows)
@host_page
def import_people(request: DeskRequest) -> HttpResponse:
    """Show what a file would change, row by row, and import it when the host confirms."""
    context: dict[str, Any] = {"columns": COLUMNS, "example": EXAMPLE, "here": "workers"}
    if request.method != "POST":
        return show(request, "import.html", **context)
    is_dry = "apply" not in request.POST
    try:
        text = text_to_carry(request)
        by = "" if is_dry else request.desk.who
        report = import_workers(text, clock.now(), is_dry=is_dry, by=by)
    except UploadError as error:
        return show(request, "import.html", status=400, problem=str(error), **context)
    carried = text if is_dry else ""
    # Rows with problems come first; a browser could not show ten thousand rows well.
    lines = sorted(report.lines, key=lambda line: line.outcome != Outcome.PROBLEM)
    context |= {"lines": lines[:MOST_SHOWN], "n_more": len(lines) - MOST_SHOWN}
    return show(request, "import.html", report=report, is_dry=is_dry, carried=carried, **context)


MOST_LISTED = 200
NO_GROUP = "There is no such group. Choose one from the list."


@host_page
def groups(request: DeskRequest) -> HttpResponse:
    """Show the groups and make a new one."""
    problem = ""
    if request.method == "POST":
        try:
            with atomic():
                made = make_group(
                    request.POST.get("name", ""), request.POST.get("description", ""), clock.now()
                )
                record(request, f"Made the group {made}")
            leave_notice(request, f"The group {made} is made. Add its members below.")
            return redirect("desk-group", key=made.pk)
        except GroupError as error:
            problem = str(error)
    return show(
        request,
        "groups.html",
        status=400 if problem else 200,
        here="groups",
        groups=all_groups(),
        problem=problem,
        given=request.POST,
    )


def _found_group(key: int) -> WorkerGroup:
    return first_or_error(all_groups().filter(pk=key), NO_GROUP)


@host_page
def group(request: DeskRequest, key: int) -> HttpResponse:
    """Show the members of a group and add more, by worker id or mail address."""
    found = _found_group(key)
    row = found.qualification_type
    unknown: list[str] = []
    if request.method == "POST":
        wanted = re.split(r"[\s,;]+", request.POST.get("who", "").strip())
        workers, unknown = _named([one for one in wanted if one])
        with atomic():
            n_added = add_members(row, workers, clock.now())
            if n_added:
                ids = ", ".join(worker.worker_id for worker in workers)
                record(request, f"Added to the group {row.name}: {ids}")
        if not unknown:
            leave_notice(request, f"{n_added} added to {row.name}.")
            return redirect("desk-group", key=key)
    members = row.grants.filter(is_revoked=False, worker__is_active=True)
    return show(
        request,
        "group.html",
        status=400 if unknown else 200,
        here="groups",
        found=_found_group(key),
        asks=users_of([row])[row.pk],
        page=page_of(request, members.select_related("worker__profile").order_by("-granted_at")),
        unknown=unknown,
    )


def _named(wanted: list[str]) -> tuple[list[Worker], list[str]]:
    """Return the workers with these ids or mail addresses, and the names that match nobody."""
    workers, unknown = [], []
    for name in dict.fromkeys(wanted):
        rows = Worker.objects.filter(is_active=True)
        by_mail = rows.filter(profile__mail=name.lower())
        found = rows.filter(worker_id=name.upper()).first() or by_mail.first()
        if found is None:
            unknown.append(name[:80])
        else:
            workers.append(found)
    return workers, unknown


@host_page
@require_POST
def leave(request: DeskRequest, key: int, worker: int) -> HttpResponse:
    """Take a worker out of a group."""
    found, member = _found_group(key), found_worker(worker)
    with atomic():
        if remove_member(found.qualification_type, member, clock.now()):
            record(request, f"Took {member.worker_id} out of the group {found}")
    leave_notice(request, f"{member.display_name} is no longer in {found}.")
    return redirect("desk-group", key=key)


@host_page
@require_POST
def join(request: DeskRequest, key: int) -> HttpResponse:
    """Add the worker with this key to the group that the form names."""
    member = found_worker(key)
    given = request.POST.get("group", "")
    if not (given.isascii() and given.isdigit() and len(given) < 18):
        raise PageError(NO_GROUP)
    found = _found_group(int(given))
    with atomic():
        if add_members(found.qualification_type, [member], clock.now()):
            record(request, f"Added to the group {found}: {member.worker_id}")
    leave_notice(request, f"{member.display_name} is in {found} now.")
    return redirect("desk-worker", key=key)


@requester_page
def people(request: DeskRequest) -> HttpResponse:
    """Show a requester the groups to choose from, and the workers who have worked for them."""
    mine = Assignment.objects.filter(hit__requester=request.requester, state__in=HANDED_IN)
    rows = Worker.objects.filter(pk__in=mine.values("worker")).select_related("profile")
    groups, own = list(all_groups()), request.requester.qualification_types.filter(deleted_at=None)
    held = Count("grants", filter=Q(grants__is_revoked=False, grants__integer_value__gt=0))
    listed = own.exclude(keywords__contains=UNLISTED).annotate(n_holders=held).order_by("name")
    given = list(listed[:MOST_LISTED])
    asks = users_of([*given, *(one.qualification_type for one in groups)], request.requester)
    return show(
        request,
        "people.html",
        here="people",
        groups=[(one, asks[one.qualification_type_id]) for one in groups],
        qualifications=[(one, asks[one.pk]) for one in given],
        page=page_of(request, rows.order_by("worker_id")),
        shows_mail=requesters_see_mail(),
    )


# Invitations that one request sends; the others need a second click.
MOST_AT_ONCE = 500
WHO = {
    "never": "everybody who was never invited",
    "waiting": "everybody who was invited and has not come",
    "group": "the members of the group below",
}


def ways() -> list[tuple[str, str]]:
    """Return the ways to hand over links; by mail only if mail is set up."""
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
    """Return the groups as choices; the first choice is no group."""
    return [("", "no group"), *((str(row.pk), str(row)) for row in all_groups())]


class InviteForm(forms.Form):
    """The form to invite people: who, how, and into which group."""

    who = forms.ChoiceField(label="Who", choices=list(WHO.items()), widget=forms.RadioSelect)
    delivery = forms.ChoiceField(label="How", choices=ways, widget=forms.RadioSelect)
    group = forms.ChoiceField(
        label="Group",
        choices=group_choices,
        required=False,
        help_text="People who come in by the link are members then.",
    )


class ClassCodeForm(forms.Form):
    """The form for a class code, with which many people can join."""

    label = forms.CharField(label="For whom", max_length=80, help_text="Like “Spring class”.")
    n_seats = forms.IntegerField(label="Seats", min_value=1, max_value=10_000, initial=30)
    days = forms.IntegerField(label="Good for (days)", min_value=1, max_value=365, initial=14)
    group = forms.ChoiceField(
        label="Group",
        choices=group_choices,
        required=False,
        help_text="Everybody who joins becomes a member.",
    )


@host_page
def invitations(request: DeskRequest) -> HttpResponse:
    """Show the invitations and what became of each; invite more people."""
    form = InviteForm(request.POST or None, initial={"who": "never", "delivery": ways()[0][0]})
    if request.method == "POST" and form.is_valid():
        chosen = form.cleaned_data
        group = all_groups().filter(pk=chosen["group"] or 0).first()
        if chosen["who"] == "group" and group is None:
            form.add_error("group", "Choose the group whose members are to be invited.")
        else:
            people = _people(chosen["who"], group.qualification_type_id if group else None)
            row = group.qualification_type if group and chosen["who"] != "group" else None
            return _handed_out(request, people, InvitationDelivery(chosen["delivery"]), row)
    return _drawn_invitations(request, form, ClassCodeForm())


def _drawn_invitations(
    request: DeskRequest, form: InviteForm, code_form: ClassCodeForm
) -> HttpResponse:
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
    # Those invited longest ago come first, so that the next click invites the others.
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
    with atomic():
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
    """Revoke a worker's link; they can come back only by a new one."""
    found = first_or_error(
        Invitation.objects.select_related("worker").filter(pk=key, revoked_at=None),
        "There is no such invitation. Choose one from the list.",
    )
    with atomic():
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
        group = all_groups().filter(pk=chosen["group"] or 0).first()
        row = group.qualification_type if group else None
        try:
            with atomic():
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
    return _drawn_invitations(
        request, InviteForm(initial={"who": "never", "delivery": ways()[0][0]}), form
    )


@host_page
@require_POST
def revoke_code(request: DeskRequest, key: int) -> HttpResponse:
    """End a class code; workers who have joined stay."""
    found = first_or_error(
        ClassCode.objects.filter(pk=key), "There is no such code. Choose one from the list."
    )
    with atomic():
        if ClassCode.objects.filter(pk=key, revoked_at=None).update(revoked_at=clock.now()):
            record(request, f"Revoked the class code for {found.label}")
    leave_notice(request, f"Nobody can join {found.label} any more.")
    return redirect("desk-invitations")
