"""A worker's own data: everything as one document, and forgetting who they were."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Model, Q, QuerySet

from marketplace.hits.acceptance import give_back
from marketplace.models import (
    Assignment,
    AssignmentState,
    Contest,
    Invitation,
    Message,
    PaymentReport,
    PayoutLine,
    QualificationRequest,
    Worker,
    WorkerProfile,
    WorkerSession,
)
from marketplace.router import DATABASE

# Who may prove to be the worker; not theirs to read, and of no use to them.
SECRET = {"password", "link_digest", "token_digest", "secret", "key"}
# Notes that requesters keep to themselves.
PRIVATE = {("workerblock", "reason")}
ERASED_NAME = "–"


def everything_about(worker: Worker) -> dict[str, Any]:
    """Return all rows of the marketplace about a worker, by table, without what signs anybody in.

    A row of another table that is only named (a HIT, a requester) is named by its own words.
    """
    tables: dict[str, Any] = {"worker": _fields(worker)}
    for relation in Worker._meta.related_objects:
        rows: QuerySet[Model] = relation.related_model._default_manager.filter(
            **{relation.field.name: worker}
        )
        name = relation.related_model._meta.model_name or ""
        if relation.related_model is Worker:
            name = "merged accounts"
        tables[name] = [_fields(row) for row in rows.order_by("pk")]
    contests = Contest.objects.filter(assignment__worker=worker).order_by("assignment")
    tables["contest"] = [_fields(contest) for contest in contests]
    return tables


def _fields(row: Model) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in row._meta.concrete_fields:
        if field.name in SECRET or (row._meta.model_name, field.name) in PRIVATE:
            continue
        value = getattr(row, field.attname)
        if field.is_relation and value is not None and field.related_model is not Worker:
            value = str(getattr(row, field.name))
        if not field.is_relation or field.related_model is not Worker:
            found[field.name] = value
    return found


def erase(worker: Worker, now: datetime) -> None:
    """Forget who the worker was; what they handed in and were paid keeps the random id alone.

    HITs in progress are returned, messages, requests and reports deleted, every sign-in ended.
    """
    for assignment in Assignment.objects.filter(worker=worker, state=AssignmentState.ACCEPTED):
        give_back(assignment, now)
    with transaction.atomic(using=DATABASE):
        Assignment.objects.filter(worker=worker).update(late_answer="")
        Message.objects.filter(worker=worker).delete()
        # Whoever misses a payment writes how they are paid.
        PaymentReport.objects.filter(worker=worker).delete()
        QualificationRequest.objects.filter(worker=worker).delete()
        Invitation.objects.filter(worker=worker).delete()
        WorkerProfile.objects.filter(worker=worker).delete()
        PayoutLine.objects.filter(worker=worker).update(pay_to="", pay_name="")
        accounts = Worker.objects.filter(Q(pk=worker.pk) | Q(merged_into=worker))
        WorkerSession.objects.filter(worker__in=accounts).delete()
        accounts.update(
            display_name=ERASED_NAME,
            sign_in_name=None,
            link_digest=None,
            password="",
            country="",
            subdivision="",
            is_adult=False,
            is_active=False,
            list_choices={},
            erased_at=now,
        )
