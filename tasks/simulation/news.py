"""What has happened on a collection that its workers would notice, and what the jobs still owe."""

from django.db.models import F, Q

from collector.models import Collection, StageState
from tasks import hits
from tasks.models import Grant, GrantState, Posting, PostingState, ReceiptState, Submission


def hit_types(collection: Collection, stage: str = "") -> dict[str, str]:
    """Return the marketplace's HIT types of the collection, or of one stage, with their stages."""
    postings = Posting.objects.filter(stage__collection=collection).exclude(external_type="")
    if stage:
        postings = postings.filter(stage__name=stage)
    return dict(postings.order_by().values_list("external_type", "stage__name").distinct())


def stage_of(hit_id: str) -> str:
    """Return the name of the stage that a HIT belongs to; empty for one that is not ours."""
    posting = Posting.objects.filter(external_id=hit_id).select_related("stage").first()
    return posting.stage.name if posting else ""


def latest(collection: Collection) -> tuple[int, int]:
    """Return numbers that change whenever workers may find something new: HITs, qualifications."""
    postings = Posting.objects.filter(stage__collection=collection).exclude(external_id="")
    told = Grant.objects.filter(
        qualification__stage__collection=collection, told_state=GrantState.GRANTED
    )
    return postings.count(), told.count()


def waiting(collection: Collection) -> str:
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


def places_left(collection: Collection) -> dict[str, int]:
    """Return the places that nobody has taken, by the name of each open stage that has some."""
    left = {
        stage.name: hits.places_left(stage)
        for stage in collection.stages.filter(state=StageState.OPEN)
    }
    return {name: number for name, number in left.items() if number > 0}
