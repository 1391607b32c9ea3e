"""Revises a collection's parameters: what may change, from what to what, recorded with a reason."""

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from pydantic import ValidationError

from collector.models import Collection, CollectionRevision, CollectionState, StageState
from collector.protocols.creation import parameters_of
from collector.protocols.loading import get_protocol, wrong_values
from collector.protocols.parameters import Parameters, Table, with_overrides
from collector.protocols.part_contract import PARAMETERS
from common.actions import ActionError, said

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

    `seen` is the newest revision that whoever asks has seen (see `newest`); None asks no such
    thing. What comes again, because its answer was lost, changes nothing more. Raises ActionError
    as `planned` does, without a reason, or when somebody else has changed something since; then
    nothing is changed.
    """
    why = said(why, "Say why: whoever reads the history wants to know.")
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
