"""A message between a worker and a requester, or from the marketplace itself to a worker."""

from django.db import models

from marketplace.models.assignment import Assignment
from marketplace.models.qualification_type import QualificationType
from marketplace.models.requester import Requester
from marketplace.models.worker import Worker


class Message(models.Model):
    """Shown on the worker's site and the host's desk; no address of a worker is given away.

    `about` is the work it is about; `qualification_type` the qualification whose grant it tells of.
    `read_at` is when whoever it was written to first saw it.
    """

    worker = models.ForeignKey(Worker, models.CASCADE, related_name="messages")
    requester = models.ForeignKey(Requester, models.CASCADE, null=True, related_name="messages")
    is_from_worker = models.BooleanField(default=False)
    about = models.ForeignKey(Assignment, models.SET_NULL, null=True, related_name="messages")
    qualification_type = models.ForeignKey(
        QualificationType, models.SET_NULL, null=True, related_name="+"
    )
    subject = models.CharField(max_length=200)
    text = models.TextField()
    sent_at = models.DateTimeField()
    read_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.subject
