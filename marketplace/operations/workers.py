"""Account balance, bonuses (each UniqueRequestToken once), messages to workers, blocks."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.db.models.functions import Coalesce

from marketplace import funds
from marketplace.amounts import amount_of, cents_of
from marketplace.funds import bonus_cents
from marketplace.hits.lifecycle import settle_account
from marketplace.models import (
    HANDED_IN,
    Assignment,
    AssignmentState,
    BonusPayment,
    LedgerKind,
    Message,
    Worker,
    WorkerBlock,
)
from marketplace.models.identifiers import new_entity_id
from marketplace.notifications.messages import notify_of_block
from marketplace.operations.hits import MOST_CENTS
from marketplace.operations.ownership import expected_worker, known_worker, settle_own
from marketplace.people.accounts import workers_named
from marketplace.router import atomic
from marketplace.wire.calls import (
    AlreadyDoneError,
    Call,
    DoesNotExist,
    InvalidParameter,
    RequestError,
    claim_token,
    listing,
    operation,
    page_of,
)


@operation("GetAccountBalance")
def get_account_balance(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return what is free to spend and what open HITs hold."""
    settle_account(call.requester, call.now)
    call.requester.refresh_from_db()
    return {
        "AvailableBalance": amount_of(call.requester.balance_cents),
        "OnHoldBalance": amount_of(call.requester.held_cents),
    }


WORKED_WITHIN = timedelta(days=183)


