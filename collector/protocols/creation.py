"""Creates a collection from its protocol, revises its parameters and texts, archives it."""

import json
import secrets
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from django.core import exceptions
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError, QuerySet
from pydantic import ValidationError

from collector.models import (
    Collection,
    CollectionRevision,
    CollectionState,
    CollectionText,
    Corpus,
    DroppedSeed,
    Seed,
    Stage,
    StageState,
)
from collector.models.corpus import is_name
from collector.protocols.loading import (
    PARAMETERS,
    WITHHOLDING,
    Protocol,
    ProtocolError,
    check_whole,
    get_protocol,
    wrong_values,
)
from collector.protocols.parameters import Parameters, Table, with_overrides
from common.actions import ActionError, said
from common.storable import NotStorable, storable

MAX_CHARACTERS = 50_000


def revise_text(
    collection: Collection, name: str, markdown: str, seen: int, now: datetime
) -> CollectionText:
    """Return the next version of a text; workers who come next read it, work at hand goes on.

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


SEED_BITS = 62


def withholds(protocol: Protocol) -> bool:
    """Return whether releases of the protocol keep answers of some splits back."""
    return bool(protocol.part(WITHHOLDING).WITHHELD)


def create_collection(
    slug: str,
    protocol: Protocol,
    corpus: Corpus,
    *,
    overrides: dict[str, object],
    seed: int | None,
    now: datetime,
    title: str = "",
    budget_cents: int = 0,
    requester_name: str,
    requester_contact: str,
    ethics_number: str = "",
    form_key: str = "",
) -> Collection:
    """Return a new collection in state draft, with its stages and the first version of its texts.

    Without a seed, one that nobody can guess is chosen where answers are to be withheld: whoever
    knew it could draw the same pairs. Elsewhere it is 0. form_key: of the form that makes it.

    Raises ActionError for a taken slug, for a form that has made one before, and for what no column
    can hold, ProtocolError for wrong parameters, and for what the protocol's folder lacks or has
    wrong.
    """
    parameters = protocol.parameters(overrides)
    check_whole(protocol, parameters)
    texts = {name: protocol.text(name) for name in ("consent", *parameters.stages())}
    collection = Collection(
        slug=slug,
        title=title or slug,
        protocol=protocol.name,
        protocol_version=parameters.protocol.version,
        corpus=corpus,
        parameters=parameters.model_dump(mode="json"),
        random_seed=(secrets.randbits(SEED_BITS) if withholds(protocol) else 0)
        if seed is None
        else seed,
        budget_cents=budget_cents,
        requester_name=requester_name,
        requester_contact=requester_contact,
        ethics_number=ethics_number,
        created_at=now,
        form_key=form_key,
    )
    try:
        _write(storable(collection), parameters, texts)
    except NotStorable as error:
        raise ActionError(str(error)) from None
    except IntegrityError:
        raise ActionError(f"There is already a collection {slug!r}: choose another name.") from None
    return collection


def _write(collection: Collection, parameters: Parameters, texts: dict[str, str]) -> None:
    with transaction.atomic():
        collection.save(force_insert=True)
        Stage.objects.bulk_create(
            Stage(collection=collection, name=name, kind=table.kind, position=position)
            for position, (name, table) in enumerate(parameters.stages().items())
        )
        CollectionText.objects.bulk_create(
            CollectionText(
                collection=collection,
                name=name,
                version=1,
                markdown=text,
                created_at=collection.created_at,
            )
            for name, text in texts.items()
        )


class StoredParameters(dict[str, Any]):
    """Parameters that nobody changes, with the JSON text that they were read from."""

    def __init__(self, text: str) -> None:
        super().__init__(json.loads(text))
        self.text = text


def parameters_of(collection: Collection) -> Parameters:
    """Return the collection's own typed parameters; raises ProtocolError.

    They are kept by their content: every page asks for them, and they hardly ever change.
    """
    text = parameters_text(collection)
    return _resolved(collection.protocol, collection.protocol_version, text)


def is_readable(collection: Collection) -> bool:
    """Return whether this process knows the collection's protocol and can read its parameters."""
    try:
        parameters_of(collection)
    except ProtocolError:
        return False
    return True


