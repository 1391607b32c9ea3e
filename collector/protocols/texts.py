"""The words workers read: each edit is a new version, and every assignment keeps which it saw."""

from datetime import datetime

from django.db import transaction

from collector.models import Collection, CollectionText
from common.actions import ActionError

MAX_CHARACTERS = 50_000


def revise_text(
    collection: Collection, name: str, markdown: str, seen: int, now: datetime
) -> CollectionText:
    """Return the next version of a text; whoever comes next reads it, work at hand goes on.

    seen: the version that was edited. What comes again, because its answer was lost, is the version
    it made the first time. Raises ActionError for a text that is empty, too long or unchanged, and
    where another version was saved meanwhile.
    """
    if not markdown.strip():
        raise ActionError("Write the text: workers must read something before they work.")
    if len(markdown) > MAX_CHARACTERS:
        raise ActionError(
            f"The text has {len(markdown):,} characters; {MAX_CHARACTERS:,} are the most."
        )
    with transaction.atomic():
        # The first sending may still be at it.
        Collection.objects.select_for_update(no_key=True).get(pk=collection.pk)
        newest = current_text(collection, name)
        if seen == newest.version - 1 and markdown == newest.markdown:
            return newest
        if seen != newest.version:
            raise ActionError(
                f"Somebody saved version {newest.version} meanwhile. What you typed is below: "
                "compare it with the newest version, then save again."
            )
        if markdown == newest.markdown:
            raise ActionError("Nothing is changed yet, so there is nothing to save.")
        return CollectionText.objects.create(
            collection=collection,
            name=name,
            version=newest.version + 1,
            markdown=markdown,
            created_at=now,
        )


def current_text(collection: Collection, name: str) -> CollectionText:
    """Return the newest version of the text `name`; raises CollectionText.DoesNotExist."""
    return collection.texts.filter(name=name).latest("version")
