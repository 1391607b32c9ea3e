"""What a release has settled, where it withholds answers: those questions keep their splits."""

from datetime import datetime

from django.db.models import Max, QuerySet

from annotation.models import SplitAssignment
from annotation.protocols.contracts import EXPORT
from collector.models import Collection
from collector.protocols.loading import get_protocol


def last_withholding(collection: Collection) -> datetime | None:
    """Return when the last release was made that withheld something, None where none was."""
    if not get_protocol(collection.protocol).part(EXPORT).WITHHELD:
        return None
    made: datetime | None = collection.releases.aggregate(last=Max("created_at"))["last"]
    return made


def settled(collection: Collection) -> QuerySet[SplitAssignment]:
    """Return the splits that stay as they are."""
    rows = SplitAssignment.objects.filter(question__stage__collection=collection)
    released = last_withholding(collection)
    return rows.filter(placed_at__lte=released) if released else rows.none()


def withheld(collection: Collection) -> QuerySet[SplitAssignment]:
    """Return those of them whose answers are known to nobody but who collected them."""
    splits = get_protocol(collection.protocol).part(EXPORT).WITHHELD
    return settled(collection).filter(split__in=splits)
