"""A requester who does not want work from a worker."""

from django.db import models

from marketplace.models.requester import Requester
from marketplace.models.worker import Worker


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