def parameters_text(collection: Collection) -> str:
    """Return the collection's own parameters as JSON text."""
    values = collection.parameters
    return values.text if isinstance(values, StoredParameters) else json.dumps(values)


@lru_cache(maxsize=64)
def _resolved(name: str, version: int, values: str) -> Parameters:
    """Return stored values as parameters, brought up to date by the protocol's `upgrade`.

    protocol.toml is not read again: a collection keeps what it was created with.
    """
    protocol = get_protocol(name)
    part = protocol.part(PARAMETERS)
    stored = json.loads(values)
    if version != part.VERSION:
        if not protocol.has(PARAMETERS, "upgrade"):
            raise ProtocolError(
                f"The collection was made with version {version} of the protocol {name!r}; this "
                f"installation has version {part.VERSION} and cannot read it. Install the other."
            )
        stored = part.upgrade(stored, version)
    return protocol.resolved(stored, stored=True)


# What a collection is: its stages' rows and texts were made from these, once.
STRUCTURE = Parameters.FIXED | {"requires"}


@dataclass(frozen=True)
class Change:
    """One parameter by its dotted name."""

    key: str
    old: object
    new: object


@dataclass(frozen=True)
class Revision:
    """What would change, and the parameters after it.

    `lost_seeds` counts the seeds chosen under other values, which are let go.
    """

    changes: list[Change]
    parameters: Parameters
    lost_seeds: int

    def applied_to(self, collection: Collection) -> Collection:
        """Return a copy of the collection, not saved, as it would be: to estimate with."""
        changed = copy(collection)
        changed.parameters = self.parameters.model_dump(mode="json")
        # What is stored is as this installation reads it, not as an older one wrote it.
        changed.protocol_version = get_protocol(collection.protocol).part(PARAMETERS).VERSION
        return changed


def planned(collection: Collection, wanted: Mapping[str, object]) -> Revision:
    """Return what the dotted `wanted` values would change; nothing is written.

    Raises ActionError for an unknown key, a wrong value, a value that may not change any more,
    or when nothing would change; ProtocolError for a collection that cannot be read.
    """
    parameters = parameters_of(collection)
    changes, revised = _compared(parameters, wanted)
    if not changes:
        raise ActionError("Nothing would change: these are the values already.")
    for change in changes:
        _check(collection, parameters, change.key)
    decides = any(
        not is_changeable(parameters, change.key) and not is_of_stage(parameters, change.key)
        for change in changes
    )
    return Revision(changes, revised, collection.seeds.count() if decides else 0)


def _compared(
    parameters: Parameters, wanted: Mapping[str, object]
) -> tuple[list[Change], Parameters]:
    """Return what differs, and the parameters with it; raises ActionError as `planned` does."""
    old = parameters.model_dump(mode="json")
    try:
        values = with_overrides(old, wanted)
        revised = type(parameters).model_validate(values)
    except KeyError as error:
        raise ActionError(str(error.args[0])) from None
    except ValidationError as error:
        raise ActionError(wrong_values(error)) from None
    new = revised.model_dump(mode="json")
    compared = [Change(key, _value(old, key), _value(new, key)) for key in wanted]
    return [change for change in compared if change.old != change.new], revised


def revise(
    collection: Collection,
    wanted: Mapping[str, object],
    *,
    why: str,
    by: str,
    now: datetime,
    seen: int | None = None,
) -> Revision:
    """Store the `wanted` values for everything posted later, one dated row for each, and return it.

    `seen` is the newest revision that the person has seen (see `newest`); None asks no such
    thing. What comes again, because its answer was lost, changes nothing more. Raises ActionError
    as `planned` does, without a reason, or when somebody else has changed something since; then
    nothing is changed.
    """
    why = said(why, "Say why: readers of the history want to know.")
    with transaction.atomic():
        row = Collection.objects.select_for_update(no_key=True).get(pk=collection.pk)
        if seen is not None and seen != newest(row):
            if is_stored(row, wanted, why=why, by=by, seen=seen):
                return Revision([], parameters_of(row), 0)
            raise ActionError(
                "Somebody changed something meanwhile: look at the newest values, then save again."
            )
        revision = planned(row, wanted)
        CollectionRevision.objects.bulk_create(
            CollectionRevision(
                collection=row,
                key=change.key,
                old=change.old,
                new=change.new,
                why=why,
                by=by,
                at=now,
            )
            for change in revision.changes
        )
        if revision.lost_seeds:
            row.seeds.all().delete()
        revision.applied_to(row).save(update_fields=["parameters", "protocol_version"])
    return revision


