"""What workers are owed and paid, what is held for bonuses, and what is rejected."""

from datetime import datetime, timedelta
from typing import Any

from django.db import models
from django.db.models import F, Q

from tasks.models.people import Worker
from tasks.models.posting import Posting, Session
from tasks.models.work import Lease, ReceiptState, Submission

# Who gave a bonus that was paid with our account, but not by us.
ON_MARKETPLACE = "the marketplace"


class PaymentKind(models.TextChoices):
    """What a payment is for."""

    REWARD = "reward", "Reward"
    BONUS = "bonus", "Bonus"
    COMPENSATION = "compensation", "Compensation"


class PaymentState(models.TextChoices):
    """A row first, the provider's call second, its confirmation last.

    What is withheld is not owed: the work was rejected, and the budget has the money back. What is
    refused was a bonus that the marketplace would not carry: a person says how it is paid.
    """

    DUE = "due", "Due"
    CONFIRMED = "confirmed", "Confirmed by the marketplace"
    WITHHELD = "withheld", "Not paid"
    REFUSED = "refused", "Refused by the marketplace"


class Payment(models.Model):
    """One amount in whole cents, once per `key`; no verdict ever touches it.

    What a bonus is for was counted before, without what was dropped.

    `lease` is whose work a bonus is for: it is sent once that is handed in. `by`: who gave a bonus
    that no rule asks for, ON_MARKETPLACE where it was found on the marketplace. `refusal`: the
    marketplace's words, where it refused it.
    """

    collection = models.ForeignKey("collector.Collection", models.PROTECT, related_name="payments")
    stage = models.ForeignKey("collector.Stage", models.PROTECT, related_name="payments")
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="payments")
    submission = models.ForeignKey(
        Submission, models.PROTECT, null=True, blank=True, related_name="payments"
    )
    lease = models.ForeignKey(Lease, models.PROTECT, null=True, blank=True, related_name="bonuses")
    posting = models.ForeignKey(
        Posting, models.PROTECT, null=True, blank=True, related_name="payments"
    )
    kind = models.CharField(max_length=20, choices=PaymentKind.choices)
    amount_cents = models.PositiveIntegerField()
    fee_cents = models.PositiveIntegerField(default=0)
    key = models.CharField(max_length=120, unique=True)
    reason = models.CharField(max_length=500, blank=True)
    by = models.CharField(max_length=150, blank=True)
    refusal = models.CharField(max_length=500, blank=True)
    state = models.CharField(max_length=20, choices=PaymentState.choices, default=PaymentState.DUE)
    created_at = models.DateTimeField()
    confirmed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["state", "created_at"], name="payment_by_state")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.amount_cents}"


class EmptySubmission(models.Model):
    """One per assignment, until a person or the marketplace has decided whether it is paid.

    `received_at` and `auto_approval_at` are the marketplace's times; `fields` is what the form
    said that came to it. The states are those of a submission, from `confirmed` on.
    """

    session = models.OneToOneField(Session, models.PROTECT, related_name="empty_submission")
    state = models.CharField(
        max_length=20, choices=ReceiptState.choices, default=ReceiptState.CONFIRMED
    )
    fields = models.JSONField(default=dict)
    received_at = models.DateTimeField()
    auto_approval_at = models.DateTimeField()
    found_at = models.DateTimeField()
    refusal = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ["received_at", "id"]
        indexes = [models.Index(fields=["state"], name="empty_submission_by_state")]

    def __str__(self) -> str:
        return f"{self.session.posting}, submitted empty"

    @property
    def payments(self) -> "models.QuerySet[Payment]":
        """Return what is in the ledger for it; bonuses stand apart from it."""
        rewards = self.session.posting.payments.exclude(kind="bonus")
        return rewards.filter(worker=self.session.worker_id)


class ExampleCount(models.Model):
    """The examples of an accepted submission, with how many the stage and the worker had before it.

    Written once, in the order of acceptance: a round or a block that is over stays as it was.
    """

    submission = models.OneToOneField(Submission, models.PROTECT, related_name="example_count")
    stage = models.ForeignKey("collector.Stage", models.CASCADE, related_name="example_counts")
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="example_counts")
    examples = models.PositiveIntegerField()
    seconds = models.PositiveIntegerField()
    before = models.PositiveIntegerField()
    own_before = models.PositiveIntegerField()

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(fields=["stage", "before"], name="example_count_of_a_round"),
            models.Index(fields=["stage", "worker", "own_before"], name="example_count_of_a_block"),
        ]

    def __str__(self) -> str:
        return f"{self.worker_id}: {self.examples}"


