"""Sign-ins at the desk, apart from workers' sessions and under a cookie of their own."""

from django.db import models

from marketplace.models.desk_user import DeskUser
from marketplace.models.requester import Requester


class DeskSession(models.Model):
    """One signed-in browser; only the digest of its cookie is kept.

    A host may open a requester's desk: `acting_for` is that requester, and the audit log says so.
    """

    user = models.ForeignKey(DeskUser, models.CASCADE, related_name="sessions")
    acting_for = models.ForeignKey(Requester, models.CASCADE, null=True, related_name="+")
    token_digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    # One sentence for the next page, shown once.
    notice = models.CharField(max_length=500, blank=True)

    def __str__(self) -> str:
        return f"desk session of {self.user_id}"
