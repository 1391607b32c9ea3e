"""The structures of the wire model that several operations return."""

from datetime import datetime
from typing import Any

from marketplace.amounts import amount_of
from marketplace.models import (
    HIT,
    Assignment,
    QualificationGrant,
    QualificationType,
    State,
)

ASSIGNMENT_STATUS = {
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


def describe_assignment(assignment: Assignment) -> dict[str, Any]:
    """Return the model's Assignment; expects one that was handed in, worker and HIT loaded."""
    return {
        "AssignmentId": assignment.assignment_id,
        "WorkerId": assignment.worker.worker_id,
        "HITId": assignment.hit.hit_id,
        "AssignmentStatus": ASSIGNMENT_STATUS[State(assignment.state)],
        "AutoApprovalTime": assignment.auto_approval_at,
        "AcceptTime": assignment.accepted_at,
        "SubmitTime": assignment.submitted_at,
        "ApprovalTime": assignment.approved_at,
        "RejectionTime": assignment.rejected_at,
        "Deadline": assignment.deadline,
        "Answer": assignment.answer,
        "RequesterFeedback": assignment.feedback or None,
    }


def describe_qualification_type(row: QualificationType) -> dict[str, Any]:
    """Return the model's QualificationType of a requester's own type."""
    return {
        "QualificationTypeId": row.qualification_type_id,
        "CreationTime": row.created_at,
        "Name": row.name,
        "Description": row.description,
        "Keywords": row.keywords or None,
        "QualificationTypeStatus": "Active" if row.is_active else "Inactive",
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