class BonusFund(models.Model):
    """What a stage's budget holds for bonuses: `paid_cents` of `held_cents` are spent already.

    `examples` were accepted until now, in them `blocks` of single workers are over.
    """

    stage = models.OneToOneField("collector.Stage", models.CASCADE, related_name="bonus_fund")
    held_cents = models.PositiveIntegerField(default=0)
    paid_cents = models.PositiveIntegerField(default=0)
    examples = models.PositiveIntegerField(default=0)
    blocks = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(paid_cents__lte=models.F("held_cents")),
                name="fund_pays_what_it_holds",
            )
        ]

    def __str__(self) -> str:
        return f"{self.stage}: {self.paid_cents} of {self.held_cents}"


class RejectionState(models.TextChoices):
    """Proposed, decided by people, then carried out; what is carried out can be taken back."""

    PROPOSED = "proposed", "Proposed"
    WITHDRAWN = "withdrawn", "Withdrawn"
    LAPSED = "lapsed", "Not decided in time"
    AGREED = "agreed", "Agreed, being carried out"
    FAILED = "failed", "Could not be carried out"
    REJECTED = "rejected", "Rejected"
    RESTORING = "restoring", "Being taken back"
    RESTORED = "restored", "Taken back"
    FINAL = "final", "Rejected for good"


# The marketplace lets a rejection be undone for this long after the work was handed in.
TAKEN_BACK_WITHIN = timedelta(days=30)
ELSEWHERE = "another program"
UNDECIDED = (RejectionState.PROPOSED, RejectionState.WITHDRAWN, RejectionState.LAPSED)
OPEN = (
    RejectionState.PROPOSED,
    RejectionState.AGREED,
    RejectionState.REJECTED,
    RejectionState.RESTORING,
    RejectionState.FINAL,
)


class Rejection(models.Model):
    """One proposal to reject one assignment; the worker reads its `reason`.

    `alone_from` is when the one who proposed may confirm as well, `holds_until` how long the
    approval waits for a decision, `take_back_until` how long the marketplace lets it be undone,
    `asked_at` when it was last asked whether it has approved what we rejected.
    """

    session = models.ForeignKey(Session, models.PROTECT, related_name="rejections")
    reason = models.TextField()
    state = models.CharField(
        max_length=20, choices=RejectionState.choices, default=RejectionState.PROPOSED
    )
    proposed_by = models.CharField(max_length=150)
    proposed_at = models.DateTimeField()
    alone_from = models.DateTimeField()
    holds_until = models.DateTimeField()
    confirmed_by = models.CharField(max_length=150, blank=True)
    confirmed_at = models.DateTimeField(null=True, blank=True)
    take_back_until = models.DateTimeField()
    asked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-proposed_at", "-id"]
        indexes = [models.Index(fields=["state"], name="rejection_by_state")]
        constraints = [
            models.UniqueConstraint(
                fields=["session"],
                condition=Q(state__in=OPEN),
                name="rejection_open_once_per_assignment",
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="rejection_has_a_reason"),
            models.CheckConstraint(
                condition=Q(confirmed_at__isnull=True, confirmed_by="", state__in=UNDECIDED)
                | (Q(confirmed_at__isnull=False) & ~Q(confirmed_by="") & ~Q(state__in=UNDECIDED)),
                name="rejection_is_carried_out_when_confirmed",
            ),
            models.CheckConstraint(
                condition=Q(confirmed_at__isnull=True)
                | ~Q(confirmed_by=F("proposed_by"))
                | Q(confirmed_at__gte=F("alone_from")),
                name="rejection_by_two_people_or_a_day_later",
            ),
            models.CheckConstraint(
                condition=Q(confirmed_at__isnull=True) | Q(confirmed_at__lt=F("holds_until")),
                name="rejection_is_confirmed_in_time",
            ),
        ]

    def __str__(self) -> str:
        return self.get_state_display()

    @property
    def elsewhere(self) -> bool:
        """Return whether another program rejected it, with the requester's account."""
        return self.proposed_by == ELSEWHERE

    def advance(
        self,
        to: RejectionState,
        *,
        by: str,
        why: str,
        now: datetime,
        provided: Q = Q(),  # noqa: B008
        **fields: Any,
    ) -> bool:
        """Bring it from the state it was read in to another, and log the step.

        False, and nothing done, if it is in another state by now or not as `provided`. Expects a
        transaction.
        """
        rows = Rejection.objects.filter(provided, pk=self.pk, state=self.state)
        if not rows.update(state=to, **fields):
            return False
        self.state = to
        self.steps.create(state=to, by=by, why=why, at=now)
        return True


class RejectionStep(models.Model):
    """One step of a rejection's way: what it came to be, by whom, when and why; never changed."""

    rejection = models.ForeignKey(Rejection, models.CASCADE, related_name="steps")
    state = models.CharField(max_length=20, choices=RejectionState.choices)
    by = models.CharField(max_length=150)
    at = models.DateTimeField()
    why = models.TextField()

    class Meta:
        ordering = ["at", "id"]

    def __str__(self) -> str:
        return f"{self.get_state_display()} by {self.by}"
