"""A person who works: a random internal id, and the identity that is kept apart from it."""

import secrets

from django.db import models

# The provider of people who are known from old results alone; nobody can reach them.
ARCHIVE = "mturk-archive"


def new_worker_id() -> str:
    """Return a fresh internal id that says nothing about the person."""
    return "w" + secrets.token_hex(8)


class Worker(models.Model):
    """Who did the work, everywhere but in the identity table; preferences hold for all HITs.

    `synthetic` marks a simulated worker: everything it makes is marked in every release.
    `withdrawn_at` is since when nothing of theirs enters a release.
    """

    id = models.CharField(primary_key=True, max_length=17, default=new_worker_id)
    preferences = models.JSONField(default=dict)
    synthetic = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.id


class Identity(models.Model):
    """Which person of which provider a worker is; no export, review page or log reads this."""

    worker = models.OneToOneField(Worker, models.CASCADE, related_name="identity")
    provider = models.CharField(max_length=40)
    environment = models.CharField(max_length=200)
    person = models.CharField(max_length=200)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["provider", "environment", "person"], name="identity_person_once"
            )
        ]

    def __str__(self) -> str:
        return "an identity"
