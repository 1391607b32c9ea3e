"""Collections: parameters, texts, budget, stages, seeds, and sets that seeds are drawn from."""

import secrets
from datetime import timedelta

from django.db import models
from django.db.models import F, Q

from collector.models.corpus import Article, NameField, slug_is_a_name

# For so long one job has a collection to itself at most, before it claims it again.
LONGEST_CLAIM = timedelta(minutes=10)


class CollectionState(models.TextChoices):
    """Where a collection stands; only a collecting one hands out work."""

    DRAFT = "draft", "Draft"
    COLLECTING = "collecting", "Collecting"
    PAUSED = "paused", "Paused"
    FINISHED = "finished", "Finished"


def new_pseudonym_key() -> str:
    """Return a fresh key for the pseudonyms of one collection's releases."""
    return secrets.token_hex(32)


class Collection(models.Model):
    """Parameters are resolved once, at creation; money is kept in whole cents.

    `reserved_cents` is held for places that someone can still earn, `spent_cents` is owed or
    paid; together they never exceed `budget_cents` nor `maximum_cents`: what it was said to cost at
    most, for the seeds and parameters that `maximum_for` names; None before it was published.
    `maintained_until` is until when one job has the collection to itself, `look_at` when the jobs
    look at it next (see tasks.work.due_work), `looked_at_for` a digest of the work and people
    for which it is known who may take what (see tasks.people.eligibility), `archived_at` since when
    it is out of the lists, `form_key` which form made it, so that sent again it makes no other.
    """

    slug = NameField("short name", unique=True, max_length=80)
    title = models.CharField(max_length=200)
    protocol = models.CharField(max_length=80)
    protocol_version = models.PositiveIntegerField()
    corpus = models.ForeignKey("collector.Corpus", models.PROTECT, related_name="collections")
    parameters = models.JSONField()
    random_seed = models.BigIntegerField()
    state = models.CharField(
        max_length=20, choices=CollectionState.choices, default=CollectionState.DRAFT
    )
    requester_name = models.CharField(max_length=200)
    requester_contact = models.CharField(max_length=200, blank=True)
    ethics_number = models.CharField(max_length=120, blank=True)
    budget_cents = models.PositiveBigIntegerField(default=0)
    reserved_cents = models.BigIntegerField(default=0)
    spent_cents = models.BigIntegerField(default=0)
    maximum_cents = models.PositiveBigIntegerField(null=True, blank=True)
    maximum_for = models.CharField(max_length=80, blank=True)
    pseudonym_key = models.CharField(max_length=64, default=new_pseudonym_key)
    created_at = models.DateTimeField()
    archived_at = models.DateTimeField(null=True, blank=True)
    maintained_until = models.DateTimeField(null=True, blank=True)
    look_at = models.DateTimeField(null=True, blank=True, db_index=True)
    looked_at_for = models.CharField(max_length=64, blank=True)
    form_key = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            slug_is_a_name("collection"),
            models.CheckConstraint(
                condition=Q(reserved_cents__gte=0) & Q(spent_cents__gte=0),
                name="collection_money_is_never_negative",
            ),
            models.CheckConstraint(
                condition=Q(budget_cents__gte=F("reserved_cents") + F("spent_cents")),
                name="collection_stays_within_its_budget",
            ),
            models.CheckConstraint(
                condition=Q(archived_at__isnull=True) | Q(state__in=["draft", "finished"]),
                name="collection_archived_at_rest",
            ),
            models.CheckConstraint(
                condition=Q(maximum_cents__isnull=True)
                | Q(maximum_cents__gte=F("reserved_cents") + F("spent_cents")),
                name="collection_stays_within_its_maximum",
            ),
            models.UniqueConstraint(
                fields=["form_key"], condition=~Q(form_key=""), name="collection_once_a_form"
            ),
        ]

    def __str__(self) -> str:
        return self.title


class CollectionRevision(models.Model):
    """A recorded change of one parameter, the budget or the state after the creation.

    `key` is the parameter's dotted name, else one of NOT_PARAMETERS.
    """

    NOT_PARAMETERS = ("budget_cents", "maximum_cents", "state")

    collection = models.ForeignKey(Collection, models.CASCADE, related_name="revisions")
    key = models.CharField(max_length=120)
    old = models.JSONField()
    new = models.JSONField()
    why = models.TextField(blank=True)
    by = models.CharField(max_length=150)
    at = models.DateTimeField()

    class Meta:
        ordering = ["at", "id"]

    def __str__(self) -> str:
        return f"{self.key}: {self.old} → {self.new}"


