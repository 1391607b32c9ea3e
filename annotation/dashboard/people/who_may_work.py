"""Who may work on a collection: its groups, the people let in without a test, who sees what."""

import re
from datetime import datetime

from django.contrib import messages
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_POST, require_safe

from annotation.dashboard.access import name_of
from annotation.dashboard.collection_context import CollectionContext, collection_page
from annotation.dashboard.forms import marketplace_problem, number_of
from collector.models import CollectionState
from collector.protocols.revisions import newest, revise
from common.actions import ActionError
from tasks.crowd.requester_api import MarketplaceError
from tasks.models import GrantState
from tasks.people import trusted
from tasks.people.audience import audience_of
from tasks.people.qualifications import trusted_grants
from tasks.work.kinds.hit_words import title_of

FIRST = "Chosen before the first publication."


@collection_page
@require_safe
def people(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Show who sees what, the groups to choose from, and who was let in by whom."""
    return _drawn(request, context)


@collection_page
@require_POST
def choose_groups(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Limit what is posted from now on to the ticked groups; a refused choice stays ticked."""
    chosen = request.POST.getlist("group")
    why, seen = request.POST.get("why", "").strip(), request.POST.get("seen", "")
    is_draft = context.collection.state == CollectionState.DRAFT
    try:
        trusted.check_groups(chosen)
        revise(
            context.collection,
            {"people.groups": chosen},
            why=why or (FIRST if is_draft else ""),
            by=name_of(request),
            now=timezone.now(),
            seen=number_of(seen, otherwise=-1),
        )
    except ActionError as error:
        return _drawn(request, context, 400, groups_problem=error.on_page, ticked=chosen, why=why)
    except MarketplaceError as error:
        told = marketplace_problem(error, "save again")
        return _drawn(request, context, 400, groups_problem=told, ticked=chosen, why=why)
    named = " and ".join(chosen)
    messages.success(
        request,
        f"What is posted from now on is for members of {named} alone."
        if chosen
        else "What is posted from now on is for everybody.",
    )
    return redirect(context.url("people"))


@collection_page
@require_POST
def let_people_in(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Let the people of a list, or of a group, in without a test; nothing typed is lost."""
    who = request.POST.get("who", "")
    group, stage = request.POST.get("of", ""), request.POST.get("stage", "")
    names = re.split(r"[\s,;]+", who)
    try:
        stages = trusted.qualifying(context.collection, stage)
        found = trusted.people_named(names, [group] if group else [])
        if not found:
            raise ActionError("Name somebody, or choose a group.")
        new = trusted.let_in(context.collection, stages, found, name_of(request), timezone.now())
    except ActionError as error:
        told = error.on_page
    except MarketplaceError as error:
        told = marketplace_problem(error, "let them in again")
    else:
        already = len(found) - new
        sentence = f"{new} let in without a test." if new else "Nobody new."
        sentence += f" {already} had it already." if already else ""
        messages.success(request, sentence)
        return redirect(context.url("people"))
    return _drawn(request, context, 400, let_in_problem=told, who=who, of=group, stage=stage)


@collection_page
@require_POST
def take_back(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Take one act of letting in back for one test; who was let in may take it like anybody."""
    at = _moment(request.POST.get("at", ""))
    of = {
        "qualification__stage__name": request.POST.get("stage", ""),
        "decided_by": request.POST.get("by", ""),
    }
    if at is None:
        messages.error(request, "Choose whom to take it back from in the list.")
        return redirect(context.url("people"))
    grants = trusted_grants(context.collection)
    grants = grants.filter(**of, state=GrantState.GRANTED, decided_at=at)
    done = trusted.take_back(context.collection, grants, name_of(request), timezone.now())
    messages.success(request, f"Taken back from {done}. What they hold they may finish.")
    return redirect(context.url("people"))


def _moment(text: str) -> datetime | None:
    """Return the time that a form of this page carries, None for anything else."""
    try:
        at = parse_datetime(text)
    except ValueError:
        return None
    return at if at and at.tzinfo else None


def _drawn(
    request: HttpRequest, context: CollectionContext, status: int = 200, **more: object
) -> HttpResponse:
    audience = audience_of(context.collection)
    tables = context.parameters.stages()
    rows = trusted_grants(context.collection).order_by("-decided_at")
    acts = rows.values("decided_by", "decided_at", "state", "qualification__stage__name")
    shown: dict[str, object] = {
        "audience": audience,
        "seen": newest(context.collection),
        "ticked": audience.groups,
        "choices": sorted({*audience.known, *audience.groups}),
        "is_draft": context.collection.state == CollectionState.DRAFT,
        "tests": [(name, title_of(table)) for name, table in tables.items() if table.qualifies],
        "acts": [
            {**act, "test": title_of(tables[act["qualification__stage__name"]])}
            for act in acts.annotate(n=Count("pk"))
        ],
        **more,
    }
    return context.render(request, "people/people.html", status=status, tab="people", **shown)