def is_stored(
    collection: Collection, wanted: Mapping[str, object], *, why: str, by: str, seen: int
) -> bool:
    """Return whether this was stored since the revision `seen`, and nothing else was.

    Raises ActionError for an unknown key or a wrong value.
    """
    since = revisions_of(collection).filter(pk__gt=seen).values_list("key", "why", "by")
    if not since or any((key in wanted, *told) != (True, why.strip(), by) for key, *told in since):
        return False
    changes, _ = _compared(parameters_of(collection), wanted)
    return not changes


def is_changeable(parameters: Parameters, key: str) -> bool:
    """Return whether the parameter may change at any time: it does not decide the data."""
    *path, last = key.split(".")
    table: Any = parameters
    for part in path:
        table = getattr(table, part, None)
    return isinstance(table, Table) and last in table.CHANGEABLE


def is_of_stage(parameters: Parameters, key: str) -> bool:
    """Return whether the parameter concerns its stage alone, and may change until it is opened."""
    name, _, last = key.partition(".")
    table = parameters.stages().get(name)
    return table is not None and last in table.UNTIL_OPENED


def is_unopened(collection: Collection, stage: str) -> bool:
    """Return whether nobody was ever let in to work on the stage."""
    states = collection.stages.filter(name=stage).values_list("state", flat=True)
    return set(states) == {StageState.DRAFT}


def is_structure(key: str) -> bool:
    """Return whether the parameter says what the collection is, and so never changes."""
    first, *_, last = key.split(".")
    return first == "protocol" or last in STRUCTURE


def revisions_of(collection: Collection) -> QuerySet[CollectionRevision]:
    """Return every recorded change of a parameter, the oldest first."""
    return collection.revisions.exclude(key__in=CollectionRevision.NOT_PARAMETERS)


def newest(collection: Collection) -> int:
    """Return the id of the newest change of a parameter, 0 before the first."""
    last = revisions_of(collection).order_by("-pk").values_list("pk", flat=True).first()
    return last or 0


def _check(collection: Collection, parameters: Parameters, key: str) -> None:
    """Raise ActionError for a parameter that may not change, or not any more."""
    if "." not in key:
        raise ActionError(f"{key} is a whole table: change one thing in it, as in {key}.KEY.")
    if is_structure(key):
        raise ActionError(
            f"{key} says what the collection is and never changes: create another collection."
        )
    if collection.state == CollectionState.DRAFT or is_changeable(parameters, key):
        return
    if is_of_stage(parameters, key) and is_unopened(collection, key.partition(".")[0]):
        return
    raise ActionError(
        f"{key} decides the data or was promised to workers, and is locked since the first "
        "publication: create another collection for another value."
    )


def _value(values: dict[str, Any], key: str) -> Any:
    for part in key.split("."):
        values = values[part]
    return values


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
    except exceptions.ValidationError as error:
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
            Stage.objects.bulk_create(
                Stage(collection=made, name=stage.name, kind=stage.kind, position=stage.position)
                for stage in collection.stages.order_by("position")
            )
            newest = {text.name: text.markdown for text in collection.texts.order_by("version")}
            CollectionText.objects.bulk_create(
                CollectionText(collection=made, name=name, version=1, markdown=text, created_at=now)
                for name, text in newest.items()
            )
    except IntegrityError:
        raise ActionError(f"There is already a collection {slug!r}: choose another name.") from None
    return made


def _draft(collection: Collection, instead: str) -> Collection:
    row = Collection.objects.select_for_update().get(pk=collection.pk)
    if row.state != CollectionState.DRAFT:
        raise ActionError(f"It was published already. {instead}")
    return row
