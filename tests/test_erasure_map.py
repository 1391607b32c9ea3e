"""Every field that can hold words says what erasing a person does to it, or that it is nobody's."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.db import models

from common.erasure import Rows
from marketplace import erasure as at_marketplace
from tasks.people import erasure as at_collector

HOLD_WORDS = (models.CharField, models.TextField, models.JSONField, models.BinaryField)
# What no worker writes, and nobody writes of a worker.
NOBODYS = Path(__file__).parent / "data" / "nobodys_fields.txt"
MAPS = [at_collector.ERASING, at_marketplace.ERASING]


def fields_with_words(model: type[models.Model]) -> Iterator[str]:
    for field in model._meta.local_concrete_fields:
        holds = isinstance(field, (*HOLD_WORDS, models.FileField))
        if holds and not field.choices and not field.is_relation:
            yield field.name


def listed(rows: Rows) -> set[str]:
    """Return the fields that an entry of a map says something of."""
    model = apps.get_model(rows.model)
    gone = fields_with_words(model) if rows.fields is None else rows.fields
    return {f"{model._meta.label}.{name}" for name in [*gone, *rows.stays]}


def test_every_field_that_can_hold_words_is_on_a_map_or_nobodys() -> None:
    every = {
        f"{model._meta.label}.{name}"
        for model in apps.get_models()
        for name in fields_with_words(model)
    }
    mapped = set().union(*(listed(rows) for erasing in MAPS for rows in erasing))
    nobodys = set(NOBODYS.read_text("utf-8").split())
    assert every - mapped - nobodys == set(), "say in a map what erasing a person does to these"
    assert nobodys - every == set(), "there are no such fields"
    assert nobodys & mapped == set(), "these are both somebody's and nobody's"


@pytest.mark.parametrize("rows", [rows for erasing in MAPS for rows in erasing], ids=str)
def test_what_a_map_names_exists_and_leads_to_a_person(rows: Rows) -> None:
    model = apps.get_model(rows.model)
    own = {field.name for field in model._meta.concrete_fields}
    assert set(rows.fields or ()) | set(rows.stays) <= own
    assert not set(rows.fields or ()) & set(rows.stays)
    assert all(rows.stays.values())
    str(model._default_manager.filter(rows.only, **{f"{rows.of}__in": []}).query.where)
