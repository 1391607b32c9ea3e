"""Operations on HITs that are posted: read, listed, extended, expired, reviewed, deleted."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from django.db.models import Exists, Q

from common.prepared_sql import PreparedQuery
from marketplace.hits.lifecycle import refresh, settle_account
from marketplace.hits.review_rules import NAMES
from marketplace.models import HIT, ReviewLevel, ReviewPolicy
from marketplace.models.hits import status_at
from marketplace.notifications.events import record_event
from marketplace.operations.hits import LONGEST_SECONDS, MOST_ASSIGNMENTS, hit_members, type_members
from marketplace.operations.ownership import own_hit, require_changeable, settle_own
from marketplace.wire.calls import (
    AlreadyDoneError,
    Call,
    InvalidParameter,
    RequestError,
    claim_token,
    operation,
    page_asked,
    token_after,
)

# Nothing was due yet in 1970, and no key is as great as the last.
FIRST = datetime(1970, 1, 1, tzinfo=UTC)
LAST = 2**62
MEMBERS = list(hit_members(FIRST))
DESCRIBED = PreparedQuery(
    lambda hit_id, requester, now, due: (
        HIT.objects.filter(hit_id=hit_id, requester=requester)
        .filter(Q(next_due_at__gt=due) | Q(next_due_at=None))
        .values_list(*hit_members(now).values(), "hit_type__hit_type_id")
    ),
    hit_id=str,
    requester=int,
    now=datetime,
    due=datetime,
)


@operation("GetHIT")
def get_hit(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return one HIT as it is now."""
    return {"HIT": one_hit(call, parameters["HITId"])}


def one_hit(call: Call, hit_id: str) -> dict[str, Any]:
    """Return the model's HIT as it is now, settled first if it must be; raises HITDoesNotExist."""
    which = {"hit_id": hit_id, "requester": call.requester.pk, "now": call.now}
    row = DESCRIBED.first(**which, due=call.now)
    if row is None:
        settle_own(call, hit_id)
        row = DESCRIBED.first(**which, due=FIRST)
        assert row is not None
    return {**type_members(row[-1]), **dict(zip(MEMBERS, row, strict=False))}


@operation("ListHITs")
def list_hits(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return a page of the caller's HITs, newest first, deleted ones left out."""
    return _page(call, parameters, "")


@operation("ListReviewableHITs")
def list_reviewable_hits(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return a page of the HITs whose work is all in, newest first."""
    status = parameters.get("Status", "Reviewable")
    if "HITTypeId" in parameters:
        return _page(call, parameters, status, type_id=parameters["HITTypeId"])
    return _page(call, parameters, status)


def _page(call: Call, parameters: dict[str, Any], status: str, **wanted: str) -> dict[str, Any]:
    """Return a page in one statement, unless it finds none: they wait for what is due here."""
    size, last = page_asked(parameters, int)
    page = _page_of(status, size, *wanted)
    which = {"requester": call.requester.pk, "now": call.now, **wanted}
    which["key"] = LAST if last is None else last[1]
    found = page.rows(**which, due=call.now)
    if not found:
        settle_account(call.requester, call.now)
        found = page.rows(**which, due=FIRST)
    hits = [type_members(row[-2]) | dict(zip(MEMBERS, row, strict=False)) for row in found]
    token = token_after(found[-1][-1], found[-1][-1]) if found else None
    return {"NumResults": len(found), "NextToken": token, "HITs": hits}


@lru_cache(maxsize=512)
def _page_of(status: str, size: int, *wanted: str) -> PreparedQuery:
    """Return the page of HITs of a status ("" = all), found only while nothing is due."""

    def build(requester: int, now: datetime, key: int, due: datetime, type_id: str = "") -> Any:
        mine = HIT.objects.filter(requester=requester)
        rows = mine.filter(~Exists(mine.filter(next_due_at__lte=due)), disposed_at=None)
        if status:
            rows = rows.alias(now_status=status_at(now)).filter(now_status=status)
        if wanted:
            rows = rows.filter(hit_type__hit_type_id=type_id)
        rows = rows.filter(pk__lt=key).order_by("-pk")
        return rows.values_list(*hit_members(now).values(), "hit_type__hit_type_id", "pk")[:size]

    kinds = {"requester": int, "now": datetime, "key": int, "due": datetime}
    return PreparedQuery(build, **kinds, **dict.fromkeys(wanted, str))


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


@operation("ListReviewPolicyResultsForHIT")
def list_review_policy_results(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return a page of what a HIT's policies found, and with the first one all that they did.

    MaxResults counts results: who asks for actions and reads one page sees them.
    """
    hit_id = parameters["HITId"]
    settle_own(call, hit_id)
    levels = parameters.get("PolicyLevels") or ReviewLevel.values
    found = ReviewPolicy.objects.filter(
        hit__hit_id=hit_id, hit__requester=call.requester, level__in=levels
    )
    policies = {policy.level: policy for policy in found.order_by("level")}
    results: list[tuple[str, dict[str, Any]]] = []
    if parameters.get("RetrieveResults", True):
        results = [(level, one) for level, policy in policies.items() for one in policy.results]
    size, last = page_asked(parameters, int)
    start = max(0, last[1]) if last else 0
    shown = results[start : start + size]
    end = start + len(shown)
    with_actions = parameters.get("RetrieveActions", True) and last is None
    reply: dict[str, Any] = {"HITId": hit_id, "NextToken": token_after(end, end) if shown else None}
    for level, policy in policies.items():
        reply[f"{level}ReviewPolicy"] = {"PolicyName": NAMES[level]}
        reply[f"{level}ReviewReport"] = {
            "ReviewResults": [one for its, one in shown if its == level],
            "ReviewActions": [
                one | {"CompleteTime": datetime.fromisoformat(one["CompleteTime"])}
                for one in (policy.actions if with_actions else ())
            ],
        }
    return reply
