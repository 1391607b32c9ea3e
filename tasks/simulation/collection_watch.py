"""What has happened on a collection that its workers would notice, and what the jobs still owe."""

from collections.abc import Sequence

from django.db.models import F, Q

from collector.models import Collection, StageState
from collector.protocols.parameters import StageTable
from tasks import hits
from tasks.models import (
    Grant,
    GrantState,
    LeaseState,
    Posting,
    PostingState,
    ReceiptState,
    Submission,
)
from tasks.work import units


def hit_types(collection: Collection, stage: str = "") -> dict[str, str]:
    """Return the HIT types of the collection, or of one stage, with their stages, in order."""
    postings = Posting.objects.filter(stage__collection=collection).exclude(external_type="")
    if stage:
        postings = postings.filter(stage__name=stage)
    found = postings.order_by("stage__position").values_list("external_type", "stage__name")
    return dict(found.distinct())


def available_hits(collection: Collection, types: Sequence[str]) -> dict[str, list[str]]:
    """Return each type with the HITs to choose from, none where every HIT of it is ours.

    Types without a free HIT are left out. Two collections with the same words and rewards share
    their HIT types on a marketplace.
    """
    live = Posting.objects.filter(external_type__in=types, state=PostingState.LIVE)
    others = live.exclude(stage__collection=collection)
    shared = set(others.order_by().values_list("external_type", flat=True).distinct())
    found: dict[str, list[str]] = {one: [] for one in types}
    free = live.filter(stage__collection=collection, external_type__in=shared).exclude(
        sessions__leases__state=LeaseState.LIVE
    )
    for type_id, hit in free.values_list("external_type", "external_id"):
        found[type_id].append(hit)
    return {one: hits for one, hits in found.items() if hits or one not in shared}


def has_partners(collection: Collection, table: StageTable) -> bool:
    """Return whether somebody has each of the roles that a stage needs, so that no wait is vain."""
    wanted = {getattr(table, name, "") for name in ("requires_student", "requires_teacher")} - {""}
    granted = Grant.objects.filter(
        qualification__stage__collection=collection,
        qualification__stage__name__in=wanted,
        told_state=GrantState.GRANTED,
    )
    return set(granted.values_list("qualification__stage__name", flat=True)) == wanted


def is_ours(collection: Collection, hit_id: str) -> bool:
    """Return whether a HIT of the marketplace belongs to the collection."""
    return Posting.objects.filter(stage__collection=collection, external_id=hit_id).exists()


def stage_of(hit_id: str) -> str:
    """Return the name of the stage that a HIT belongs to; empty for one that is not ours."""
    posting = Posting.objects.filter(external_id=hit_id).select_related("stage").first()
    return posting.stage.name if posting else ""


def change_counters(collection: Collection) -> tuple[int, int]:
    """Return numbers that change whenever workers may find something new: HITs, qualifications."""
    postings = Posting.objects.filter(stage__collection=collection).exclude(external_id="")
    told = Grant.objects.filter(
        qualification__stage__collection=collection, told_state=GrantState.GRANTED
    )
    return postings.count(), told.count()


def unfinished_jobs(collection: Collection) -> str:
    """Return what the jobs have not come to yet, as words; empty when they have done all."""
    decided = Grant.objects.filter(qualification__stage__collection=collection).exclude(
        Q(state=GrantState.SUBMITTED) | Q(state=F("told_state"))
    )
    owed = {
        "HITs to publish": Posting.objects.filter(
            stage__collection=collection, state=PostingState.PUBLISHING
        ).count(),
        "decisions to tell": decided.count(),
        "submissions to confirm": Submission.objects.filter(
            lease__unit__stage__collection=collection, state=ReceiptState.HELD
        ).count(),
    }
    return ", ".join(f"{number} {name}" for name, number in owed.items() if number)


def is_done(collection: Collection) -> bool:
    """Return whether every open stage has had its work, and all of it is handed in."""
    return all(units.is_done(stage) for stage in collection.stages.filter(state=StageState.OPEN))


def places_left(collection: Collection) -> dict[str, int]:
    """Return the places that nobody has taken, by the name of each open stage that has some."""
    left = {
        stage.name: hits.places_left(stage)
        for stage in collection.stages.filter(state=StageState.OPEN)
    }
    return {name: number for name, number in left.items() if number > 0}
