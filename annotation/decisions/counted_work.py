"""Whose work counts and is released: not that of people who withdrew or were excluded."""

from collections.abc import Set

from django.db.models import Q

from annotation.models import Exclusion
from collector.models import Collection


def excluded_workers(collection: Collection) -> set[str]:
    """Return the ids of the workers who are left out of the collection now; one query."""
    rows = Exclusion.objects.filter(collection=collection, back_at__isnull=True)
    return set(rows.values_list("worker_id", flat=True))


def counted_work_of(collection: Collection, at: str = "") -> Q:
    """Return the condition that work counts, on rows that name their worker at `at`; one query."""
    return counted_without(excluded_workers(collection), at)


def counted_without(out: Set[str], at: str = "") -> Q:
    """Return the same condition, `out` being the workers who are left out.

    What nobody of ours made, such as published files, counts.
    """
    stayed = Q(**{f"{at}worker__withdrawn_at__isnull": True})
    return stayed & ~Q(**{f"{at}worker_id__in": out}) if out else stayed
