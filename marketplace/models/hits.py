"""HITs, what those of one kind have in common, their assignments, reviews and contests."""

import hashlib
import json
import operator
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.db import models
from django.db.models import Case, F, Q, Value, When

from marketplace.models.identifiers import new_entity_id, new_secret
from marketplace.models.keywords import StatedTerms, stated_terms
from marketplace.models.people import Worker
from marketplace.models.requesters import Requester

# The first element, behind what may stand before it.
ROOT = re.compile(r"\ufeff?\s*(?:(?:<\?.*?\?>|<!--.*?-->)\s*)*<(?:[\w.-]+:)?(\w+)", re.DOTALL)
KINDS = {"ExternalQuestion": "external", "HTMLQuestion": "html", "QuestionForm": "form"}


def kind_of(xml: str) -> str:
    """Return what kind of question this is, of one that was read before; it is not read again."""
    root = ROOT.match(xml)
    return KINDS.get(root[1] if root else "", "html")


def fingerprint_of(values: dict[str, Any]) -> str:
    """Return a digest that is equal exactly when all the values of two HIT types are equal."""
    canonical = json.dumps(values, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


class HITType(models.Model):
    """Title, reward, time allotted and who may take it."""

    hit_type_id = models.CharField(max_length=64, unique=True, default=new_entity_id)
    hit_group_id = models.CharField(max_length=64, unique=True, default=new_entity_id)
    requester = models.ForeignKey(Requester, models.CASCADE, related_name="hit_types")
    fingerprint = models.CharField(max_length=64)
    title = models.CharField(max_length=128)
    description = models.CharField(max_length=2000)
    keywords = models.CharField(max_length=1000, blank=True)
    reward_cents = models.BigIntegerField()
    assignment_duration_seconds = models.BigIntegerField()
    auto_approval_delay_seconds = models.BigIntegerField()
    # As the requester sent them: a list of QualificationRequirement.
    requirements = models.JSONField(default=list)
    # As the requester sent it: a NotificationSpecification; None = no events are told.
    notification = models.JSONField(null=True)
    is_notifying = models.BooleanField(default=False)
    # What the keywords state, for the database to know which HITs a worker cannot take as well.
    is_once = models.BooleanField(default=False)
    is_one_at_a_time = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    # Worker's key and seconds from accept to submit of people's latest submissions.
    recent_work = models.JSONField(default=list)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "fingerprint"], name="one_hit_type_per_value"
            ),
            models.CheckConstraint(condition=Q(reward_cents__gte=0), name="reward_not_negative"),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def stated(self) -> StatedTerms:
        """Return what its requester states of pay and time beyond the wire's members."""
        return stated_terms(self.keywords)

    @property
    def asked_by(self) -> str:
        """Return the name of who asks for the work, as workers read it."""
        return self.stated.asked_by or self.requester.name


def _status_rules(now: datetime) -> list[tuple[str, dict[str, Any]]]:
    """Return the model's HITStatus values with what each needs; the first that holds is the one."""
    return [
        ("Disposed", {"disposed_at__isnull": False}),
        ("Assignable", {"n_open__gt": 0, "expires_at__gt": now}),
        ("Unassignable", {"n_pending__gt": 0}),
        ("Reviewing", {"is_reviewing__exact": True}),
        ("Reviewable", {}),
    ]


# What the lookups of these rules mean of a value in Python.
LOOKUPS: dict[str, Callable[[Any, Any], bool]] = {
    "exact": operator.eq,
    "gt": operator.gt,
    "isnull": lambda value, is_so: (value is None) is is_so,
}


def status_at(now: datetime) -> Case:
    """Return the expression of the status at `now`, for rows that were settled then."""
    *rules, (otherwise, _) = _status_rules(now)
    return Case(*(When(**rule, then=Value(name)) for name, rule in rules), default=Value(otherwise))


