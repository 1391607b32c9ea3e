"""The structures of the wire model that several operations return."""

from datetime import datetime
from typing import Any

from django.db.models import Case, F, Value, When
from django.db.models.functions import NullIf

from marketplace.amounts import amount_of
from marketplace.epoch import Epoch
from marketplace.models import (
    HIT,
    QualificationGrant,
    QualificationType,
    State,
)

ASSIGNMENT_STATUS: dict[str, str] = {
    State.SUBMITTED: "Submitted",
    State.APPROVED: "Approved",
    State.REJECTED: "Rejected",
}
# The members of the model's Assignment and where they are; HITId is the caller's to add.
ASSIGNMENT: dict[str, Any] = {
    "AssignmentId": F("assignment_id"),
    "WorkerId": F("worker__worker_id"),
    "AssignmentStatus": Case(
        *(When(state=state, then=Value(status)) for state, status in ASSIGNMENT_STATUS.items())
    ),
    "AutoApprovalTime": Epoch("auto_approval_at"),
    "AcceptTime": Epoch("accepted_at"),
    "SubmitTime": Epoch("submitted_at"),
    "ApprovalTime": Epoch("approved_at"),
    "RejectionTime": Epoch("rejected_at"),
    "Deadline": Epoch("deadline"),
    "Answer": F("answer"),
    "RequesterFeedback": NullIf("feedback", Value("")),
}


def describe_hit(hit: HIT, now: datetime) -> dict[str, Any]:
    """Return the model's HIT; expects one that was settled at `now`, with its type loaded."""
    kind = hit.hit_type
    return {
        "HITId": hit.hit_id,
        "HITTypeId": kind.hit_type_id,
        "HITGroupId": kind.hit_group_id,
        "CreationTime": hit.created_at,
        "Title": kind.title,
        "Description": kind.description,
        "Question": hit.question,
        "Keywords": kind.keywords or None,
        "HITStatus": hit.status(now),
        "MaxAssignments": hit.max_assignments,
        "Reward": amount_of(kind.reward_cents),
        "AutoApprovalDelayInSeconds": kind.auto_approval_delay_seconds,
        "Expiration": hit.expires_at,
        "AssignmentDurationInSeconds": kind.assignment_duration_seconds,
        "RequesterAnnotation": hit.annotation or None,
        "QualificationRequirements": kind.requirements,
        "HITReviewStatus": "NotReviewed",
        "NumberOfAssignmentsPending": hit.n_pending,
        "NumberOfAssignmentsAvailable": hit.n_open,
        "NumberOfAssignmentsCompleted": hit.n_completed,
    }


def describe_qualification_type(row: QualificationType, is_owner: bool = True) -> dict[str, Any]:
    """Return the model's QualificationType; nobody but its owner is told the answer key."""
    return {
        "QualificationTypeId": row.qualification_type_id,
        "CreationTime": row.created_at,
        "Name": row.name,
        "Description": row.description,
        "Keywords": row.keywords or None,
        "QualificationTypeStatus": "Active" if row.is_active else "Inactive",
        "Test": row.test or None,
        "TestDurationInSeconds": row.test_duration_seconds,
        "AnswerKey": (row.answer_key or None) if is_owner else None,
        "RetryDelayInSeconds": row.retry_delay_seconds,
        "IsRequestable": True,
        "AutoGranted": row.is_auto_granted,
        "AutoGrantedValue": row.auto_granted_value if row.is_auto_granted else None,
    }


def describe_qualification(grant: QualificationGrant) -> dict[str, Any]:
    """Return the model's Qualification; expects worker and type loaded."""
    return {
        "QualificationTypeId": grant.qualification_type.qualification_type_id,
        "WorkerId": grant.worker.worker_id,
        "GrantTime": grant.granted_at,
        "IntegerValue": grant.integer_value,
        "Status": "Revoked" if grant.is_revoked else "Granted",
    }
