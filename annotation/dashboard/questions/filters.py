"""Finds questions by verdict, reason, fold, type of answer, worker and words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import (
    Count,
    Exists,
    F,
    FloatField,
    Func,
    IntegerField,
    OrderBy,
    OuterRef,
    Q,
    QuerySet,
    Value,
)
from django.db.models.functions import Cast, Greatest, NullIf
from django.db.models.sql.compiler import SQLCompiler

from annotation.dashboard.collection_context import CollectionContext
from annotation.dashboard.worker_names import people_of
from annotation.decisions.by_hand import REASON, UNUSABLE, fallen, stages_apart, undecided
from annotation.decisions.counted_work import counted_without, counted_work_of
from annotation.decisions.verdicts import LEFT_OUT, voting_stages
from annotation.models import Verdict
from annotation.models.verdict import OUTCOMES
from annotation.protocols.contracts import EXPORT
from collector.protocols.loading import get_protocol
from collector.protocols.parameters import FOLDS
from common.searching import holds
from tasks.models import Answer, Question
from tasks.work.kinds.voting import type_words

MAX_SEARCH = 200
MAX_SPLIT = 40
LONGEST_NUMBER = 9
NO_VERDICT = "none"
BY_HAND = "by_hand"
DISAGREEMENT, ADJUDICATION, LABELS = "disagreement", "adjudication", "labels"
AGAIN = "again"
FURTHER = (DISAGREEMENT, ADJUDICATION, AGAIN, NO_VERDICT, BY_HAND, LABELS)
OVERRIDDEN = "Overridden by a reviewer"
# What is stored, and released, as the reason stays; this is how people read it.
REASON_WORDS = {
    REASON: OVERRIDDEN,
    LEFT_OUT.reason: "A person who made it is excluded",
}


class ListLength(Func):
    """The number of entries of a JSON list."""

    function = "json_array_length"
    output_field = IntegerField()

    def as_postgresql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any
    ) -> Any:
        """Return its SQL for jsonb, which has a function of its own."""
        return self.as_sql(compiler, connection, function="jsonb_array_length", **context)


# In words, and by what; what has no verdict yet comes last.
ORDERS: dict[str, tuple[str, OrderBy | F]] = {
    "": ("oldest first", F("pk")),
    "newest": ("newest first", F("pk").desc()),
    "agreement": (
        "agreement, least first",
        (
            Cast(ListLength(F("verdict__agreeing")), FloatField())
            / NullIf(F("verdict__n_votes"), Value(0))
        ).asc(nulls_last=True),
    ),
    "votes": ("votes, most first", F("verdict__n_votes").desc(nulls_last=True)),
    "decided": ("decided, latest first", F("verdict__decided_at").desc(nulls_last=True)),
}


def votes_differ(context: CollectionContext) -> Q:
    """Return the condition that votes on a question differ, whatever the verdict made of it.

    Nobody knows it before all are given, and who all call a question bad are of one mind.
    """
    stages = {name for names in voting_stages(context.parameters).values() for name in names}
    answered = Answer.objects.filter(
        ~Q(type=UNUSABLE),
        counted_work_of(context.collection),
        question=OuterRef("pk"),
        stage__name__in=stages,
        corrected_by="",
    )
    return Q(
        Exists(answered),
        ~Q(verdict__outcome="waiting"),
        ~Q(verdict__reason=LEFT_OUT.reason),
        verdict__n_votes__gt=Greatest(1, ListLength(F("verdict__agreeing"))),
    )


def further(context: CollectionContext) -> dict[str, tuple[str, Q]]:
    """Return what else can be looked for: words and condition, by the name in the address."""
    differ, counted = votes_differ(context), counted_work_of(context.collection)
    found = {
        DISAGREEMENT: ("Votes differ", differ),
        ADJUDICATION: ("To adjudicate", differ & Q(verdict__overridden=False)),
        AGAIN: ("To decide again", Q(verdict__in=fallen())),
        NO_VERDICT: ("Not answered yet", counted & Q(verdict__isnull=True)),
        BY_HAND: (OVERRIDDEN, Q(verdict__overridden=True)),
    }
    if stages_apart(context.parameters):
        labels = undecided(context.collection, context.parameters)
        found[LABELS] = ("Labels to decide", labels)
    return found


@dataclass(frozen=True)
class Filter:
    """What a requester looks for; blank fields look for everything.

    worker: the number of a worker who wrote the question or answered it.
    """

    outcome: str = ""
    reason: str = ""
    fold: str = ""
    type: str = ""
    search: str = ""
    worker: str = ""
    sort: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> "Filter":
        """Return the filter that an address asks for; unknown values look for everything."""
        outcome, fold = query.get("outcome", ""), query.get("fold", "")
        worker = query.get("worker", "")[:LONGEST_NUMBER]
        return cls(
            outcome=outcome if outcome in (*dict(OUTCOMES), *FURTHER) else "",
            reason=query.get("reason", "")[:80],
            fold=fold[:MAX_SPLIT],
            type=query.get("type", "")[:20],
            search=query.get("q", "").replace("\x00", "").strip()[:MAX_SEARCH],
            worker=worker if worker.isascii() and worker.isdigit() else "",
            sort=sort if (sort := query.get("sort", "")) in ORDERS else "",
        )

    def address(self, **changed: str) -> str:
        """Return the query string of this filter with something `changed`."""
        values = {**vars(self), **changed}
        values["q"] = values.pop("search")
        return urlencode({name: value for name, value in values.items() if value})

    @property
    def order(self) -> tuple[OrderBy | F, str]:
        """Return what its list is ordered by."""
        return ORDERS[self.sort][1], "pk"

    def apply(self, context: CollectionContext) -> QuerySet[Question]:
        """Return the questions that votes decide on, those that fit."""
        rows, known = voted_questions(context), further(context)
        if self.outcome in known:
            rows = rows.filter(known[self.outcome][1])
        elif self.outcome:
            rows = rows.filter(verdict__outcome=self.outcome)
        if self.reason:
            rows = rows.filter(verdict__reason=self.reason)
        if self.fold:
            # As its row says: where it was placed, and until then where it was planned.
            planned = Q(split_assignment=None, seed__fold=self.fold)
            rows = rows.filter(planned | Q(split_assignment__split=self.fold))
        if self.type:
            rows = rows.filter(verdict__chosen__type=self.type)
        if self.worker:
            worker = people_of(context.collection).worker(int(self.worker))
            answered = Answer.objects.filter(question=OuterRef("pk"), worker=worker)
            rows = rows.filter(Q(worker=worker) | Exists(answered)) if worker else rows.none()
        for word in self.search.split():
            rows = rows.filter(holds("text", word))
        return rows


def splits_of(context: CollectionContext) -> Sequence[str]:
    """Return the splits that a question can be in."""
    if context.difficulty is None:
        return FOLDS
    return get_protocol(context.collection.protocol).part(EXPORT).SPLITS


def voted_questions(context: CollectionContext) -> QuerySet[Question]:
    """Return the questions that votes decide on: no qualification's, none that was withdrawn."""
    return Question.objects.filter(
        counted_without(frozenset()),
        stage__collection=context.collection,
        stage__name__in=voting_stages(context.parameters),
    )


