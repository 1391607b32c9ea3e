"""Messages to and from workers; events on their way to requesters' programs, and by which way."""

from django.db import models
from django.db.models import Q

from marketplace.models.hits import Assignment
from marketplace.models.identifiers import new_entity_id, new_secret
from marketplace.models.people import QualificationType, Worker
from marketplace.models.requesters import Requester


class Message(models.Model):
    """Shown on the worker's site and the host's desk; no address of a worker is given away.

    `about` is the work it is about; `qualification_type` the qualification whose grant it tells of.
    `read_at` is when its reader first saw it.
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
    # Key and parameters of the marketplace's own sentences (notifications/messages.py).
    subject_message = models.JSONField(null=True)
    text_message = models.JSONField(null=True)
    sent_at = models.DateTimeField()
    # Names the form it was written in, so that a form sent twice is one message.
    form_key = models.CharField(max_length=64, blank=True)
    read_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["worker", "form_key"],
                condition=~Q(form_key=""),
                name="one_message_per_form",
            ),
        ]

    def __str__(self) -> str:
        return self.subject


class Topic(models.Model):
    """A requester's topic, as SNS has them: what is sent to it goes to its subscriptions."""

    requester = models.ForeignKey(Requester, models.CASCADE, related_name="topics")
    name = models.CharField(max_length=256)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["requester", "name"], name="one_topic_per_name"),
        ]

    def __str__(self) -> str:
        return self.name


class Subscription(models.Model):
    """A listener of a topic; it hears nothing before it has shown `token`, which it was sent."""

    topic = models.ForeignKey(Topic, models.CASCADE, related_name="subscriptions")
    identifier = models.CharField(max_length=64, unique=True, default=new_entity_id)
    endpoint = models.TextField()
    token = models.CharField(max_length=64, unique=True, default=new_secret)
    confirmed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["topic", "endpoint"], name="one_subscription_each"),
        ]

    def __str__(self) -> str:
        return self.endpoint


class Queue(models.Model):
    """A requester's queue, as SQS has them: programs fetch its events, nothing is sent to them."""

    requester = models.ForeignKey(Requester, models.CASCADE, related_name="queues")
    name = models.CharField(max_length=80)
    visibility_seconds = models.IntegerField(default=30)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["requester", "name"], name="one_queue_per_name"),
        ]

    def __str__(self) -> str:
        return self.name


class Event(models.Model):
    """One event for one destination, delivered at least once; kept so that it can be seen.

    One in a queue waits there: `next_attempt_at` is when it can be fetched, `n_attempts` how often
    it was, `delivered_at` when the program that fetched it deleted it.
    """

    document_id = models.CharField(max_length=64, unique=True, default=new_entity_id)
    requester = models.ForeignKey(Requester, models.CASCADE, related_name="events")
    transport = models.CharField(max_length=3)
    destination = models.TextField()
    # The topic that it came through, and the queue that it waits in.
    topic_arn = models.CharField(max_length=320, blank=True, default="")
    queue = models.ForeignKey(Queue, models.CASCADE, null=True, related_name="events")
    version = models.CharField(max_length=20)
    # EventType, EventTimestamp, HITTypeId, HITId, AssignmentId, as the envelope shows them.
    content = models.JSONField()
    created_at = models.DateTimeField()
    n_attempts = models.IntegerField(default=0)
    # When to try (again); None = delivered or given up.
    next_attempt_at = models.DateTimeField(null=True)
    delivered_at = models.DateTimeField(null=True)
    problem = models.CharField(max_length=300, blank=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["next_attempt_at"],
                condition=Q(next_attempt_at__isnull=False),
                name="event_due",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.content.get('EventType')} to {self.destination}"
