"""The structures of the wire model that several operations return."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

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


# What `describe_assignment` needs, in its order; a row of `values_list` is described as it is.
ASSIGNMENT_COLUMNS = (
    "assignment_id",
    "worker__worker_id",
    "state",
    Epoch("auto_approval_at"),
    Epoch("accepted_at"),
    Epoch("submitted_at"),
    Epoch("approved_at"),
    Epoch("rejected_at"),
    Epoch("deadline"),
    "answer",
    "feedback",
)


def describe_assignment(row: Sequence[Any], hit_id: str) -> dict[str, Any]:
    """Return the model's Assignment of a row of ASSIGNMENT_COLUMNS that was handed in."""
    return {
        "AssignmentId": row[0],
        "WorkerId": row[1],
        "HITId": hit_id,
        "AssignmentStatus": ASSIGNMENT_STATUS[row[2]],
        "AutoApprovalTime": row[3],
        "AcceptTime": row[4],
        "SubmitTime": row[5],
        "ApprovalTime": row[6],
        "RejectionTime": row[7],
        "Deadline": row[8],
        "Answer": row[9],
        "RequesterFeedback": row[10] or None,
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
