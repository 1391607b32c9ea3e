"""The maximum total: said when a collection is published, and kept by all that hands out work.

It changes by what a requester does alone: more seeds, other parameters, a bonus
given, a rejection withdrawn after somebody else was paid for the work.
"""

from datetime import datetime

from django.db import transaction

from collector.models import Collection, CollectionRevision
from tasks.money.estimates import totals_anew


def say(collection: Collection, now: datetime) -> int:
    """Return the collection's maximum total in cents, fixed now if seeds or parameters are new."""
    asked = _asked(collection)
    if collection.maximum_cents is not None and collection.maximum_for == asked:
        return collection.maximum_cents
    wanted = totals_anew(collection).maximum
    with transaction.atomic():
        row = Collection.objects.select_for_update(no_key=True).get(pk=collection.pk)
        if row.maximum_for != asked:
            # What is bound has been promised.
            new = max(wanted, row.reserved_cents + row.spent_cents)
            if row.maximum_cents not in (None, new):
                row.revisions.create(
                    key="maximum_cents",
                    old=row.maximum_cents,
                    new=new,
                    by="new seeds or pay",
                    at=now,
                )
            row.maximum_cents, row.maximum_for = new, asked
            row.save(update_fields=["maximum_cents", "maximum_for"])
    collection.maximum_cents, collection.maximum_for = row.maximum_cents, row.maximum_for
    return int(row.maximum_cents or 0)


def keep(collection: Collection, now: datetime) -> int:
    """Say the maximum of a published collection anew where seeds or parameters have changed.

    Returns 1 if it was said anew. One that was published before maxima were said has none.
    """
    if collection.maximum_cents is None or collection.maximum_for == _asked(collection):
        return 0
    say(collection, now)
    return 1


def _asked(collection: Collection) -> str:
    """Return what the maximum follows from: how many seeds, and the newest change of parameters."""
    changes = collection.revisions.exclude(key__in=CollectionRevision.NOT_PARAMETERS)
    newest = changes.order_by("-pk").values_list("pk", flat=True).first()
    return f"{collection.seeds.count()} seeds, change {newest or 0}"
