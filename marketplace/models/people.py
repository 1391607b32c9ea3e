"""Groups of workers, and how workers are invited."""

from django.db import models
from django.db.models import F, Q

from marketplace.models.qualifications import QualificationType
from marketplace.models.workers import Worker


class WorkerGroup(models.Model):
    """A group is a qualification of the host's own account: its members are those who have it."""

    qualification_type = models.OneToOneField(
        QualificationType, models.CASCADE, related_name="group"
    )
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return str(self.qualification_type)


class ClassCode(models.Model):
    """Whoever has the code takes a seat and becomes a worker, straight into a group if one is set.

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
