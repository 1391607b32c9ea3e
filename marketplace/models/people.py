"""Workers: the account and the person, qualifications, groups, invitations, sign-ins."""

import unicodedata

from django.db import models
from django.db.models import F, Q

from common.rate_limit import TokenBucket
from marketplace.models.identifiers import new_entity_id, new_worker_id
from marketplace.models.keywords import stated_terms
from marketplace.models.requesters import Requester


def sign_in_name_of(display_name: str) -> str:
    """Return the form of a name that open sign-in compares: one spelling per person's typing."""
    return " ".join(unicodedata.normalize("NFKC", display_name).casefold().split())


class Worker(models.Model):
    """A worker; requesters only ever see `worker_id`."""

    worker_id = models.CharField(max_length=64, unique=True, default=new_worker_id)
    display_name = models.CharField(max_length=80)
    # Set only for workers who came in by typing a name or chose one beside a password.
    sign_in_name = models.CharField(max_length=160, unique=True, null=True, blank=True)
    link_digest = models.CharField(max_length=64, unique=True, null=True, blank=True)
    country = models.CharField(max_length=2, blank=True)
    subdivision = models.CharField(max_length=2, blank=True)
    is_adult = models.BooleanField(default=False)
    is_active = models.BooleanField(default=True)
    # The place of somebody who has not come: lists of requesters name them by their old id.
    is_awaited = models.BooleanField(default=False)
    # A program's account: its times count nowhere, and nothing is ever paid to it.
    is_simulated = models.BooleanField(default=False)
    accepts_next = models.BooleanField(default=False)
    # Django's salted hash; empty for workers who come in by their link (or a name) alone.
    password = models.CharField(max_length=128, blank=True)
    # What the site looks like for them; empty = as the browser asks.
    language = models.CharField(max_length=8, blank=True)
    theme = models.CharField(max_length=5, blank=True)
    has_large_text = models.BooleanField(default=False)
    # How they last sorted and filtered the list of HITs (site/hit_views.py).
    list_choices = models.JSONField(default=dict)
    erased_at = models.DateTimeField(null=True)
    # The account that this one was found to be a second one of; its id then names that worker.
    merged_into = models.ForeignKey("self", models.PROTECT, null=True, related_name="merged")
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(worker_id__startswith="A"), name="worker_id_begins_with_a"
            ),
        ]

    def __str__(self) -> str:
        return self.display_name

    @property
    def display_preferences(self) -> dict[str, str]:
        """Return how they like pages, "" where they have not said."""
        large = "xl" if self.has_large_text else ""
        return {"theme": self.theme, "text_size": large, "language": self.language}


class PayoutWay(models.TextChoices):
    """How a worker wants to be paid, by what they enter for it."""

    PAYPAL = "paypal", "PayPal"
    IBAN = "iban", "bank transfer"
    GIFT = "gift", "gift card by mail"
    PHONE = "phone", "gift card by SMS"


class WorkerProfile(models.Model):
    """Identity, contact and history brought along; no API reply and no other person's page has it.

    How they want to be paid they enter themselves (payouts.py).
    """

    worker = models.OneToOneField(Worker, models.CASCADE, related_name="profile")
    # Lower case; two people who share a mailbox cannot both be told apart by it.
    mail = models.CharField(max_length=254, unique=True, null=True, blank=True)
    mturk_id = models.CharField(max_length=64, unique=True, null=True, blank=True)
    prolific_id = models.CharField(max_length=64, unique=True, null=True, blank=True)
    # Requesters who know them by their id at MTurk, which they read in place of the one given here.
    named_by = models.ManyToManyField(Requester, related_name="+")
    notes = models.TextField(blank=True)
    # History on another marketplace; None = none was imported.
    n_approved_before = models.IntegerField(null=True)
    percent_approved_before = models.IntegerField(null=True)
    payout_way = models.CharField(max_length=6, choices=PayoutWay, blank=True, default="")
    # A mail address, an IBAN without blanks or a phone number by E.164, and whose it is.
    payout_to = models.CharField(max_length=254, blank=True, default="")
    payout_name = models.CharField(max_length=80, blank=True, default="")

    def __str__(self) -> str:
        return f"profile of {self.worker_id}"


class WorkerBlock(models.Model):
    """One block per requester and worker; it touches no other requester's HITs."""

    requester = models.ForeignKey(Requester, models.CASCADE, related_name="blocks")
    worker = models.ForeignKey(Worker, models.CASCADE, related_name="blocks")
    reason = models.TextField()
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "worker"], name="one_block_per_requester_and_worker"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.requester_id} blocks {self.worker_id}"


class WorkerSession(models.Model):
    """One signed-in browser; only the digest of its cookie is kept."""

    worker = models.ForeignKey(Worker, models.CASCADE, related_name="sessions")
    token_digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    # One sentence for the next page, shown once ("You returned the HIT.").
    notice = models.CharField(max_length=300, blank=True)

    def __str__(self) -> str:
        return f"session of {self.worker_id}"


class SignInTries(TokenBucket):
    """How many more tries to sign in are left; names and addresses are kept as digests only."""


