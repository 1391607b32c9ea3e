"""The host's pages of groups, and what requesters may see of them."""

import re

from django.db import transaction
from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from marketplace import clock
from marketplace.configuration import requesters_see_mail
from marketplace.desk.hit_views import users_of
from marketplace.desk.worker_views import found_worker
from marketplace.hits.reasons import UNLISTED
from marketplace.models import HANDED_IN, Assignment, Worker, WorkerGroup
from marketplace.people.grants import (
    GroupError,
    add_members,
    make_group,
    remove_member,
)
from marketplace.people.grants import (
    groups as all_groups,
)
from marketplace.router import DATABASE
from marketplace.web.desk_pages import (
    DeskRequest,
    host_page,
    leave_notice,
    page_of,
    record,
    requester_page,
    show,
)
from marketplace.web.pages import PageError, first_or_error

MOST_LISTED = 200
NO_GROUP = "There is no such group. Choose one from the list."


@host_page
def groups(request: DeskRequest) -> HttpResponse:
    """Show the groups and make a new one."""
    problem = ""
    if request.method == "POST":
        try:
            with transaction.atomic(using=DATABASE):
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


def _found(key: int) -> WorkerGroup:
    return first_or_error(all_groups().filter(pk=key), NO_GROUP)


@host_page
def group(request: DeskRequest, key: int) -> HttpResponse:
    """Show the members of a group and add more, by worker id or mail address."""
    found = _found(key)
    row = found.qualification_type
    unknown: list[str] = []
    if request.method == "POST":
        wanted = re.split(r"[\s,;]+", request.POST.get("who", "").strip())
        workers, unknown = _named([one for one in wanted if one])
        with transaction.atomic(using=DATABASE):
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
        found=_found(key),
        asks=users_of([row])[row.pk],
        page=page_of(request, members.select_related("worker__profile").order_by("-granted_at")),
        unknown=unknown,
    )


def _named(wanted: list[str]) -> tuple[list[Worker], list[str]]:
    """Return the workers that ids and mail addresses name, and the names that nobody has."""
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
    found, member = _found(key), found_worker(worker)
    with transaction.atomic(using=DATABASE):
        if remove_member(found.qualification_type, member, clock.now()):
            record(request, f"Took {member.worker_id} out of the group {found}")
    leave_notice(request, f"{member.display_name} is no longer in {found}.")
    return redirect("desk-group", key=key)


@host_page
@require_POST
def join(request: DeskRequest, key: int) -> HttpResponse:
    """Put the worker of this key into the group that the form names."""
    member = found_worker(key)
    given = request.POST.get("group", "")
    if not (given.isascii() and given.isdigit() and len(given) < 18):
        raise PageError(NO_GROUP)
    found = _found(int(given))
    with transaction.atomic(using=DATABASE):
        if add_members(found.qualification_type, [member], clock.now()):
            record(request, f"Added to the group {found}: {member.worker_id}")
    leave_notice(request, f"{member.display_name} is in {found} now.")
    return redirect("desk-worker", key=key)


@requester_page
def people(request: DeskRequest) -> HttpResponse:
    """Show a requester the groups to address, and who has worked for them."""
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
