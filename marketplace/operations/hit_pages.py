"""GetHIT, ListHITs and ListReviewableHITs: a HIT as it is now, or a page of them."""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from django.db.models import Exists, Q

from common.prepared_sql import PreparedQuery
from marketplace.hits.lifecycle import settle_account
from marketplace.models import HIT
from marketplace.models.hits import status_at
from marketplace.operations.descriptions import hit_members, type_members
from marketplace.operations.ownership import settle_own
from marketplace.wire.pagination import page_asked, token_after
from marketplace.wire.registry import Call, operation

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
