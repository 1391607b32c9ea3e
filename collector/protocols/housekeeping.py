"""Drops what was never published, puts away what is over, and begins again from a copy."""

from datetime import datetime

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError

from collector.models import (
    Collection,
    CollectionState,
    CollectionText,
    DroppedSeed,
    Seed,
    Stage,
)
from collector.models.name import is_name
from common.actions import ActionError

# Only these can be put away: nobody works on them, and nothing is handed out.
AT_REST = (CollectionState.DRAFT, CollectionState.FINISHED)


def drop_collection(collection: Collection) -> None:
    """Delete a collection that was never published, with its seeds and texts.

    Raises ActionError for one that was published or holds work: that is archived instead.
    """
    with transaction.atomic():
        row = _draft(collection, "Finish and archive it instead: its work and its money are kept.")
        try:
            with transaction.atomic():
                row.seeds.all().delete()
                row.delete()
        except ProtectedError:
            raise ActionError(
                "This collection holds work that was read in: archive it instead."
            ) from None


def drop_seed(seed: Seed, by: str, now: datetime) -> None:
    """Let go of one seed before the first publication; it is not chosen again.

    Raises ActionError after it.
    """
    with transaction.atomic():
        row = _draft(seed.collection, "Its seeds are part of the data now.")
        DroppedSeed.objects.get_or_create(
            collection=row, key=seed.key, defaults={"by": by, "at": now}
        )
        Seed.objects.filter(pk=seed.pk).delete()


def drop_all_seeds(collection: Collection) -> int:
    """Return how many seeds were let go of, before the first publication; any is chosen again.

    Raises ActionError after it.
    """
    with transaction.atomic():
        row = _draft(collection, "Its seeds are part of the data now.")
        number = row.seeds.count()
        row.seeds.all().delete()
        DroppedSeed.objects.filter(collection=row).delete()
    return number


def archive(collection: Collection, now: datetime) -> None:
    """Put a collection away, out of the lists; nothing of it is lost.

    Raises ActionError while it hands out work.
    """
    found = Collection.objects.filter(pk=collection.pk, state__in=AT_REST, archived_at=None)
    archived = Collection.objects.filter(pk=collection.pk, archived_at__isnull=False)
    if not found.update(archived_at=now) and not archived.exists():
        raise ActionError("People can work on it still: finish it first, then archive it.")


def unarchive(collection: Collection) -> None:
    """Take a collection out of the archive, back into the lists."""
    Collection.objects.filter(pk=collection.pk).update(archived_at=None)


def duplicate(
    collection: Collection, slug: str, title: str, now: datetime, form_key: str = ""
) -> Collection:
    """Return a draft with the same parameters, texts and random seed, and nothing else.

    The same seeds can be chosen again; its budget is as large. form_key: of the form that makes it.
    Raises ActionError for a short name that is none or is taken.
    """
    slug = slug.strip()
    try:
        is_name(slug)
    except ValidationError as error:
        raise ActionError(f"{error.messages[0]}.") from None
    copied = {
        name: getattr(collection, name)
        for name in (
            "protocol protocol_version corpus_id parameters random_seed requester_name "
            "requester_contact ethics_number budget_cents"
        ).split()
    }
    try:
        with transaction.atomic():
            made = Collection.objects.create(
                slug=slug,
                title=title.strip()[:200] or slug,
                created_at=now,
                form_key=form_key,
                **copied,
            )
            _copy_parts(collection, made, now)
    except IntegrityError:
        raise ActionError(f"There is already a collection {slug!r}: choose another name.") from None
    return made


def _copy_parts(old: Collection, new: Collection, now: datetime) -> None:
    Stage.objects.bulk_create(
        Stage(collection=new, name=stage.name, kind=stage.kind, position=stage.position)
        for stage in old.stages.order_by("position")
    )
    newest = {text.name: text.markdown for text in old.texts.order_by("version")}
    CollectionText.objects.bulk_create(
        CollectionText(collection=new, name=name, version=1, markdown=text, created_at=now)
        for name, text in newest.items()
    )


def _draft(collection: Collection, instead: str) -> Collection:
    row = Collection.objects.select_for_update().get(pk=collection.pk)
    if row.state != CollectionState.DRAFT:
        raise ActionError(f"It was published already. {instead}")
    return row
