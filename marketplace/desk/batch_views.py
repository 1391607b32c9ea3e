"""A requester's batches: rows looked at, published, stopped; answers out, decisions back."""

from django.db import transaction
from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from common.long_bodies import long_bodies_from
from common.sent_form import OutOfDateError, check_seen, version_of
from common.spreadsheet import UploadError
from marketplace import clock
from marketplace.desk.publishing import (
    BatchError,
    begin,
    call_of,
    cost_cents,
    kind_of,
    page_of_row,
    publish_some,
    stop,
    unmapped,
)
from marketplace.desk.results import decide, results
from marketplace.hits.audience import audience_summary
from marketplace.hits.lifecycle import settle_due
from marketplace.models import Assignment, AssignmentState, Batch
from marketplace.questions.answers import answers_in
from marketplace.questions.template import template_of, variables, warnings
from marketplace.router import DATABASE
from marketplace.web.desk_pages import (
    DeskRequest,
    csv_file,
    knows,
    leave_notice,
    record,
    requester_page,
    show,
    text_from,
)
from marketplace.web.pages import first_or_error, framed, harden
from marketplace.wire.errors import WireError

NO_BATCH = "There is no such batch of yours. Choose a project from the list."
PUBLISH_FIRST = "This batch is not published yet, so there is nothing to do it with."


def own_batch(request: DeskRequest, key: int) -> Batch:
    """Return the requester's own batch; raises PageError for any other."""
    rows = Batch.objects.select_related("project__requester")
    return first_or_error(rows.filter(pk=key, project__requester=request.requester), NO_BATCH)


@requester_page
def batch(request: DeskRequest, key: int) -> HttpResponse:
    """Show a batch: before publication its rows, columns and cost, after it how far it is."""
    found = own_batch(request, key)
    if request.method != "POST" or found.published_at is not None:
        return _drawn(request, found)
    try:
        with transaction.atomic(using=DATABASE):
            row = Batch.objects.select_for_update().get(pk=found.pk)
            check_seen(request.POST, _columns_seen(row))
            for name in variables(template_of(row.terms)):
                column = request.POST.get(f"column-{name}", "")
                if column in row.columns:
                    row.mapping[name] = column
                else:
                    row.mapping.pop(name, None)
            row.save(update_fields=["mapping"])
    except OutOfDateError as error:
        return _drawn(request, own_batch(request, key), 400, problem=str(error))
    leave_notice(request, "The columns are kept. Look at the rows below.")
    return redirect("desk-batch", key=key)


def _columns_seen(found: Batch) -> str:
    return version_of(found.mapping, template_of(found.terms), found.published_at)


def _drawn(
    request: DeskRequest, found: Batch, status: int = 200, **context: object
) -> HttpResponse:
    template = "batch_draft.html" if found.published_at is None else "batch.html"
    facts = _draft(request, found) if found.published_at is None else _progress(found)
    values: dict[str, object] = {"batch": found, "project": found.project, **facts, **context}
    values["reach"] = audience_summary(kind_of(found.project, found.terms))
    response = show(request, template, status, here="projects", **values)  # type: ignore[arg-type]
    return harden(response, frame_src="'self'")


def _draft(request: DeskRequest, found: Batch) -> dict[str, object]:
    html = template_of(found.terms)
    n_rows = found.rows.count()
    asked = request.GET.get("row", "1")
    row = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 8 else 1
    row = min(max(row, 1), n_rows)
    return {
        "columns": [(name, found.mapping.get(name, "")) for name in variables(html)],
        "seen": _columns_seen(found),
        "unmapped": unmapped(found),
        "warnings": warnings(html),
        "n_rows": n_rows,
        "row": found.rows.get(position=row),
        "cost_cents": cost_cents(found),
        "n_assignments": n_rows * found.terms["max_assignments"],
    }


def _progress(found: Batch) -> dict[str, object]:
    settle_due(clock.now(), batch_row__batch=found)
    mine = Assignment.objects.filter(hit__batch_row__batch=found)
    states = {state.value: Count("pk", filter=Q(state=state)) for state in AssignmentState}
    counts = mine.aggregate(**states)
    n_rows, n_made = found.rows.count(), found.rows.exclude(hit=None).count()
    n_in = (
        counts[AssignmentState.SUBMITTED]
        + counts[AssignmentState.APPROVED]
        + counts[AssignmentState.REJECTED]
    )
    code = found.terms.get("completion_code", "")
    return {
        "n_rows": n_rows,
        "n_made": n_made,
        "n_left": n_rows - n_made,
        "counts": counts,
        "n_in": n_in,
        "n_places": n_rows * found.terms["max_assignments"],
        "n_open": found.rows.filter(
            hit__expires_at__gt=clock.now(), hit__n_open__gt=0, hit__disposed_at=None
        ).count(),
        "n_right": len(_with_code(found)) if code else None,
    }