class HIT(models.Model):
    """Counters always add up to `max_assignments`; they change only under this row's lock."""

    hit_id = models.CharField(max_length=64, unique=True, default=new_entity_id)
    requester = models.ForeignKey(Requester, models.CASCADE, related_name="hits")
    hit_type = models.ForeignKey(HITType, models.PROTECT, related_name="hits")
    question = models.TextField()
    external_url = models.TextField()
    frame_height = models.IntegerField(default=0)
    annotation = models.CharField(max_length=255, blank=True)
    max_assignments = models.IntegerField()
    first_max_assignments = models.IntegerField()
    n_open = models.IntegerField()
    n_pending = models.IntegerField(default=0)
    n_awaiting = models.IntegerField(default=0)
    n_completed = models.IntegerField(default=0)
    held_cents = models.BigIntegerField(default=0)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    is_reviewing = models.BooleanField(default=False)
    disposed_at = models.DateTimeField(null=True)
    # Review policies decide its work.
    has_review_policies = models.BooleanField(default=False)
    # The status that events have told last; a change of it is an event.
    told_status = models.CharField(max_length=12, default="Assignable")
    # The next moment at which time alone changes something here; None when nothing is due.
    next_due_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    max_assignments=F("n_open")
                    + F("n_pending")
                    + F("n_awaiting")
                    + F("n_completed")
                ),
                name="counters_add_up",
            ),
            models.CheckConstraint(
                condition=Q(n_open__gte=0, n_pending__gte=0, n_awaiting__gte=0, n_completed__gte=0),
                name="counters_not_negative",
            ),
            models.CheckConstraint(condition=Q(held_cents__gte=0), name="hit_held_not_negative"),
        ]
        indexes = [
            models.Index(fields=["next_due_at"], name="hit_next_due"),
            models.Index(
                fields=["hit_type", "expires_at"],
                condition=Q(disposed_at=None, n_open__gt=0),
                name="hit_open",
            ),
        ]

    def __str__(self) -> str:
        return self.hit_id

    @property
    def question_kind(self) -> str:
        """Return `external`, `html` (the requester's own) or `form` (a QuestionForm)."""
        return "external" if self.external_url else kind_of(self.question)

    def is_assignable(self, now: datetime) -> bool:
        """Return whether somebody can still take a slot."""
        return self.status(now) == "Assignable"

    def status(self, now: datetime) -> str:
        """Return the model's HITStatus; expects a HIT that was settled at `now`."""
        return next(name for name, rule in _status_rules(now) if self._holds(rule))

    def _holds(self, rule: dict[str, Any]) -> bool:
        pairs = ([*key.split("__"), value] for key, value in rule.items())
        return all(LOOKUPS[lookup](getattr(self, name), value) for name, lookup, value in pairs)


class ReviewLevel(models.TextChoices):
    """What a policy looks at: each assignment when it comes in, or the HIT when all are in."""

    ASSIGNMENT = "Assignment", "known answers"
    HIT = "HIT", "agreement"


