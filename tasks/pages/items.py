"""The parts of a page that never change once a unit or a text exists, kept between requests."""

from functools import lru_cache
from typing import Any

from collector.creation import parameters_of
from collector.models import CollectionText, Stage
from tasks.kinds import kind
from tasks.models import Unit
from tasks.pages.words import fill, markdown


def items_of(unit: Unit) -> list[dict[str, Any]]:
    """Return what the page of the unit shows; shared between requests, so never changed."""
    return _items(unit.pk)


@lru_cache(maxsize=1024)
def _items(unit_id: int) -> list[dict[str, Any]]:
    unit = Unit.objects.select_related("stage__collection__corpus").get(pk=unit_id)
    items: list[dict[str, Any]] = kind(unit.stage.kind).page_items(unit)
    return items


def instructions_html(text: CollectionText, stage: Stage) -> str:
    """Return a text's version as HTML, the collection's own numbers filled in."""
    parameters = parameters_of(stage.collection)
    return _html(fill(text.markdown, stage.collection, parameters, stage.name))


@lru_cache(maxsize=256)
def _html(text: str) -> str:
    return markdown(text)
