"""What a unit shows never changes once it exists: made once, and kept as the page sends it."""

from dataclasses import dataclass

import orjson

from common.committed_cache import kept_once_committed
from tasks.kinds.kind import Item
from tasks.kinds.registry import kind_of
from tasks.models import Unit


@dataclass(frozen=True)
class Items:
    """A unit's items, shared between requests and so never changed, and their JSON in a page."""

    shown: list[Item]
    script: bytes


def items_of(unit: Unit) -> list[Item]:
    """Return what the page of the unit shows; shared between requests, so never changed."""
    return _items(unit).shown


def items_script(unit: Unit) -> bytes:
    """Return the JSON of what the unit shows, fit for a script element."""
    return _items(unit).script


# A unit is known by its primary key; about 80 kB each with ten long paragraphs.
@kept_once_committed(512)
def _items(unit: Unit) -> Items:
    shown = kind_of(unit.stage).page_items(unit)
    return Items(shown, script(shown))


def script(value: object) -> bytes:
    """Return `value` as JSON that cannot end the script element it stands in."""
    return inert(orjson.dumps(value))


def inert(json: bytes) -> bytes:
    """Return JSON without a character that HTML could read as markup."""
    for character, escape in ((b"<", b"\\u003C"), (b">", b"\\u003E"), (b"&", b"\\u0026")):
        json = json.replace(character, escape)
    return json
