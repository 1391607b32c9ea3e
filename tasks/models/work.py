"""What is handed out, who holds it, and what was handed in."""

from django.db import models
from django.db.models import F, Q

from tasks.models.people import Worker
from tasks.models.posting import Session


class Unit(models.Model):
    """Ten paragraphs, ten questions, a pair.

    `taken` counts live leases and submissions that count; it never exceeds `redundancy`.
    """

    stage = models.ForeignKey("collector.Stage", models.CASCADE, related_name="units")
    position = models.PositiveIntegerField()
    redundancy = models.PositiveIntegerField()
    taken = models.PositiveIntegerField(default=0)
    submitted = models.PositiveIntegerField(default=0)
    closed = models.BooleanField(default=False)

    class Meta:
        ordering = ["stage_id", "position"]
        indexes = [
            models.Index(
                fields=["stage", "position"],
                condition=Q(closed=False, taken__lt=F("redundancy")),
                name="unit_with_a_free_place",
            )
        ]
        constraints = [
            models.UniqueConstraint(fields=["stage", "position"], name="unit_position_once"),
            models.CheckConstraint(
                condition=Q(taken__lte=F("redundancy")), name="unit_never_overbooked"
            ),
            models.CheckConstraint(
                condition=Q(submitted__lte=F("taken")), name="unit_submissions_were_taken"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.stage} {self.position + 1}"


class Exposure(models.Model):
    """That a worker has been shown a seed in a stage of some kind (independence)."""

    # Looked up by `exposure_once`, which begins with it.
    worker = models.ForeignKey(Worker, models.CASCADE, related_name="exposures", db_index=False)
    seed = models.ForeignKey("collector.Seed", models.CASCADE, related_name="+")
    kind = models.CharField(max_length=40)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["worker", "seed", "kind"], name="exposure_once")
        ]

    def __str__(self) -> str:
        return self.kind


class LeaseState(models.TextChoices):
    """A lease ends once: by submission, by return, or by its time."""

    LIVE = "live", "Being worked on"
    SUBMITTED = "submitted", "Submitted"
    RETURNED = "returned", "Returned"
    EXPIRED = "expired", "Out of time"


class LeaseEnded(Exception):
    """The lease is over; nothing can be saved or extended any more."""


class Lease(models.Model):
    """The text versions it names are what the worker was shown.

    `compensated` tells that a lease that ran out of time was looked at, `paid` that its unfinished
    work was paid for: its unit is not handed to that worker again. `reserved_cents` is held for
    what may still come of it once its HIT, and the money of that, went to somebody else.
    """

    unit = models.ForeignKey(Unit, models.PROTECT, related_name="leases")
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="leases")
    session = models.ForeignKey(Session, models.PROTECT, related_name="leases")
    state = models.CharField(max_length=20, choices=LeaseState.choices, default=LeaseState.LIVE)
    taken_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, blank=True)
    draft = models.JSONField(null=True, blank=True)
    draft_version = models.PositiveIntegerField(default=0)
    draft_saved_at = models.DateTimeField(null=True, blank=True)
    active_seconds = models.PositiveIntegerField(default=0)
    compensated = models.BooleanField(default=False)
    paid = models.BooleanField(default=False)
    reserved_cents = models.PositiveIntegerField(default=0)
    instructions = models.ForeignKey(
        "collector.CollectionText", models.PROTECT, null=True, related_name="+"
    )
    consent_text = models.ForeignKey(
        "collector.CollectionText", models.PROTECT, null=True, related_name="+"
    )

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["state", "expires_at"], name="lease_to_expire")]
        constraints = [
            models.UniqueConstraint(
                fields=["session"],
                condition=Q(state="live"),
                name="lease_live_once_per_session",
            ),
            models.UniqueConstraint(
                fields=["unit", "worker"],
                condition=Q(state__in=["live", "submitted"]),
                name="lease_once_per_unit_and_worker",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.unit}: {self.get_state_display()}"


class LeaseEventKind(models.TextChoices):
    """What happened to a lease."""

    TAKEN = "taken", "Taken"
    HANDED_IN = "handed in", "Handed in"


class LeaseEvent(models.Model):
    """Its key is its place among all events.

    Clocks cannot tell this order: a request has the time at which it came, and another may be
    done before it. An event is written when what it tells of has been stored, in the same
    transaction. So whoever had to wait for another's rows (an equal question, the last place of a
    unit) comes after them.
    """

    lease = models.ForeignKey(Lease, models.CASCADE, related_name="events")
    kind = models.CharField(max_length=10, choices=LeaseEventKind.choices)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["lease", "kind"], name="lease_event_once")]

    def __str__(self) -> str:
        return f"{self.lease}: {self.get_kind_display()}"


class ReaderHint(models.Model):
    """Somebody was told that a reader answers a question of theirs from too little text.

    place: of the question on the page, or among all that were asked in dialogs. kept: whether the
    reader still did when it was handed in; what was asked in a dialog is.
    """

    lease = models.ForeignKey(Lease, models.CASCADE, related_name="reader_hints")
    place = models.PositiveIntegerField()
    kept = models.BooleanField(default=False)

    class Meta:
        ordering = ["lease", "place"]
        constraints = [models.UniqueConstraint(fields=["lease", "place"], name="reader_hint_once")]

    def __str__(self) -> str:
        return f"{self.lease}: question {self.place + 1}"


class ReceiptState(models.TextChoices):
    """`held`: we have the work; `confirmed`: the provider lists it too, for this worker.

    What is confirmed is either taken by an approval or by a proposal to reject it: each takes it
    with one conditional update, so that one of them wins.
    """

    HELD = "held", "Handed in, waiting for the marketplace"
    CONFIRMED = "confirmed", "Waiting to be paid"
    APPROVING = "approving", "Being paid"
    APPROVED = "approved", "Paid"
    REFUSED = "refused", "The marketplace refused to pay it"
    DISPUTED = "disputed", "Rejection proposed"
    REJECTED = "rejected", "Rejected"


class Submission(models.Model):
    """One per lease; `counts` is false for late work whose slot was already given away.

    `replaced`: it was left out of the dataset, and another place was opened for it.
    `refusal` is what the marketplace said when it would not approve it.
    """

    lease = models.OneToOneField(Lease, models.PROTECT, related_name="submission")
    raw = models.JSONField()
    receipt = models.CharField(max_length=64, unique=True)
    state = models.CharField(max_length=20, choices=ReceiptState.choices, default=ReceiptState.HELD)
    counts = models.BooleanField(default=True)
    replaced = models.BooleanField(default=False, db_default=False)
    synthetic = models.BooleanField(default=False)
    received_at = models.DateTimeField()
    confirmed_at = models.DateTimeField(null=True, blank=True)
    active_seconds = models.PositiveIntegerField(default=0)
    refusal = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["state", "received_at"], name="submission_by_state")]

    def __str__(self) -> str:
        return f"Submission {self.pk}"

    @property
    def session(self) -> Session:
        """Return the assignment it was handed in with."""
        return self.lease.session
