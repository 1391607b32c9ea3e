"""What a release has settled, where it withholds answers: those questions keep their splits."""

from django.db.models import QuerySet

from annotation.models import SplitAssignment, ToldQuestion
from annotation.protocols.contracts import EXPORT
from collector.models import Collection
from collector.protocols.loading import get_protocol


def told_splits(collection: Collection) -> dict[int, str]:
    """Return the split in which a release told each question, blank of one in none, by id.

    There is nothing where the protocol withholds nothing.
    """
    return dict(_told(collection).values_list("question_id", "split").iterator())


def settled(collection: Collection) -> QuerySet[SplitAssignment]:
    """Return the splits that stay as they are: those in which a release told the question."""
    told = _told(collection).exclude(split="")
    return SplitAssignment.objects.filter(question_id__in=told.values("question_id"))


def withheld(collection: Collection) -> QuerySet[SplitAssignment]:
    """Return those of them whose answers are known to nobody but who collected them."""
    splits = get_protocol(collection.protocol).part(EXPORT).WITHHELD
    return settled(collection).filter(split__in=splits)


def _told(collection: Collection) -> QuerySet[ToldQuestion]:
    if not get_protocol(collection.protocol).part(EXPORT).WITHHELD:
        return ToldQuestion.objects.none()
    return ToldQuestion.objects.filter(question__stage__collection=collection)
