"""Who may do a stage: a person inspects what a worker made, and the provider is told."""

from collections.abc import Iterable
from datetime import datetime

from django.db.models import F, Q, QuerySet
from django.utils.text import Truncator

from collector.models import Collection, Stage
from collector.protocols.creation import parameters_of
from collector.protocols.parameters import StageTable
from collector.protocols.stage_tables import DialogTable
from common.prepared_sql import PreparedQuery
from tasks.crowd import marketplace
from tasks.models import (
    Grant,
    GrantState,
    Qualification,
    StageQualificationTypes,
    Worker,
)
from tasks.work.kinds.hit_words import title_of
from tasks.work.kinds.registry import kind_of

GRANTED = PreparedQuery(
    lambda worker, collection, stage: (
        Grant.objects.filter(
            worker=worker,
            state=GrantState.GRANTED,
            qualification__stage__collection=collection,
            qualification__stage__name=stage,
        )
        .order_by()
        .values_list("pk")
    ),
    worker=str,
    collection=int,
    stage=str,
)


def is_qualified(worker: Worker, collection: Collection, required: str) -> bool:
    """Return whether the worker holds the qualification of the stage named `required`."""
    return not required or bool(
        GRANTED.rows(worker=worker.pk, collection=collection.pk, stage=required)
    )


def has_passed(worker: Worker, stage: Stage) -> bool:
    """Return whether the worker holds the qualification of this stage."""
    held = GRANTED.first(worker=worker.pk, collection=stage.collection_id, stage=stage.name)
    return held is not None


def trusted_grants(collection: Collection) -> QuerySet[Grant]:
    """Return the grants to people who were let in whatever the test says, taken back ones too."""
    return Grant.objects.filter(qualification__stage__collection=collection, is_let_in=True)


def roles_of(worker: Worker, collection: Collection, table: DialogTable) -> tuple[bool, bool]:
    """Return whether the worker may ask and whether they may teach in a stage of dialogs."""
    return (
        is_qualified(worker, collection, table.requires_student),
        is_qualified(worker, collection, table.requires_teacher),
    )


def may_take(worker: Worker, stage: Stage, table: StageTable) -> bool:
    """Return whether the worker has what the stage asks for; of its roles, one is enough."""
    return has_role(worker, stage.collection, table) and is_qualified(
        worker, stage.collection, table.requires
    )


def has_role(worker: Worker, collection: Collection, table: StageTable) -> bool:
    """Return whether the worker may take a role of the stage; most stages have none to ask for."""
    roles = kind_of(table).role_qualifications(table)
    return not roles or any(is_qualified(worker, collection, role) for role in roles)


def roles_required(table: StageTable) -> tuple[str, ...]:
    """Return the stages of which one qualification is enough to take a role of the stage."""
    return tuple(filter(None, kind_of(table).role_qualifications(table)))


def decide(
    grant: Grant, *, granted: bool, note: str, by: str, now: datetime, is_let_in: bool = False
) -> None:
    """Grant or decline by the test; may be decided again, and the newest decision holds.

    is_let_in: whatever the test says.
    """
    Grant.objects.filter(pk=grant.pk).update(
        state=GrantState.GRANTED if granted else GrantState.DECLINED,
        note=note,
        decided_by=by,
        decided_at=now,
        is_let_in=is_let_in,
    )


def stages_opened_by(stage: Stage) -> list[Stage]:
    """Return the stages of dialogs to which this stage's qualification is one way in."""
    tables = parameters_of(stage.collection).stages()
    names = [name for name, table in tables.items() if stage.name in roles_required(table)]
    return list(stage.collection.stages.select_related("collection").filter(name__in=names))


def entry_id(stage: Stage) -> str:
    """Return the marketplace's id of what lets into a stage of dialogs: one role is enough."""
    tables = parameters_of(stage.collection).stages()
    table = tables[stage.name]
    ways = " or ".join(f"“{title_of(tables[name])}”" for name in roles_required(table))
    return _type_id(
        stage,
        "entry_id",
        words=f"May do: {title_of(table)}",
        description=f"Whoever has passed {ways} has it.",
        keywords=f"{marketplace.EARNED}, {marketplace.UNLISTED}",
    )


