"""Models of what workers write: questions, answers, and seeds that they skipped."""

from django.db import models
from django.db.models import F, Q

from collector.models import Seed
from tasks.models.people import Worker
from tasks.models.work import Submission, Unit


class Question(models.Model):
    """A question about a seed.

    `payload` has what one protocol adds, such as evidence spans and picked links. `key` names the
    question by its content.
    """

    stage = models.ForeignKey("collector.Stage", models.CASCADE, related_name="questions")
    submission = models.ForeignKey(
        Submission, models.PROTECT, null=True, blank=True, related_name="questions"
    )
    position = models.PositiveSmallIntegerField()
    seed = models.ForeignKey("collector.Seed", models.PROTECT, related_name="questions")
    worker = models.ForeignKey(Worker, models.PROTECT, null=True, related_name="questions")
    key = models.CharField(max_length=64)
    text = models.TextField()
    payload = models.JSONField(default=dict)
    synthetic = models.BooleanField(default=False)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["submission", "position"], name="question_once"),
            models.UniqueConstraint(fields=["stage", "key"], name="question_key_once"),
        ]

    def __str__(self) -> str:
        return self.text


class UnitItem(models.Model):
    """One item of a unit: a seed to write about, or a question to answer."""

    unit = models.ForeignKey(Unit, models.CASCADE, related_name="items")
    position = models.PositiveSmallIntegerField()
    seed = models.ForeignKey("collector.Seed", models.PROTECT, null=True, related_name="+")
    question = models.ForeignKey(Question, models.PROTECT, null=True, related_name="+")

    class Meta:
        ordering = ["unit_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["unit", "position"], name="unit_item_position_once"),
            models.CheckConstraint(
                condition=Q(seed__isnull=True) ^ Q(question__isnull=True),
                name="unit_item_is_a_seed_or_a_question",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.unit_id}/{self.position}"

    def the_seed(self) -> Seed:
        """Return the seed of an item of a question stage."""
        assert self.seed is not None
        return self.seed

    def the_question(self) -> Question:
        """Return the question of an item of an answer stage."""
        assert self.question is not None
        return self.question


class Answer(models.Model):
    """An answer to a question, which is never by the question's writer.

    `payload` has spans, value, unit, reason and evidence. An answer from published files has
    neither a submission nor a worker. Neither has a correction, which the requester `corrected_by`
    entered in place of the votes. A correction is released, but it is not a vote. It depends on the
    vote that it `corrects`, or whose labels it takes, and counts only while that vote counts.
    """

    question = models.ForeignKey(Question, models.PROTECT, related_name="answers")
    stage = models.ForeignKey("collector.Stage", models.CASCADE, related_name="answers")
    submission = models.ForeignKey(
        Submission, models.PROTECT, null=True, blank=True, related_name="answers"
    )
    worker = models.ForeignKey(
        Worker, models.PROTECT, null=True, blank=True, related_name="answers"
    )
    writer = models.ForeignKey(Worker, models.PROTECT, null=True, related_name="+")
    type = models.CharField(max_length=20)
    payload = models.JSONField(default=dict)
    synthetic = models.BooleanField(default=False)
    corrected_by = models.CharField(max_length=150, blank=True, default="", db_default="")
    # It is unknown for a few older corrections.
    corrects = models.ForeignKey(
        "self", models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["question", "worker"], name="answer_once_per_worker"),
            models.CheckConstraint(
                condition=Q(writer__isnull=True) | ~Q(worker=F("writer")),
                name="answer_not_by_the_writer",
            ),
            models.CheckConstraint(
                condition=Q(corrected_by="") | Q(worker__isnull=True, submission__isnull=True),
                name="answer_corrected_is_no_vote",
            ),
            models.CheckConstraint(
                condition=Q(corrects__isnull=True) | ~Q(corrected_by=""),
                name="answer_corrects_by_hand",
            ),
        ]

    def __str__(self) -> str:
        return self.type


class LockedAnswer(models.Model):
    """A worker's answer to a unit's item at `position`; what they were shown next depends on it.

    Like a draft, it belongs to the worker and the unit. So a lease that is interrupted and taken
    again continues after it.
    """

    unit = models.ForeignKey(Unit, models.CASCADE, related_name="locked_answers")
    worker = models.ForeignKey(Worker, models.CASCADE, related_name="locked_answers")
    position = models.PositiveSmallIntegerField()
    answer = models.JSONField()
    at = models.DateTimeField()

    class Meta:
        ordering = ["unit_id", "worker_id", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["unit", "worker", "position"], name="locked_answer_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.unit_id}/{self.position}"


class Skip(models.Model):
    """A seed that a worker skipped; it is handed in and paid like a question.

    The seed then goes to another worker, or to nobody.
    """

    stage = models.ForeignKey("collector.Stage", models.CASCADE, related_name="skips")
    submission = models.ForeignKey(Submission, models.PROTECT, related_name="skips")
    seed = models.ForeignKey("collector.Seed", models.PROTECT, related_name="skips")
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="skips")
    reason = models.CharField(max_length=1000)
    synthetic = models.BooleanField(default=False)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["seed", "worker"], name="skip_once")]

    def __str__(self) -> str:
        return self.reason
