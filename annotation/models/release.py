"""Releases and what belongs to them: contexts, told questions, statements, official files."""

from pathlib import Path

from django.db import models
from django.db.models import Q

from collector import kept_folders
from collector.protocols.loading import ProtocolError
from common.long_work import LongWork


class Release(models.Model):
    """`manifest` maps each file's name to its SHA-256 and size; an issued one never changes.

    `folder` is named as in collector.kept_folders, `place` where it is.
    """

    collection = models.ForeignKey("collector.Collection", models.PROTECT, related_name="releases")
    number = models.PositiveIntegerField()
    folder = models.CharField(max_length=500)
    manifest = models.JSONField(default=dict)
    counts = models.JSONField(default=dict)
    supersedes = models.ForeignKey(
        "self", models.PROTECT, null=True, blank=True, related_name="successors"
    )
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["collection_id", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "number"], name="release_number_once")
        ]

    def __str__(self) -> str:
        return f"{self.collection} release {self.number}"

    @property
    def place(self) -> Path:
        """Return the path of its folder."""
        return kept_folders.found(self.folder)


class ToldQuestion(models.Model):
    """A question of which a release tells, stored before anybody can read that release.

    `split` is the one it is released in; blank of a question whose votes were released though it
    was in no split.
    """

    question = models.OneToOneField("tasks.Question", models.CASCADE, related_name="told")
    split = models.CharField(max_length=40, blank=True)

    def __str__(self) -> str:
        return self.split or "In no split"


class About(models.TextChoices):
    """What no row knows of a dataset, and its requester is asked."""

    AUTHORS = "authors", "Authors"
    CONTACT = "contact", "Contact"
    PAGE = "page", "Page or paper"
    USES = "uses", "Intended uses"
    LIMITS = "limits", "Known limits and uses to avoid"
    BIASES = "biases", "Biases"
    IMPACT = "impact", "Social impact"
    PERSONAL = "personal", "Personal and sensitive information"
    PEOPLE = "people", "Who the workers are"
    ETHICS = "ethics", "Ethics review"
    MACHINES = "machines", "Machine-written text"
    UPKEEP = "upkeep", "Upkeep"


class Statement(models.Model):
    """What a requester says of the dataset: the last of each name holds, a blank one none."""

    collection = models.ForeignKey(
        "collector.Collection", models.CASCADE, related_name="statements"
    )
    about = models.CharField(max_length=20, choices=About.choices)
    text = models.TextField(blank=True)
    by = models.CharField(max_length=150)
    at = models.DateTimeField()

    class Meta:
        ordering = ["at", "id"]
        constraints = [
            models.CheckConstraint(condition=Q(about__in=About.values), name="statement_is_asked")
        ]

    def __str__(self) -> str:
        return f"{self.get_about_display()}: {self.text[:40]}"


class ReleaseOrder(LongWork):
    """The wish for a release, and once it is fulfilled that release, new or found again."""

    REFUSALS = (*LongWork.REFUSALS, ProtocolError)

    collection = models.ForeignKey(
        "collector.Collection", models.CASCADE, related_name="release_orders"
    )
    release = models.ForeignKey(
        "annotation.Release", models.PROTECT, null=True, blank=True, related_name="orders"
    )

    class Meta(LongWork.Meta):
        constraints = [
            *LongWork.Meta.constraints,
            models.UniqueConstraint(
                fields=["collection"],
                condition=Q(state__in=LongWork.GOING_ON),
                name="release_order_one_at_a_time",
            ),
        ]


class Context(models.Model):
    """The paragraphs of one question in one setting, stored once, so that releases stay the same.

    `paragraphs`: primary keys of collector's paragraphs in the order they are read, each with its
    sentences stored. Where they were searched for in a whole corpus, `pool` is how many the search
    left over, `gold_ranks` the rank of each paragraph of the question's seed, from 1, pool + 1 of
    one that is not among them, and `answer_rank` that of the one that holds the answer.
    """

    question = models.ForeignKey("tasks.Question", models.CASCADE, related_name="contexts")
    setting = models.CharField(max_length=20)
    paragraphs = models.JSONField()
    pool = models.PositiveIntegerField(null=True)
    gold_ranks = models.JSONField(default=list)
    answer_rank = models.PositiveIntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["question", "setting"], name="context_once_a_setting")
        ]

    def __str__(self) -> str:
        return f"{self.question_id}/{self.setting}"


class OfficialFile(models.Model):
    """One file of a published dataset; `split` is blank for one that holds no questions."""

    collection = models.ForeignKey(
        "collector.Collection", models.CASCADE, related_name="official_files"
    )
    name = models.CharField(max_length=255)
    split = models.CharField(max_length=40, blank=True)
    sha256 = models.CharField(max_length=64)
    size_bytes = models.BigIntegerField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "name"], name="official_file_name_once")
        ]

    def __str__(self) -> str:
        return self.name


class OfficialArticle(models.Model):
    """A linked article as the published file has it: its key and its text, kept verbatim."""

    collection = models.ForeignKey(
        "collector.Collection", models.CASCADE, related_name="official_articles"
    )
    position = models.PositiveIntegerField()
    title = models.TextField()
    content = models.TextField()

    class Meta:
        ordering = ["collection_id", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["collection", "position"], name="official_article_position_once"
            )
        ]

    def __str__(self) -> str:
        return self.title
