"""The rows of what workers do, and what they are paid."""

from tasks.models.answer import Answer
from tasks.models.award import Fund, Tally
from tasks.models.consent import Consent
from tasks.models.dialog import (
    Dialog,
    DialogState,
    PartnerReport,
    ReportDecision,
    Ticket,
    TicketState,
    Topic,
    Turn,
)
from tasks.models.eligibility import Eligibility, Gate
from tasks.models.given import Given
from tasks.models.lease import Lease, LeaseState
from tasks.models.payment import ON_MARKETPLACE, Payment, PaymentKind, PaymentState
from tasks.models.posting import Posting, PostingState, Session
from tasks.models.problem import ProblemReport
from tasks.models.qualification import Grant, GrantState, Qualification
from tasks.models.question import Question
from tasks.models.rejection import Rejection, RejectionState, RejectionStep
from tasks.models.skip import Skip
from tasks.models.step import Step, StepKind
from tasks.models.submission import ReceiptState, Submission
from tasks.models.unit import Exposure, Unit, UnitItem
from tasks.models.unmatched import Unmatched
from tasks.models.worker import Identity, Worker

__all__ = [
    "ON_MARKETPLACE",
    "Answer",
    "Consent",
    "Dialog",
    "DialogState",
    "Eligibility",
    "Exposure",
    "Fund",
    "Gate",
    "Given",
    "Grant",
    "GrantState",
    "Identity",
    "Lease",
    "LeaseState",
    "PartnerReport",
    "Payment",
    "PaymentKind",
    "PaymentState",
    "Posting",
    "PostingState",
    "ProblemReport",
    "Qualification",
    "Question",
    "ReceiptState",
    "Rejection",
    "RejectionState",
    "RejectionStep",
    "ReportDecision",
    "Session",
    "Skip",
    "Step",
    "StepKind",
    "Submission",
    "Tally",
    "Ticket",
    "TicketState",
    "Topic",
    "Turn",
    "Unit",
    "UnitItem",
    "Unmatched",
    "Worker",
]
