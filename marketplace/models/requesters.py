"""Who posts HITs: accounts, granted credit, keys, and which of their calls were carried out."""

from django.db import models
from django.db.models import Q

from marketplace.models.identifiers import new_access_key_id, new_secret


class Requester(models.Model):
    """A requester's account; `balance_cents` is free to spend, `held_cents` is promised to HITs."""

    name = models.CharField(max_length=120, unique=True)
    contact = models.CharField(max_length=254, blank=True)
    # How and by when this requester pays, in their own words; workers read it before they accept.
    payment_terms = models.CharField(max_length=300, blank=True)
    # What tasks may use of a worker's browser: names between blanks (hits/facts.py).
    frame_permissions = models.CharField(max_length=100, blank=True, default="")
    entry_secret = models.CharField(max_length=64, default=new_secret)
    balance_cents = models.BigIntegerField(default=0)
    held_cents = models.BigIntegerField(default=0)
    # What goes wrong on purpose for this account (fault_injection.py); empty = nothing.
    faults = models.JSONField(default=dict)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(balance_cents__gte=0), name="balance_not_negative"),
            models.CheckConstraint(condition=Q(held_cents__gte=0), name="held_not_negative"),
        ]

    def __str__(self) -> str:
        return self.name


class AccessKey(models.Model):
    """One key of a requester; the secret itself is kept, since checking a signature needs it."""

    requester = models.ForeignKey(Requester, models.CASCADE, related_name="access_keys")
    access_key_id = models.CharField(max_length=32, unique=True, default=new_access_key_id)
    secret_access_key = models.CharField(max_length=64, default=new_secret)
    created_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.access_key_id


class IdempotencyToken(models.Model):
    """A UniqueRequestToken of one operation, and what that request made."""

    requester = models.ForeignKey(Requester, models.CASCADE, related_name="tokens")
    operation = models.CharField(max_length=64)
    token = models.CharField(max_length=64)
    subject = models.CharField(max_length=64)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "operation", "token"], name="one_request_per_token"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.operation} {self.token}"


class SeenRequest(models.Model):
    """A digest of one attempt; forgotten when its signature is too old to be believed anyway."""

    attempt = models.CharField(max_length=64, unique=True)
    seen_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.attempt