class QualificationType(models.Model):
    """Its name is the requester's for as long as it is not deleted."""

    qualification_type_id = models.CharField(max_length=64, unique=True, default=new_entity_id)
    requester = models.ForeignKey(Requester, models.CASCADE, related_name="qualification_types")
    name = models.CharField(max_length=200)
    description = models.TextField()
    # Key and parameters of the marketplace's own sentence (notifications/messages.py).
    description_message = models.JSONField(null=True)
    keywords = models.CharField(max_length=1000, blank=True)
    is_active = models.BooleanField(default=True)
    retry_delay_seconds = models.BigIntegerField(null=True)
    # QuestionForm and AnswerKey as XML; without a key the requester decides each request.
    test = models.TextField(blank=True)
    answer_key = models.TextField(blank=True)
    test_duration_seconds = models.BigIntegerField(null=True)
    is_auto_granted = models.BooleanField(default=False)
    auto_granted_value = models.IntegerField(default=1)
    created_at = models.DateTimeField()
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "name"],
                condition=Q(deleted_at=None),
                name="one_qualification_type_per_name",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def asked_by(self) -> str:
        """Return the name of who gives it, as workers read it."""
        return stated_terms(self.keywords).asked_by or self.requester.name


class QualificationGrant(models.Model):
    """One row per worker and type; revoking keeps the row and its reason."""

    qualification_type = models.ForeignKey(QualificationType, models.CASCADE, related_name="grants")
    worker = models.ForeignKey(Worker, models.CASCADE, related_name="grants")
    integer_value = models.IntegerField(default=1)
    granted_at = models.DateTimeField()
    is_revoked = models.BooleanField(default=False)
    reason = models.TextField(blank=True)
    # Key and parameters of the marketplace's own sentence (notifications/messages.py).
    reason_message = models.JSONField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["qualification_type", "worker"], name="one_grant_per_worker_and_type"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.qualification_type_id} for {self.worker_id}: {self.integer_value}"


class RequestState(models.TextChoices):
    """What became of a request."""

    STARTED = "started", "test in progress"
    PENDING = "pending", "waiting for the requester"
    GRANTED = "granted", "granted"
    REJECTED = "rejected", "declined"


class QualificationRequest(models.Model):
    """At most one request per worker and type is open: a test in progress, or waiting."""

    request_id = models.CharField(max_length=64, unique=True, default=new_entity_id)
    qualification_type = models.ForeignKey(
        QualificationType, models.CASCADE, related_name="requests"
    )
    worker = models.ForeignKey(Worker, models.CASCADE, related_name="qualification_requests")
    state = models.CharField(max_length=8, choices=RequestState, default=RequestState.PENDING)
    # When a test was begun; until it is handed in, `submitted_at` is that same time.
    started_at = models.DateTimeField(null=True)
    submitted_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True)
    reason = models.TextField(blank=True)
    # Key and parameters of the marketplace's own sentence (notifications/messages.py).
    reason_message = models.JSONField(null=True)
    # The test as it was when begun, and the answers (QuestionFormAnswers XML).
    test = models.TextField(blank=True)
    answer = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["qualification_type", "worker"],
                condition=Q(state__in=[RequestState.STARTED, RequestState.PENDING]),
                name="one_pending_request_per_worker_and_type",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.request_id} ({self.state})"


class WorkerGroup(models.Model):
    """A group is a qualification of the host's own account: its members are those who have it."""

    qualification_type = models.OneToOneField(
        QualificationType, models.CASCADE, related_name="group"
    )
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return str(self.qualification_type)


class ClassCode(models.Model):
    """Anybody with the code takes a seat and becomes a worker, in a group if one is set.

    The code is kept in clear: the host shows it to a room, and seats and dates limit its harm.
    """

    code = models.CharField(max_length=16, unique=True)
    label = models.CharField(max_length=80)
    n_seats = models.IntegerField()
    n_taken = models.IntegerField(default=0)
    qualification_type = models.ForeignKey(
        QualificationType, models.SET_NULL, null=True, related_name="+"
    )
    integer_value = models.IntegerField(default=1)
    made_at = models.DateTimeField()
    made_by = models.CharField(max_length=80)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(n_taken__gte=0, n_taken__lte=F("n_seats")), name="seats_not_exceeded"
            ),
        ]

    def __str__(self) -> str:
        return self.label


class InvitationDelivery(models.TextChoices):
    """How an invitation reaches its worker."""

    MAIL = "mail", "by mail"
    LINKS = "links", "as a link in a list"
    PRINT = "print", "as a printed code"
    CLASS = "class", "by a class code"


class Invitation(models.Model):
    """The link itself is the worker's personal link, of which only a digest is kept.

    A new invitation makes a new link and ends the one before. The qualification is granted when
    the worker first comes in by it.
    """

    worker = models.ForeignKey(Worker, models.CASCADE, related_name="invitations")
    delivery = models.CharField(max_length=5, choices=InvitationDelivery)
    class_code = models.ForeignKey(ClassCode, models.SET_NULL, null=True, related_name="seats")
    qualification_type = models.ForeignKey(
        QualificationType, models.SET_NULL, null=True, related_name="+"
    )
    integer_value = models.IntegerField(default=1)
    made_at = models.DateTimeField()
    made_by = models.CharField(max_length=80)
    sent_at = models.DateTimeField(null=True)
    # Why the mail could not be sent, in one sentence; empty when it was.
    failure = models.CharField(max_length=300, blank=True)
    used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(delivery__in=InvitationDelivery.values), name="delivery_is_known"
            ),
        ]
        indexes = [models.Index(fields=["worker", "used_at"], name="invitation_worker")]

    def __str__(self) -> str:
        return f"invitation of {self.worker_id}"
