"""NotifyWorkers, and blocks of workers."""

from typing import Any

from django.db import transaction
from django.db.models import Q

from marketplace.models import Assignment, AssignmentState, Message, WorkerBlock
from marketplace.notifications.messages import tell_of_block
from marketplace.operations.ownership import expected_worker, known_worker
from marketplace.people.accounts import workers_named
from marketplace.router import DATABASE
from marketplace.wire.calls import Call, operation
from marketplace.wire.errors import InvalidParameter
from marketplace.wire.pagination import listing, page_of

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
    with transaction.atomic(using=DATABASE):
        _block, is_new = WorkerBlock.objects.update_or_create(
            requester=call.requester,
            worker=worker,
            defaults={"reason": parameters["Reason"], "created_at": call.now},
        )
        if is_new:
            tell_of_block(call.requester, worker, "blocked", call.now)
    return {}


@operation("DeleteWorkerBlock")
def delete_worker_block(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Allow a worker the caller's HITs again; nothing happens if they could."""
    worker = known_worker(call, parameters["WorkerId"])
    with transaction.atomic(using=DATABASE):
        if WorkerBlock.objects.filter(requester=call.requester, worker=worker).delete()[0]:
            tell_of_block(call.requester, worker, "unblocked", call.now)
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
