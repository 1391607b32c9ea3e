"""How the questions of a collection stand: in the dataset, left out, waiting."""

from dataclasses import dataclass

from django.db.models import Count

from annotation.models import Verdict
from collector.models import Collection


@dataclass(frozen=True)
class VerdictCounts:
    """Numbers of questions by the outcome of their verdict."""

    kept: int = 0
    dropped: int = 0
    waiting: int = 0


def verdict_counts(collection: Collection) -> VerdictCounts:
    """Return the collection's numbers; one query."""
    rows = (
        Verdict.objects.filter(question__stage__collection=collection)
        .order_by()
        .values("outcome")
        .annotate(n=Count("pk"))
    )
    return VerdictCounts(**{row["outcome"]: row["n"] for row in rows})
