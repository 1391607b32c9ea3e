"""A worker's own data: everything as one document, and forgetting who they were."""

from datetime import datetime
from typing import Any

from django.db.models import Model, Q, QuerySet

from common.erasure import Rows, erase_rows
from marketplace.hits.acceptance import give_back
from marketplace.models import Assignment, AssignmentState, Contest, Worker
from marketplace.router import DATABASE, atomic

# Who may prove to be the worker; not theirs to read, and of no use to them.
SECRET = {"password", "link_digest", "token_digest", "secret", "key"}
# Notes that requesters keep to themselves.
PRIVATE = {("workerblock", "reason")}
IN_THE_BOOKS = "how the books name a payment"
ERASING = (
    *(
        Rows(f"marketplace.{model}", "worker", None)
        for model in (
            "Message",
            # A report of a missing payment says how the worker is paid.
            "PaymentReport",
            "QualificationRequest",
            "Invitation",
            "WorkerProfile",
            "WorkerSession",
        )
    ),
    Rows("marketplace.WorkerBlock", "worker", {"reason": ""}),
    Rows("marketplace.QualificationGrant", "worker", {"reason": "", "reason_message": None}),
    Rows("marketplace.Contest", "assignment__worker", {"text": "", "answer": ""}),
    Rows(
        "marketplace.Assignment",
        "worker",
        {"late_answer": "", "feedback": "", "form_key": ""},
        stays={"answer": "handed in to a requester"},
    ),
    Rows("marketplace.BonusPayment", "worker", {"reason": ""}),
    Rows(
        "marketplace.PayoutLine",
        "worker",
        {"pay_to": "", "pay_name": ""},
        stays={"reference": IN_THE_BOOKS},
    ),
    Rows(
        "marketplace.Payout",
        "worker",
        stays={"method": IN_THE_BOOKS, "reference": IN_THE_BOOKS},
    ),
    Rows(
        "marketplace.Worker",
        "pk",
        {
            "display_name": "–",
            "sign_in_name": None,
            "link_digest": None,
            "password": "",
            "country": "",
            "subdivision": "",
            "language": "",
            "theme": "",
            "list_choices": {},
        },
        stays={"worker_id": "random: it leads to nobody"},
    ),
)


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
    """Forget who the worker was, as ERASING says; what they handed in keeps the random id alone.

    HITs in progress are returned, those of accounts that were merged into this one too.
    """
    with atomic():
        mine = Worker.objects.filter(Q(pk=worker.pk) | Q(merged_into=worker)).order_by("pk")
        # Another tab that accepts a HIT meanwhile waits, and then finds the account closed.
        accounts = [account.pk for account in mine.select_for_update()]
        for assignment in Assignment.objects.filter(
            worker__in=accounts, state=AssignmentState.ACCEPTED
        ):
            give_back(assignment, now)
        erase_rows(ERASING, accounts, DATABASE)
        mine.update(is_adult=False, is_active=False, erased_at=now)
