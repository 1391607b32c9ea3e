"""One code for many people, like a class, with a limit of seats."""

from django.db import models
from django.db.models import F, Q

from marketplace.models.qualification_type import QualificationType


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