def _with_code(found: Batch) -> list[str]:
    """Return the undecided assignments whose completion code is the survey's."""
    code = str(found.terms["completion_code"]).strip().casefold()
    rows = Assignment.objects.filter(hit__batch_row__batch=found, state=AssignmentState.SUBMITTED)
    return [
        row.assignment_id
        for row in rows
        if answers_in(row.answer).get("surveycode", "").strip().casefold() == code
    ]


@requester_page
@require_POST
def publish(request: DeskRequest, key: int) -> HttpResponse:
    """Publish the batch, a few seconds' worth at a time; pressed again it goes on."""
    found = own_batch(request, key)
    was_draft = found.published_at is None
    seen = request.POST.get("cost", "")
    seen_cents = int(seen) if seen.isascii() and seen.isdigit() and len(seen) < 19 else None
    try:
        begin(found, clock.now(), seen_cents)
        n_left = publish_some(found, call_of(request, request.requester))
    except (BatchError, WireError) as error:
        found.refresh_from_db()
        sentence = error.message if isinstance(error, WireError) else str(error)
        return _drawn(request, found, 400, problem=sentence)
    if was_draft:
        record(request, f"Published {found.name} of the project {found.project.name}")
    if not n_left:
        leave_notice(request, "All rows are published. Workers see them now.")
    return redirect(reverse("desk-batch", kwargs={"key": key}) + ("?go-on" if n_left else ""))


@requester_page
@require_POST
def stop_batch(request: DeskRequest, key: int) -> HttpResponse:
    """End the batch's open HITs; workers who hold one may finish."""
    found = own_batch(request, key)
    n_stopped = stop(found, call_of(request, request.requester))
    if n_stopped:
        record(request, f"Stopped {n_stopped} HITs of {found.name}")
    leave_notice(request, "Nobody new can start. Whoever is at work may finish.")
    return redirect("desk-batch", key=key)


@requester_page
@require_safe
def results_file(request: DeskRequest, key: int) -> HttpResponse:
    """Return the answers as CSV, with the columns of MTurk's batch results."""
    found = own_batch(request, key)
    settle_due(clock.now(), batch_row__batch=found)
    header, lines = results(found, clock.now())
    return csv_file(f"Batch_{found.pk}_batch_results.csv", header, lines)


@long_bodies_from(knows)
@requester_page
@require_POST
def decisions(request: DeskRequest, key: int) -> HttpResponse:
    """Show what the uploaded Approve and Reject columns would do, then do it when confirmed."""
    found = own_batch(request, key)
    if found.published_at is None:
        return _drawn(request, found, 400, problem=PUBLISH_FIRST)
    is_dry = "apply" not in request.POST
    try:
        made = decide(call_of(request, request.requester), text_from(request), is_dry=is_dry)
    except UploadError as error:
        return _drawn(request, found, 400, problem=str(error))
    if not is_dry and made.n_to_do:
        done = f"{made.n_approved + made.n_overridden} approved, {made.n_rejected} rejected"
        record(request, f"Decided on {found.name}: {done}")
    return _drawn(request, found, decided=made, is_dry=is_dry)


@requester_page
@require_POST
def approve_codes(request: DeskRequest, key: int) -> HttpResponse:
    """Approve the work that came with the survey's own completion code."""
    found = own_batch(request, key)
    if not found.terms.get("completion_code") or found.published_at is None:
        return _drawn(request, found, 400, problem=PUBLISH_FIRST)
    lines = [f"{one},x," for one in _with_code(found)]
    text = "\n".join(["AssignmentId,Approve,Reject", *lines])
    made = decide(call_of(request, request.requester), text, is_dry=False)
    if made.n_approved:
        record(request, f"Approved {made.n_approved} with the right code in {found.name}")
    leave_notice(request, f"{made.n_approved} approved.")
    return redirect("desk-batch", key=key)


@requester_page
@require_safe
def row_page(request: DeskRequest, key: int, position: int) -> HttpResponse:
    """Return the page of one row, just as in the worker's frame; it submits nowhere."""
    found = own_batch(request, key)
    row = first_or_error(found.rows.filter(position=position), NO_BATCH)
    return framed(page_of_row(found, row))
