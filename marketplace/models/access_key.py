"""The key pairs that requests are signed with."""

from django.db import models

from marketplace.identifiers import new_access_key_id, new_secret
from marketplace.models.requester import Requester


class AccessKey(models.Model):
    """One key of a requester; the secret itself is kept, since checking a signature needs it."""

    requester = models.ForeignKey(Requester, models.CASCADE, related_name="access_keys")
    access_key_id = models.CharField(max_length=32, unique=True, default=new_access_key_id)
    secret_access_key = models.CharField(max_length=64, default=new_secret)
    created_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.access_key_id
