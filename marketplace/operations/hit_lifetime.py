"""Operations that change a HIT: more assignments, another expiration, review status, deletion."""

from datetime import UTC, datetime, timedelta
from typing import Any

from marketplace.hits.review_policies import refresh
from marketplace.models import HIT
from marketplace.notifications.events import record_event
from marketplace.operations.hit_types import LONGEST_SECONDS
from marketplace.operations.hits import MOST_ASSIGNMENTS
from marketplace.operations.ownership import own_hit, require_changeable
from marketplace.operations.tokens import AlreadyDoneError, claim_token
from marketplace.wire.errors import InvalidParameter, RequestError
from marketplace.wire.registry import Call, operation

# From ten assignments on the service charged more, so a HIT may not slip over that line.
MANY_ASSIGNMENTS = 10


@operation("CreateAdditionalAssignmentsForHIT")
def create_additional_assignments(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Add places to a HIT, holding the money for them."""
    n_more = parameters["NumberOfAdditionalAssignments"]
    if not 1 <= n_more <= MOST_ASSIGNMENTS:
        raise InvalidParameter(
            f"NumberOfAdditionalAssignments has to be from 1 to {MOST_ASSIGNMENTS}."
        )
    token = parameters.get("UniqueRequestToken")
    with own_hit(call, parameters["HITId"]) as hit:
        require_changeable(hit, call.now)
        try:
            claim_token(call, "CreateAdditionalAssignmentsForHIT", token, hit.hit_id)
        except AlreadyDoneError as error:
            raise RequestError(
                "DuplicateRequest",
                f"The request with this UniqueRequestToken was carried out for {error.subject}.",
            ) from None
        total = hit.max_assignments + n_more
        if hit.first_max_assignments < MANY_ASSIGNMENTS <= total:
            raise RequestError(
                "InvalidMaximumAssignmentsIncrease",
                "A HIT created with fewer than 10 assignments cannot be extended to 10 or more.",
            )
        if total > MOST_ASSIGNMENTS:
            raise InvalidParameter(f"A HIT may have {MOST_ASSIGNMENTS} assignments at most.")
        hit.max_assignments = total
        record_event(hit, "HITExtended", call.now)
        refresh(hit, call.now)
    return {}


@operation("UpdateExpirationForHIT")
def update_expiration_for_hit(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Extend a HIT or end it now; workers inside may finish in either case."""
    expires_at: datetime = parameters["ExpireAt"]
    with own_hit(call, parameters["HITId"]) as hit:
        if expires_at > call.now + timedelta(seconds=LONGEST_SECONDS):
            raise InvalidParameter("ExpireAt is more than a year away.")
        if expires_at > call.now:
            require_changeable(hit, call.now)
        elif hit.disposed_at is not None:
            # Over already; clients that clean up expire whatever they find before they delete it.
            return {}
        if expires_at > max(call.now, hit.expires_at):
            record_event(hit, "HITExtended", call.now)
        hit.expires_at = max(expires_at, datetime.fromtimestamp(0, UTC))
        refresh(hit, call.now)
    return {}


@operation("UpdateHITReviewStatus")
def update_hit_review_status(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Mark a Reviewable HIT as Reviewing, or with Revert the other way."""
    expected = "Reviewing" if parameters.get("Revert", False) else "Reviewable"
    with own_hit(call, parameters["HITId"]) as hit:
        _require_status(hit, call.now, expected)
        hit.is_reviewing = not hit.is_reviewing
        hit.save()
    return {}


@operation("DeleteHIT")
def delete_hit(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Dispose of a HIT whose work is all decided; its assignments can still be read."""
    with own_hit(call, parameters["HITId"]) as hit:
        _require_status(hit, call.now, "Reviewing", "Reviewable")
        if hit.n_awaiting:
            raise RequestError(
                "InvalidHITState",
                f"{hit.n_awaiting} submitted assignments of this HIT are neither approved nor "
                "rejected; decide them first.",
            )
        hit.disposed_at = call.now
        refresh(hit, call.now)
    return {}


def _require_status(hit: HIT, now: datetime, *expected: str) -> None:
    status = hit.status(now)
    if status not in expected:
        raise RequestError(
            "InvalidHITState",
            f"This HIT is currently in the state '{status}'. "
            f"This operation can be called with a status of: {', '.join(expected)}",
        )
