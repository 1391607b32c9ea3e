"""Who signs in at the desk: the host of the marketplace, or somebody of a requester."""

from django.contrib.auth.hashers import check_password, make_password
from django.db import models
from django.db.models import Q

from marketplace.models.requester import Requester


class Role(models.TextChoices):
    """What a desk user may do."""

    HOST = "host", "host"
    REQUESTER = "requester", "requester"


class DeskUser(models.Model):
    """A name and a password; requesters' users belong to one requester, hosts to none."""

    name = models.CharField(max_length=80, unique=True)
    # Django's salted hash; empty where nobody signs in by password (the open desk of a laptop).
    password = models.CharField(max_length=128, blank=True)
    role = models.CharField(max_length=9, choices=Role)
    requester = models.ForeignKey(Requester, models.CASCADE, null=True, related_name="desk_users")
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(role=Role.HOST, requester__isnull=True)
                | Q(role=Role.REQUESTER, requester__isnull=False),
                name="desk_user_has_its_requester",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def set_password(self, password: str) -> None:
        """Keep the hash of a password; does not save."""
        self.password = make_password(password)

    def has_password(self, password: str) -> bool:
        """Tell whether this is the password; takes as long for users who have none."""
        return check_password(password, self.password or make_password(None))
