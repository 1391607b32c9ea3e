"""The host's pages of workers: imported, found, looked at, changed, closed, merged."""

from typing import Any

from django import forms
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from common.long_bodies import long_bodies_from
from common.searching import holds
from common.spreadsheet import UploadError
from marketplace import clock, funds
from marketplace.models import Assignment, Worker, WorkerProfile
from marketplace.people.accounts import MergeError, forget_name, merge, take_place
from marketplace.people.grants import groups
from marketplace.people.requirements import record_of
from marketplace.people.worker_import import COLUMNS, Outcome, import_workers
from marketplace.router import DATABASE
from marketplace.web.desk_pages import (
    DeskRequest,
    SeenForm,
    host_page,
    knows,
    leave_notice,
    page_of,
    record,
    show,
    text_to_carry,
)
from marketplace.web.pages import first_or_error

NO_WORKER = "There is no such worker. Choose one from the list."
MOST_SHOWN = 500
EXAMPLE = (
    "name,mail,mturk_id,prolific_id,language,qualifications,notes\n"
    "Ada,ada@example.org,A2XK41EXAMPLE,,en,Spring class; Reader=85,Came with the pilot\n"
)


class PersonForm(SeenForm):
    """What the host knows of a worker."""

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
    """Return the worker with this key, profile loaded; raises PageError where there is none."""
    rows = Worker.objects.select_related("profile", "merged_into")
    return first_or_error(rows.filter(pk=key), NO_WORKER)


@host_page
def worker(request: DeskRequest, key: int) -> HttpResponse:
    """Show one worker, and keep what the host changes about them."""
    found = found_worker(key)
    if request.method != "POST":
        return _drawn(request, found, PersonForm(initial=_known(found)), 200)
    with transaction.atomic(using=DATABASE):
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
    """Return what is kept of a worker, as the form names it."""
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
        groups=groups().exclude(qualification_type__in=grants.values("qualification_type")),
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
        with transaction.atomic(using=DATABASE):
            found.save(update_fields=["display_name"])
            forget_name(found, kept["mturk_id"] or "")
            if kept["mturk_id"]:
                take_place(found, kept["mturk_id"], clock.now())
            # What was imported of their history meanwhile stays.
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

    Sent twice it is done once.
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
    with transaction.atomic(using=DATABASE):
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
        with transaction.atomic(using=DATABASE):
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
    """Show what a file would do, row by row, and do it when the host says so."""
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
    # Those to mend stand first, and a browser is not given ten thousand rows to draw.
    lines = sorted(report.lines, key=lambda line: line.outcome != Outcome.PROBLEM)
    context |= {"lines": lines[:MOST_SHOWN], "n_more": len(lines) - MOST_SHOWN}
    return show(request, "import.html", report=report, is_dry=is_dry, carried=carried, **context)
