"""What a plausible worker would type into a page."""

import random
import zlib
from collections.abc import Callable, Mapping
from typing import Any

LABELS = ("faithful", "exaggerated", "wrong")


def fill(
    page: Mapping[str, Any],
    behaviour: Any,
    rng: random.Random,
    open_article: Callable[[str, str], Any],
) -> dict[str, Any]:
    """Return the data that the page would send; careful readers of one headline agree."""
    form = _headline if page["kind"] == "text" else _label
    return {
        "entries": [
            {"item": item["id"], "fields": form(item, behaviour, rng)} for item in page["items"]
        ]
    }


def _headline(item: Mapping[str, Any], behaviour: Any, rng: random.Random) -> dict[str, str]:
    words = item["passage"]["text"].split()
    first = rng.randrange(max(1, len(words) - 5))
    return {"headline": " ".join(words[first : first + 5])}


def _label(item: Mapping[str, Any], behaviour: Any, rng: random.Random) -> dict[str, str]:
    careless = rng.random() < max(behaviour.nonsense, behaviour.wrong_answer)
    number = rng.randrange(3) if careless else zlib.crc32(item["text"].encode()) % 3
    remark = "" if number == 0 else f"It reads {item['text'].split()[0]} first."
    return {"label": LABELS[number], "remark": remark}
