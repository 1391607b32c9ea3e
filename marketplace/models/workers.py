"""Who works: the account, what the host knows of the person, who blocks them, their sign-ins."""

import unicodedata

from django.db import models
from django.db.models import Q

from common.rate_limit import TokenBucket
from marketplace.models.identifiers import new_worker_id
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
    # How they last sorted and filtered the list of HITs (site/hits/available.py).
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

    How they want to be paid they enter themselves (money/payout_handles.py).
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
