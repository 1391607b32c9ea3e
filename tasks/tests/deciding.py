"""What tests of paying and rejecting start from: work that waits, and a fake marketplace."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Model

from collector.models import Collection
from tasks.crowd import marketplace
from tasks.crowd.requester_api import MarketplaceError
from tasks.models import Posting, ReceiptState, Session, Submission
from tasks.tests.making import (
    NOW,
    make_posting,
    make_session,
    make_worker,
    questions_for,
    stage_of,
)
from tasks.work import leases, submissions

DAY = timedelta(days=1)
SOON = NOW + timedelta(minutes=1)


@dataclass
class FakeMarketplace:
    """Answers as a marketplace does: an assignment is Submitted until it is decided once."""

    statuses: dict[str, str] = field(default_factory=dict)
    told: list[tuple[str, str]] = field(default_factory=list)
    pending: dict[str, int] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    silent: bool = False
    broken: bool = False

    def call(self, operation: str, **given: Any) -> dict[str, Any]:
        """Carry out one requester operation."""
        if self.silent:
            raise MarketplaceError("It does not answer.", permanent=False)
        if given.get("HITId") in self.gone:
            raise MarketplaceError("There is no such HIT.", permanent=True)
        if operation in ("delete_hit", "update_expiration_for_hit"):
            self.told.append((operation, given["HITId"]))
            return {}
        if operation == "get_hit":
            return {"HIT": {"NumberOfAssignmentsPending": self.pending[given["HITId"]]}}
        name = given["AssignmentId"]
        status = self.statuses.get(name, "Submitted")
        if operation == "get_assignment":
            return {"Assignment": {"AssignmentStatus": status}}
        overrides = status == "Rejected" and given.get("OverrideRejection")
        if self.broken or (status != "Submitted" and not overrides):
            raise MarketplaceError("It is in another state.", permanent=True)
        self.told.append((operation, given.get("RequesterFeedback", name)))
        self.statuses[name] = "Approved" if operation == "approve_assignment" else "Rejected"
        return {}


def make_fake_marketplace(monkeypatch: Any) -> FakeMarketplace:
    """Put a fake in the place of the marketplace's wire."""
    fake_marketplace = FakeMarketplace()
    monkeypatch.setattr(marketplace, "call", fake_marketplace.call)
    return fake_marketplace


def make_confirmed(
    collection: Collection, person: str = "AADA", *, at: datetime = NOW
) -> Submission:
    """Return work that the marketplace has confirmed and nobody has paid yet."""
    stage = stage_of(collection, "question")
    stage.collection.refresh_from_db()
    worker = make_worker(person)
    lease = leases.claim(make_session(worker, make_posting(stage)), stage, at)
    assert lease is not None
    submission = submissions.hand_in(lease, questions_for(lease), at, synthetic=False)
    Submission.objects.filter(pk=submission.pk).update(
        state=ReceiptState.CONFIRMED, confirmed_at=at
    )
    submission.refresh_from_db()
    return submission


def listed(posting: Posting, session: Session | None = None, **changed: Any) -> Any:
    """Return what the marketplace lists of an assignment that came five minutes ago."""
    known = {"assignment_id": session.session_id, "person": session.person} if session else {}
    return marketplace.Assignment(
        **{
            "hit_id": posting.external_id,
            "assignment_id": "S-OUTSIDE",
            "person": "AMALLORY",
            "status": "Submitted",
            "fields": {"words": "nothing"},
            "submitted_at": NOW - timedelta(minutes=5),
            "auto_approval_at": NOW + timedelta(days=5),
            **known,
            **changed,
        }
    )


def money(collection: Collection) -> tuple[int, int]:
    """Return the cents that are reserved and spent."""
    collection.refresh_from_db()
    return collection.reserved_cents, collection.spent_cents


def state_of(row: Model) -> str:
    """Return the state of a row as the database has it."""
    row.refresh_from_db()
    return str(row.state)  # type: ignore[attr-defined]