def closed_id(stage: Stage) -> str:
    """Return the marketplace's id of what workers hold whom the stage has nothing for."""
    table = parameters_of(stage.collection).stages()[stage.name]
    return _type_id(
        stage,
        "closed_id",
        words=f"Nothing left: {title_of(table)}",
        description="Given and taken back by a program: there is nothing for this worker to do.",
        keywords=marketplace.UNLISTED,
    )


def requester_keyword(collection: Collection) -> str:
    """Return the keyword that tells workers who asks, by the name that the consent text has."""
    return f"asked-by:{marketplace.as_keyword(collection.requester_name)}"


def _type_id(stage: Stage, which: str, **values: str) -> str:
    types, _ = StageQualificationTypes.objects.get_or_create(stage=stage)
    known = str(getattr(types, which))
    if not known:
        known = _make(stage, **values)
        StageQualificationTypes.objects.filter(pk=types.pk).update(**{which: known})
    return known


def _make(stage: Stage, words: str, **values: str) -> str:
    # Workers read the name, in quotes: it says the collection's title, without any of its own. The
    # slug is added only where another collection of the same title has that name: a name leads to
    # one qualification.
    name = f"{words} ({Truncator(stage.collection.title).chars(80)})"
    stated = values.pop("keywords", marketplace.EARNED)
    values["keywords"] = f"{stated}, {requester_keyword(stage.collection)}"
    found = marketplace.create_qualification(name=name, **values)
    # Another process may have made this stage's own meanwhile: that is the one.
    qualifications = Qualification.objects.filter(external_id=found).exclude(stage=stage)
    others = StageQualificationTypes.objects.filter(Q(entry_id=found) | Q(closed_id=found)).exclude(
        stage=stage
    )
    if qualifications.exists() or others.exists():
        name = f"{name} ({stage.collection.slug})"
        found = marketplace.create_qualification(name=name, **values)
    return found


def external_id(stage: Stage) -> str:
    """Return the marketplace's id of the stage's qualification, made on first use."""
    qualification, _ = Qualification.objects.get_or_create(stage=stage)
    if not qualification.external_id:
        table = parameters_of(stage.collection).stages()[stage.name]
        found = _make(
            stage,
            words=title_of(table),
            description=f"{stage.collection.requester_name} grants it after reading what you hand "
            "in to that HIT, or to people they trust. There is no need to ask for it.",
        )
        Qualification.objects.filter(pk=qualification.pk).update(external_id=found)
        return found
    return qualification.external_id


def stages_to_tell_of(stages: Iterable[Stage]) -> list[Stage]:
    """Return those of the stages about which there is something to tell the marketplace."""
    known = {stage.pk: stage for stage in stages}
    found = _untold(known).values_list("qualification__stage", flat=True)
    return [known[stage] for stage in found.order_by("qualification__stage").distinct()]


def tell_marketplace(stage: Stage) -> int:
    """Bring the marketplace up to date on every decision; returns how many were told.

    A person it does not know is logged and asked about again in the next round.
    """
    waiting = _untold([stage.pk]).select_related("worker__identity")
    grants = list(waiting)
    if not grants:
        return 0
    known, further = external_id(stage), stages_opened_by(stage)
    return marketplace.one_by_one(grants, lambda grant: _tell(grant, known, further))


def _untold(stages: Iterable[int]) -> QuerySet[Grant]:
    return Grant.objects.filter(
        qualification__stage__in=stages,
        state__in=[GrantState.GRANTED, GrantState.DECLINED],
        worker__identity__isnull=False,
    ).exclude(state=F("told_state"))


def _tell(grant: Grant, known: str, further: Iterable[Stage]) -> int:
    """Give the qualification `known`, or take it, which the worker reads with the decision's note.

    One who did not pass is given 0 of it first: it was not passed, not withdrawn.

    The stages `further` are open to those who have passed this or another that will do.
    """
    person = grant.worker.identity.person
    for stage in further:
        table = parameters_of(stage.collection).stages()[stage.name]
        is_open = has_role(grant.worker, stage.collection, table)
        marketplace.grant(entry_id(stage), person, value=int(is_open), silently=True)
    # What the worker reads comes last: what fails before it is tried again, and says nothing twice.
    if grant.state == GrantState.GRANTED:
        marketplace.grant(known, person)
    else:
        if grant.told_state != GrantState.GRANTED:
            marketplace.grant(known, person, value=0, silently=True)
        marketplace.revoke(known, person, grant.note)
    return Grant.objects.filter(pk=grant.pk).update(told_state=grant.state)
