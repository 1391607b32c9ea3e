"""The marketplace's rows, one file per idea."""

from marketplace.models.assignments import HANDED_IN, LIVE, Assignment, AssignmentState, Contest
from marketplace.models.batches import Batch, BatchRow, Project, ProjectKind
from marketplace.models.desk import AuditEntry, DeskSession, DeskUser, Role, Setting
from marketplace.models.hits import HIT, HITType, ReviewLevel, ReviewPolicy
from marketplace.models.money import (
    BonusPayment,
    LedgerEntry,
    LedgerKind,
    PaymentReport,
    Payout,
    PayoutLine,
    PayoutList,
)
from marketplace.models.notifications import Event, Message, Queue, Subscription, Topic
from marketplace.models.people import ClassCode, Invitation, InvitationDelivery, WorkerGroup
from marketplace.models.qualifications import (
    QualificationGrant,
    QualificationRequest,
    QualificationType,
    RequestState,
)
from marketplace.models.requesters import AccessKey, IdempotencyToken, Requester, SeenRequest
from marketplace.models.workers import (
    PayoutWay,
    SignInTries,
    Worker,
    WorkerBlock,
    WorkerProfile,
    WorkerSession,
)

__all__ = [
    "HANDED_IN",
    "HIT",
    "LIVE",
    "AccessKey",
    "Assignment",
    "AssignmentState",
    "AuditEntry",
    "Batch",
    "BatchRow",
    "BonusPayment",
    "ClassCode",
    "Contest",
    "DeskSession",
    "DeskUser",
    "Event",
    "HITType",
    "IdempotencyToken",
    "Invitation",
    "InvitationDelivery",
    "LedgerEntry",
    "LedgerKind",
    "Message",
    "PaymentReport",
    "Payout",
    "PayoutLine",
    "PayoutList",
    "PayoutWay",
    "Project",
    "ProjectKind",
    "QualificationGrant",
    "QualificationRequest",
    "QualificationType",
    "Queue",
    "RequestState",
    "Requester",
    "ReviewLevel",
    "ReviewPolicy",
    "Role",
    "SeenRequest",
    "Setting",
    "SignInTries",
    "Subscription",
    "Topic",
    "Worker",
    "WorkerBlock",
    "WorkerGroup",
    "WorkerProfile",
    "WorkerSession",
]
