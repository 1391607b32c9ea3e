"""The structures of the wire model that several operations return."""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from django.db.models import Case, DateTimeField, F, FloatField, Func, Value, When
from django.db.models.functions import NullIf

from marketplace.amounts import amount_of
from marketplace.configuration import granted_cap_seconds
from marketplace.models import (
    HIT,
    AssignmentState,
    HITType,
    QualificationGrant,
    QualificationType,
)
from marketplace.models.hits import status_at
from marketplace.people.requirements import SYSTEM_NAMES, WIRE_NAMES, described


class Epoch(Func):
    """The epoch seconds of a time column, exact to milliseconds, as the wire has them."""

    output_field = FloatField()
    arity = 1
    template = "ROUND(EXTRACT(EPOCH FROM %(expressions)s), 3)::float8"

    def get_db_converters(self, connection: Any) -> list[Any]:
        """Return nothing to call on each value: both databases give floats."""
        return []

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """Return SQL for SQLite, whose times are text and Julian days exact to milliseconds."""
        # 2440587.5 is the Julian day on which 1970 began.
        template = "ROUND((JULIANDAY(%(expressions)s) - 2440587.5) * 86400.0, 3)"
        return self.as_sql(compiler, connection, template=template, **context)


ASSIGNMENT_STATUS: dict[str, str] = {
    AssignmentState.SUBMITTED: "Submitted",
    AssignmentState.APPROVED: "Approved",
    AssignmentState.REJECTED: "Rejected",
}
# The model is of that day, and the system's own types come with it.
MODEL_OF = datetime(2017, 1, 17, tzinfo=UTC)
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
# The members of the model's HIT and their columns; its type has the others, time decides HITStatus.
HIT_COLUMNS = {
    "HITId": "hit_id",
    "CreationTime": "created_at",
    "Question": "question",
    "MaxAssignments": "max_assignments",
    "Expiration": "expires_at",
    "RequesterAnnotation": "annotation",
    "NumberOfAssignmentsPending": "n_pending",
    "NumberOfAssignmentsAvailable": "n_open",
    "NumberOfAssignmentsCompleted": "n_completed",
}


def hit_members(now: datetime) -> dict[str, Any]:
    """Return the members of the model's HIT that its type lacks, as expressions of its columns."""
    expressions = {member: _expression(column) for member, column in HIT_COLUMNS.items()}
    return {**expressions, "HITStatus": status_at(now)}


def _expression(column: str) -> Any:
    field = HIT._meta.get_field(column)
    if isinstance(field, DateTimeField):
        return Epoch(column)
    return NullIf(column, Value("")) if getattr(field, "blank", False) else F(column)


def type_members(hit_type_id: str) -> dict[str, Any]:
    """Return the members of the model's HIT that its type has, to be read only."""
    return _kept_members(hit_type_id, granted_cap_seconds())


@lru_cache(maxsize=1024)
def _kept_members(hit_type_id: str, cap_seconds: int) -> dict[str, Any]:
    """Return the members under a cap of the host's.

    They are kept, because a type's values never change and its id is nobody else's ever.
    """
    kind = HITType.objects.get(hit_type_id=hit_type_id)
    return {
        "HITTypeId": kind.hit_type_id,
        "HITGroupId": kind.hit_group_id,
        "Title": kind.title,
        "Description": kind.description,
        "Keywords": kind.keywords or None,
        "Reward": amount_of(kind.reward_cents),
        "AutoApprovalDelayInSeconds": min(kind.auto_approval_delay_seconds, cap_seconds),
        "AssignmentDurationInSeconds": kind.assignment_duration_seconds,
        "QualificationRequirements": [described(need) for need in kind.requirements],
        "HITReviewStatus": "NotReviewed",
    }


def describe_hit(hit: HIT, now: datetime) -> dict[str, Any]:
    """Return the model's HIT; expects one that was settled at `now`, with its type loaded."""
    values = {member: getattr(hit, column) for member, column in HIT_COLUMNS.items()}
    values["RequesterAnnotation"] = values["RequesterAnnotation"] or None
    return {**type_members(hit.hit_type.hit_type_id), **values, "HITStatus": hit.status(now)}


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
        "IsRequestable": row.is_active,
        "AutoGranted": row.is_auto_granted,
        "AutoGrantedValue": row.auto_granted_value if row.is_auto_granted else None,
    }


def describe_system_type(type_id: str) -> dict[str, Any]:
    """Return the model's QualificationType of one that the marketplace itself keeps."""
    return {
        "QualificationTypeId": type_id,
        "CreationTime": MODEL_OF,
        "Name": WIRE_NAMES[type_id],
        "Description": f"Kept by the marketplace: {SYSTEM_NAMES[type_id]}.",
        "QualificationTypeStatus": "Active",
        "IsRequestable": False,
        "AutoGranted": False,
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