class ReviewPolicy(models.Model):
    """Set when its HIT is made and never changed; its report is written under the HIT's lock."""

    hit = models.ForeignKey(HIT, models.CASCADE, related_name="review_policies")
    level = models.CharField(max_length=10, choices=ReviewLevel)
    # By the names of the service's parameters, read and checked.
    parameters = models.JSONField()
    # As the API tells them: members of ReviewResultDetail and ReviewActionDetail.
    results = models.JSONField(default=list)
    actions = models.JSONField(default=list)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["hit", "level"], name="one_review_policy_per_level"),
            models.CheckConstraint(
                condition=models.Q(level__in=ReviewLevel.values), name="review_level_is_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.level} of {self.hit_id}"


class AssignmentState(models.TextChoices):
    """Where an acceptance stands."""

    ACCEPTED = "accepted", "in progress"
    SUBMITTED = "submitted", "awaiting approval"
    APPROVED = "approved", "approved"
    REJECTED = "rejected", "rejected"
    RETURNED = "returned", "returned"
    ABANDONED = "abandoned", "time ran out"


LIVE = (
    AssignmentState.ACCEPTED,
    AssignmentState.SUBMITTED,
    AssignmentState.APPROVED,
    AssignmentState.REJECTED,
)
HANDED_IN = (AssignmentState.SUBMITTED, AssignmentState.APPROVED, AssignmentState.REJECTED)


class Assignment(models.Model):
    """An acceptance; `assignment_id` is handed on to the next worker after return or abandonment.

    Requesters know `assignment_id` only, and it names at most one live row. `secret` belongs to
    this acceptance alone, so a form left open by an earlier holder cannot submit for a later one.
    """

    assignment_id = models.CharField(max_length=64, default=new_entity_id)
    hit = models.ForeignKey(HIT, models.CASCADE, related_name="assignments")
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="assignments")
    secret = models.CharField(max_length=64, unique=True, default=new_secret)
    state = models.CharField(
        max_length=9, choices=AssignmentState, default=AssignmentState.ACCEPTED
    )
    # What was promised when it was accepted; a later change of HIT type does not touch it.
    reward_cents = models.BigIntegerField()
    # Kept when the HIT gets another type meanwhile; None = as the type of its HIT says.
    auto_approval_delay_seconds = models.IntegerField(null=True)
    # Names the preview it was accepted in, so that pressing twice is accepting once.
    form_key = models.CharField(max_length=64, blank=True, default="")
    accepted_at = models.DateTimeField()
    deadline = models.DateTimeField()
    # More time is given once, where the HIT type states how much (models/keywords.py).
    is_extended = models.BooleanField(default=False)
    submitted_at = models.DateTimeField(null=True)
    auto_approval_at = models.DateTimeField(null=True)
    approved_at = models.DateTimeField(null=True)
    rejected_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    answer = models.TextField(blank=True)
    # What arrived too late to count, kept so that nothing a worker wrote is lost.
    late_answer = models.TextField(blank=True)
    feedback = models.CharField(max_length=1024, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["hit", "worker"],
                condition=Q(state__in=LIVE),
                name="one_live_assignment_per_worker_and_hit",
            ),
            models.UniqueConstraint(
                fields=["assignment_id"],
                condition=Q(state__in=LIVE),
                name="one_live_holder_per_assignment_id",
            ),
            models.UniqueConstraint(
                fields=["worker", "form_key"],
                condition=Q(state__in=LIVE) & ~Q(form_key=""),
                name="one_live_assignment_per_form",
            ),
            models.CheckConstraint(
                condition=Q(state__in=AssignmentState.values), name="assignment_state_is_known"
            ),
            models.CheckConstraint(
                condition=~Q(state__in=HANDED_IN)
                | Q(submitted_at__isnull=False, auto_approval_at__isnull=False),
                name="handed_in_has_its_times",
            ),
        ]
        indexes = [
            models.Index(fields=["hit", "state"], name="assignment_hit_state"),
            # Requesters read what was handed in page by page, in the order it came.
            models.Index(fields=["hit", "submitted_at", "id"], name="assignment_hit_order"),
            models.Index(fields=["worker", "state"], name="assignment_worker_state"),
            models.Index(fields=["assignment_id"], name="assignment_external"),
        ]

    def __str__(self) -> str:
        return f"{self.assignment_id} ({self.state})"

    @property
    def approval_said_at(self) -> datetime | None:
        """Return when its requester approves it as its HIT type says; None where that is unsaid."""
        minutes = self.hit.hit_type.stated.rejected_within_minutes
        if not minutes or not self.submitted_at or not self.auto_approval_at:
            return None
        return min(self.submitted_at + timedelta(minutes=minutes), self.auto_approval_at)


class Contest(models.Model):
    """One per assignment; without an answer by `due_at` the rejected work is approved.

    `answered_at` is set by the requester's answer; approved work needs none.
    """

    assignment = models.OneToOneField(Assignment, models.CASCADE, related_name="contest")
    text = models.CharField(max_length=2000)
    raised_at = models.DateTimeField()
    due_at = models.DateTimeField()
    answered_at = models.DateTimeField(null=True)
    answer = models.CharField(max_length=1024, blank=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["due_at"], condition=Q(answered_at=None), name="contest_unanswered"
            ),
        ]

    def __str__(self) -> str:
        return f"contest of {self.assignment_id}"