@operation("SendBonus")
def send_bonus(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Owe a worker a bonus for an assignment they handed in to the caller, be it too late."""
    cents = cents_of(parameters["BonusAmount"])
    if not 1 <= cents <= MOST_CENTS:
        raise InvalidParameter(f"BonusAmount has to be from 0.01 to {MOST_CENTS // 100}.")
    if not parameters["Reason"].strip():
        raise InvalidParameter("Reason may not be empty: the worker reads it.")
    worker = known_worker(call, parameters["WorkerId"])
    found = (
        Assignment.objects.filter(
            Q(worker=worker) | Q(worker__merged_into=worker),
            Q(state__in=HANDED_IN) | ~Q(late_answer=""),
            assignment_id=parameters["AssignmentId"],
            hit__requester=call.requester,
        )
        .order_by("-pk")
        .first()
    )
    if found is None:
        raise DoesNotExist("Assignment", "Assignment", parameters["AssignmentId"])
    worked_at = found.submitted_at or found.ended_at or found.accepted_at
    if call.now - worked_at > WORKED_WITHIN:
        raise InvalidParameter("A bonus can be sent within six months after the work was done.")
    assignment = found
    request_id = new_entity_id()
    try:
        with atomic():
            claim_token(call, "SendBonus", parameters.get("UniqueRequestToken"), request_id)
            worker_id = funds.account_of(assignment.worker_id)
            if Worker.objects.filter(pk=worker_id, erased_at__isnull=False).exists():
                raise RequestError(
                    "InvalidWorkerState",
                    "This worker has erased their account: nobody can be paid a bonus any more.",
                )
            funds.move(call.requester.pk, hold_cents=0, spend_cents=cents)
            bonus = BonusPayment.objects.create(
                requester=call.requester,
                worker_id=worker_id,
                assignment=assignment,
                amount_cents=cents,
                reason=parameters["Reason"],
                granted_at=call.now,
            )
            funds.owe(LedgerKind.BONUS, bonus.pk, call.requester.pk, worker_id, cents, call.now)
    except AlreadyDoneError as error:
        raise RequestError(
            "DuplicateRequest",
            f"The bonus with this UniqueRequestToken was granted by request {error.subject}.",
        ) from None
    return {}


def rewardable(work: QuerySet[Assignment], now: datetime) -> QuerySet[Assignment]:
    """Return, of these, what a bonus can be sent for, each with `bonus_cents` sent before.

    That is what was handed in, be it too late, within six months, by whom it can reach: nobody is
    sent a bonus who has erased their account.
    """
    is_in = Q(state__in=HANDED_IN) | ~Q(late_answer="")
    rows = work.filter(is_in, worker__erased_at=None).annotate(
        worked_at=Coalesce("submitted_at", "ended_at"),
        account=Coalesce("worker__merged_into", "worker"),
        bonus_cents=bonus_cents(),
    )
    return rows.filter(worked_at__gte=now - WORKED_WITHIN)


@operation("ListBonusPayments")
def list_bonus_payments(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return a page of the bonuses of one HIT or one assignment, in the order they were sent."""
    rows = BonusPayment.objects.filter(requester=call.requester)
    if "AssignmentId" in parameters:
        rows = rows.filter(assignment__assignment_id=parameters["AssignmentId"])
    if "HITId" in parameters:
        settle_own(call, parameters["HITId"])
        rows = rows.filter(assignment__hit__hit_id=parameters["HITId"])
    elif "AssignmentId" not in parameters:
        raise InvalidParameter("Give HITId or AssignmentId.")
    found, token = page_of(rows.select_related("worker", "assignment"), parameters)
    return listing("BonusPayments", found, token, describe_bonus)


def describe_bonus(bonus: BonusPayment) -> dict[str, Any]:
    """Return the model's BonusPayment; expects worker and assignment loaded."""
    return {
        "WorkerId": bonus.worker.worker_id,
        "BonusAmount": amount_of(bonus.amount_cents),
        "AssignmentId": bonus.assignment.assignment_id,
        "Reason": bonus.reason,
        "GrantTime": bonus.granted_at,
    }


MOST_WORKERS = 100
LONGEST_SUBJECT = 200
LONGEST_TEXT = 4096


@operation("NotifyWorkers")
def notify_workers(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Send a message to workers the caller has reviewed; failures are listed, not raised."""
    ids = list(dict.fromkeys(parameters["WorkerIds"]))
    if not 1 <= len(ids) <= MOST_WORKERS:
        raise InvalidParameter(f"Give 1 to {MOST_WORKERS} WorkerIds.")
    if not 1 <= len(parameters["Subject"]) <= LONGEST_SUBJECT:
        raise InvalidParameter(f"Subject has to be 1 to {LONGEST_SUBJECT} characters.")
    if not 1 <= len(parameters["MessageText"]) <= LONGEST_TEXT:
        raise InvalidParameter(f"MessageText has to be 1 to {LONGEST_TEXT} characters.")
    named = workers_named(ids, call.requester.pk)
    keys = {account.pk for account in named.values()}
    decided = Assignment.objects.filter(
        Q(worker__in=keys) | Q(worker__merged_into__in=keys),
        hit__requester=call.requester,
        state__in=[AssignmentState.APPROVED, AssignmentState.REJECTED],
    )
    pairs = decided.values_list("worker", "worker__merged_into").distinct()
    reviewed = {int(second or key) for key, second in pairs}
    # Several ids may name one person, who gets a message once.
    reached = {name: account.pk for name, account in named.items() if account.pk in reviewed}
    Message.objects.bulk_create(
        Message(
            worker_id=key,
            requester=call.requester,
            subject=parameters["Subject"],
            text=parameters["MessageText"],
            sent_at=call.now,
        )
        for key in sorted(set(reached.values()))
    )
    said = {
        "NotifyWorkersFailureCode": "HardFailure",
        "NotifyWorkersFailureMessage": "You have never approved or rejected work of this worker.",
    }
    missed = [said | {"WorkerId": worker_id} for worker_id in ids if worker_id not in reached]
    return {"NotifyWorkersFailureStatuses": missed}


@operation("CreateWorkerBlock")
def create_worker_block(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Keep a worker from the caller's HITs and tell them; the reason stays with the caller."""
    worker = expected_worker(call, parameters["WorkerId"])
    with atomic():
        _block, is_new = WorkerBlock.objects.update_or_create(
            requester=call.requester,
            worker=worker,
            defaults={"reason": parameters["Reason"], "created_at": call.now},
        )
        if is_new:
            notify_of_block(call.requester, worker, "blocked", call.now)
    return {}


@operation("DeleteWorkerBlock")
def delete_worker_block(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Allow a worker the caller's HITs again; nothing happens if they could."""
    worker = known_worker(call, parameters["WorkerId"])
    with atomic():
        if WorkerBlock.objects.filter(requester=call.requester, worker=worker).delete()[0]:
            notify_of_block(call.requester, worker, "unblocked", call.now)
    return {}


@operation("ListWorkerBlocks")
def list_worker_blocks(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return a page of the workers the caller has blocked."""
    rows = WorkerBlock.objects.filter(requester=call.requester).select_related("worker")
    found, token = page_of(rows, parameters)
    return listing(
        "WorkerBlocks",
        found,
        token,
        lambda block: {"WorkerId": block.worker.worker_id, "Reason": block.reason},
    )
