"""A worker's qualifications, and asking for more."""

from datetime import timedelta

from django.db import IntegrityError, transaction
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from marketplace import clock
from marketplace.models import (
    QualificationGrant,
    QualificationRequest,
    QualificationType,
    RequestState,
    Worker,
)
from marketplace.router import DATABASE
from marketplace.site.pages import SignedInRequest, leave_notice, show, worker_page


@worker_page
@require_safe
def qualifications(request: SignedInRequest) -> HttpResponse:
    """Show what the worker has, has asked for, and can ask for."""
    grants = QualificationGrant.objects.filter(worker=request.worker).select_related(
        "qualification_type__requester"
    )
    requests = QualificationRequest.objects.filter(worker=request.worker).select_related(
        "qualification_type__requester"
    )
    held = [grant.qualification_type_id for grant in grants if not grant.is_revoked]
    asked = [one.qualification_type_id for one in requests if one.state == RequestState.PENDING]
    askable = QualificationType.objects.filter(is_active=True, deleted_at=None)
    return show(
        request,
        "qualifications.html",
        here="qualifications",
        grants=grants.order_by("is_revoked", "-granted_at"),
        requests=requests.exclude(state=RequestState.GRANTED).order_by("-pk"),
        askable=askable.exclude(pk__in=[*held, *asked]).select_related("requester").order_by("-pk"),
    )


@worker_page
@require_POST
def ask(request: SignedInRequest, type_id: str) -> HttpResponse:
    """Ask the requester for a qualification; one that is granted by itself is had at once."""
    row = QualificationType.objects.filter(
        qualification_type_id=type_id, is_active=True, deleted_at=None
    ).first()
    if row is None:
        leave_notice(request, "This qualification cannot be asked for any more.")
    else:
        leave_notice(request, _ask(request.worker, row))
    return redirect("qualifications")


def _ask(worker: Worker, row: QualificationType) -> str:
    now = clock.now()
    if row.grants.filter(worker=worker, is_revoked=False).exists():
        return f"You have “{row.name}” already."
    if problem := _too_soon(worker, row):
        return problem
    state = RequestState.GRANTED if row.is_auto_granted else RequestState.PENDING
    try:
        with transaction.atomic(using=DATABASE):
            QualificationRequest.objects.create(
                qualification_type=row,
                worker=worker,
                state=state,
                submitted_at=now,
                decided_at=now if row.is_auto_granted else None,
            )
            if row.is_auto_granted:
                values = {
                    "integer_value": row.auto_granted_value,
                    "granted_at": now,
                    "is_revoked": False,
                    "reason": "",
                }
                QualificationGrant.objects.update_or_create(
                    qualification_type=row, worker=worker, defaults=values
                )
    except IntegrityError:
        return f"You have asked for “{row.name}” already; the requester has not answered yet."
    if row.is_auto_granted:
        return f"You now have “{row.name}”."
    return f"You asked for “{row.name}”. The answer will show here."


def _too_soon(worker: Worker, row: QualificationType) -> str:
    last = row.requests.filter(worker=worker, state=RequestState.REJECTED).order_by("-pk").first()
    if last is None:
        return ""
    if row.retry_delay_seconds is None:
        return f"Your request for “{row.name}” was declined; it can be asked for once only."
    again_at = last.submitted_at + timedelta(seconds=row.retry_delay_seconds)
    if clock.now() < again_at:
        return f"You can ask for “{row.name}” again on {again_at:%-d %B %Y at %H:%M} UTC."
    return ""
