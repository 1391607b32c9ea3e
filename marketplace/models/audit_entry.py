"""Every change made at the desk or by a command: who, when, what."""

from django.db import models


class AuditEntry(models.Model):
    """One sentence per change; never changed and never deleted. It holds no secret and no mail."""

    at = models.DateTimeField()
    who = models.CharField(max_length=220)
    what = models.CharField(max_length=600)

    class Meta:
        indexes = [models.Index(fields=["at"], name="audit_at")]

    def __str__(self) -> str:
        return f"{self.who}: {self.what}"