class CollectionText(models.Model):
    """One version of the words a worker reads: instructions, examples, consent."""

    collection = models.ForeignKey(Collection, models.CASCADE, related_name="texts")
    name = models.CharField(max_length=80)
    version = models.PositiveIntegerField()
    markdown = models.TextField()
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["name", "-version"]
        constraints = [
            models.UniqueConstraint(
                fields=["collection", "name", "version"], name="collection_text_version_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} v{self.version}"


class StageState(models.TextChoices):
    """Whether a stage hands out work."""

    DRAFT = "draft", "Not published yet"
    OPEN = "open", "Open"
    PAUSED = "paused", "Paused"
    CLOSED = "closed", "Closed"


class Stage(models.Model):
    """`name` is the stage's table in the protocol's parameters, `kind` its kind of work."""

    collection = models.ForeignKey(Collection, models.CASCADE, related_name="stages")
    name = models.CharField(max_length=80)
    kind = models.CharField(max_length=40)
    position = models.PositiveSmallIntegerField()
    state = models.CharField(max_length=20, choices=StageState.choices, default=StageState.DRAFT)

    class Meta:
        ordering = ["collection_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "name"], name="stage_name_once"),
        ]

    def __str__(self) -> str:
        return self.name.replace("_", " ").capitalize()


class Seed(models.Model):
    """Chosen once per collection, for the stage that shows it first.

    Its fold is planned here, because it decides the redundancy.
    """

    collection = models.ForeignKey(Collection, models.CASCADE, related_name="seeds")
    key = models.CharField(max_length=64)
    position = models.PositiveIntegerField()
    fold = models.CharField(max_length=20, blank=True)
    stage = models.ForeignKey(Stage, models.CASCADE, related_name="seeds")
    payload = models.JSONField(default=dict)

    class Meta:
        ordering = ["collection_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "key"], name="seed_chosen_once"),
            models.UniqueConstraint(fields=["collection", "position"], name="seed_position_once"),
        ]

    def __str__(self) -> str:
        return self.key


class DroppedSeed(models.Model):
    """A seed that a requester let go of before the first publication: it is not chosen again."""

    collection = models.ForeignKey(Collection, models.CASCADE, related_name="dropped_seeds")
    key = models.CharField(max_length=64)
    by = models.CharField(max_length=150)
    at = models.DateTimeField()

    class Meta:
        ordering = ["collection_id", "key"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "key"], name="seed_dropped_once")
        ]

    def __str__(self) -> str:
        return self.key


class SeedParagraph(models.Model):
    """One paragraph of a seed; a pair has two, a section has all of its own."""

    seed = models.ForeignKey(Seed, models.CASCADE, related_name="seed_paragraphs")
    paragraph = models.ForeignKey("collector.Paragraph", models.PROTECT, related_name="+")
    position = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["seed_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["seed", "position"], name="seed_paragraph_once")
        ]

    def __str__(self) -> str:
        return f"{self.seed_id}/{self.position}"


class SetRole(models.TextChoices):
    """What is drawn: links that lead to a page of the set, or two pages of it."""

    BRIDGE = "bridge", "Bridge entities"
    COMPARISON = "comparison", "Comparison list"


class SetState(models.TextChoices):
    """Whether pairs are drawn from a set; only from a kept one."""

    PROPOSED = "proposed", "Proposed"
    KEPT = "kept", "Kept"
    DROPPED = "dropped", "Dropped"


class CandidateSet(models.Model):
    """Pages of one theme, from a file, a category or a list page; `source` says which.

    `decided_by` is who kept or dropped it, blank while it is proposed. `n_missing` titles of the
    source lead to no page that has a first paragraph.
    """

    collection = models.ForeignKey(Collection, models.CASCADE, related_name="candidate_sets")
    role = models.CharField(max_length=20, choices=SetRole.choices)
    name = models.CharField(max_length=200)
    source = models.CharField(max_length=300)
    state = models.CharField(max_length=20, choices=SetState.choices, default=SetState.PROPOSED)
    decided_by = models.CharField(max_length=150, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    n_missing = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["role", "name"]
        constraints = [
            models.UniqueConstraint(
                fields=["collection", "role", "name"], name="candidate_set_name_once"
            ),
            models.CheckConstraint(
                condition=Q(role__in=SetRole.values), name="candidate_set_role_is_known"
            ),
            models.CheckConstraint(
                condition=Q(state="proposed", decided_by="", decided_at=None)
                | Q(state__in=("kept", "dropped"), decided_at__isnull=False) & ~Q(decided_by=""),
                name="candidate_set_is_decided_by_someone",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class CandidateMember(models.Model):
    """A page is in a set."""

    candidate_set = models.ForeignKey(
        CandidateSet, models.CASCADE, db_index=False, related_name="members"
    )
    article = models.ForeignKey(Article, models.PROTECT, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["candidate_set", "article"], name="candidate_member_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.article_id} in {self.candidate_set_id}"


class PairTrial(models.Model):
    """A requester tried a pair of a set: whether a question that needs both can be asked."""

    candidate_set = models.ForeignKey(
        CandidateSet, models.CASCADE, db_index=False, related_name="trials"
    )
    first = models.ForeignKey(Article, models.PROTECT, related_name="+")
    second = models.ForeignKey(Article, models.PROTECT, related_name="+")
    works = models.BooleanField()
    by = models.CharField(max_length=150)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["candidate_set", "first", "second"], name="pair_tried_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.first_id} → {self.second_id}: {self.works}"


class KnownProtocols(models.Model):
    """What one process said of itself last; `process` is its host and its number there."""

    process = models.CharField(max_length=200, unique=True)
    names = models.JSONField()
    seen_at = models.DateTimeField()

    class Meta:
        ordering = ["process"]

    def __str__(self) -> str:
        return self.process
