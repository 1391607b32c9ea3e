"""The marketplace's rows, one model per file."""

from marketplace.models.access_key import AccessKey
from marketplace.models.assignment import HANDED_IN, LIVE, Assignment, State
from marketplace.models.bonus_payment import BonusPayment
from marketplace.models.contest import Contest
from marketplace.models.hit import HIT
from marketplace.models.hit_type import HITType
from marketplace.models.idempotency_token import IdempotencyToken
from marketplace.models.ledger_entry import Kind, LedgerEntry
from marketplace.models.message import Message
from marketplace.models.payment_report import PaymentReport
from marketplace.models.payout import Payout
from marketplace.models.qualification_grant import QualificationGrant
from marketplace.models.qualification_request import QualificationRequest, RequestState
from marketplace.models.qualification_type import QualificationType
from marketplace.models.requester import Requester
from marketplace.models.session import Session
from marketplace.models.sign_in_failure import SignInFailure
from marketplace.models.worker import Worker
from marketplace.models.worker_block import WorkerBlock

__all__ = [
    "HANDED_IN",
    "HIT",
    "LIVE",
    "AccessKey",
    "Assignment",
    "BonusPayment",
    "Contest",
    "HITType",
    "IdempotencyToken",
    "Kind",
    "LedgerEntry",
    "Message",
    "PaymentReport",
    "Payout",
    "QualificationGrant",
    "QualificationRequest",
    "QualificationType",
    "RequestState",
    "Requester",
    "Session",
    "SignInFailure",
    "State",
    "Worker",
    "WorkerBlock",
]