def outcome_counts(context: CollectionContext, wanted: Filter) -> list[tuple[str, str, int]]:
    """Return (outcome, words, number of questions) for the tabs above the list; one query.

    Counted is what each tab would list: what else is looked for stays.
    """
    known, rows = further(context), replace(wanted, outcome="").apply(context)
    numbers = rows.aggregate(
        all=Count("pk"),
        **{name: Count("pk", filter=Q(verdict__outcome=name)) for name, _ in OUTCOMES},
        **{name: Count("pk", filter=which) for name, (_, which) in known.items()},
    )
    return [
        ("", "All", numbers["all"]),
        *((name, words, numbers[name]) for name, words in OUTCOMES),
        *((name, words, numbers[name]) for name, (words, _) in known.items()),
    ]


def reason_words(name: str) -> str:
    """Return the reason of a verdict for people to read: no_agreement is "No agreement"."""
    return REASON_WORDS.get(name, name.replace("_", " ").capitalize())


def sentence_of(verdict: Verdict) -> str:
    """Return what a requester reads of a verdict; one query more where a reviewer overrode it."""
    words = REASON_WORDS.get(verdict.reason)
    if words is None:
        return verdict.sentence
    last = verdict.overrides.last() if verdict.overridden else None
    return f"{words}: {last.note}" if last else f"{words}."


def choices(context: CollectionContext) -> dict[str, Any]:
    """Return what the lists of reasons and of types of answer offer; two queries."""
    rows = voted_questions(context).filter(verdict__isnull=False).order_by()
    reasons = sorted(rows.values_list("verdict__reason", flat=True).distinct())
    types = rows.filter(verdict__chosen__isnull=False)
    names = sorted(types.values_list("verdict__chosen__type", flat=True).distinct())
    return {
        "reasons": [(name, reason_words(name)) for name in reasons],
        "types": [(name, type_words(name)) for name in names],
    }
