"""The marketplace's rows, one model per file."""

from marketplace.models.access_key import AccessKey
from marketplace.models.assignment import HANDED_IN, LIVE, Assignment, State
from marketplace.models.audit_entry import AuditEntry
from marketplace.models.batch import Batch
from marketplace.models.batch_row import BatchRow
from marketplace.models.bonus_payment import BonusPayment
from marketplace.models.class_code import ClassCode
from marketplace.models.contest import Contest
from marketplace.models.desk_session import DeskSession
from marketplace.models.desk_user import DeskUser, Role
from marketplace.models.event import Event
from marketplace.models.hit import HIT
from marketplace.models.hit_type import HITType
from marketplace.models.idempotency_token import IdempotencyToken
from marketplace.models.invitation import Delivery, Invitation
from marketplace.models.ledger_entry import Kind, LedgerEntry
from marketplace.models.message import Message
from marketplace.models.payment_report import PaymentReport
from marketplace.models.payout import Payout
from marketplace.models.payout_line import PayoutLine
from marketplace.models.payout_list import PayoutList
from marketplace.models.project import Project, ProjectKind
from marketplace.models.qualification_grant import QualificationGrant
from marketplace.models.qualification_request import QualificationRequest, RequestState
from marketplace.models.qualification_type import QualificationType
from marketplace.models.requester import Requester
from marketplace.models.review_policy import Level, ReviewPolicy
from marketplace.models.seen_request import SeenRequest
from marketplace.models.session import Session
from marketplace.models.setting import Setting
from marketplace.models.sign_in_failure import SignInFailure
from marketplace.models.worker import Worker
from marketplace.models.worker_block import WorkerBlock
from marketplace.models.worker_group import WorkerGroup
from marketplace.models.worker_profile import WorkerProfile

__all__ = [
    "HANDED_IN",
    "HIT",
    "LIVE",
    "AccessKey",
    "Assignment",
    "AuditEntry",
    "Batch",
    "BatchRow",
    "BonusPayment",
    "ClassCode",
    "Contest",
    "Delivery",
    "DeskSession",
    "DeskUser",
    "Event",
    "HITType",
    "IdempotencyToken",
    "Invitation",
    "Kind",
    "LedgerEntry",
    "Level",
    "Message",
    "PaymentReport",
    "Payout",
    "PayoutLine",
    "PayoutList",
    "Project",
    "ProjectKind",
    "QualificationGrant",
    "QualificationRequest",
    "QualificationType",
    "RequestState",
    "Requester",
    "ReviewPolicy",
    "Role",
    "SeenRequest",
    "Session",
    "Setting",
    "SignInFailure",
    "State",
    "Worker",
    "WorkerBlock",
    "WorkerGroup",
    "WorkerProfile",
]
