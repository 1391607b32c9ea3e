"""Forgets a person by one map of an app: what becomes of each field that can hold their words."""

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from django.apps import apps
from django.db import OperationalError, connections, transaction
from django.db.models import Q


@dataclass(frozen=True)
class Rows:
    """A person's rows of a model: their `fields` get these values, or the rows go (None).

    model: "app.Model", so that an app can name rows of one that builds on it. of: the lookup that
    leads to the person. stays: fields whose words are kept, each with the reason.
    """

    model: str
    of: str
    fields: Mapping[str, object] | None = field(default_factory=dict)
    only: Q = field(default_factory=Q)
    stays: Mapping[str, str] = field(default_factory=dict)


def erase_rows(rows: Iterable[Rows], people: Collection[object], using: str) -> None:
    """Do what the map says to the rows of a person; expects a transaction.

    people: the keys of the person's accounts. using: the database that the rows are in.
    """
    for each in rows:
        manager = apps.get_model(each.model)._default_manager
        found = manager.filter(each.only, **{f"{each.of}__in": people})
        if each.fields is None:
            found.delete()
        elif each.fields:
            found.update(**each.fields)
    transaction.on_commit(partial(_empty_log, using), using)


def _empty_log(using: str) -> None:
    """Empty the file in which SQLite keeps what was last written: it has the rows as they were."""
    if connections[using].vendor == "sqlite":
        # While another connection reads, it stays: a checkpoint of SQLite's own empties it later.
        with suppress(OperationalError), connections[using].cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
