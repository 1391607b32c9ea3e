"""What a plausible worker would type into a page, and what real ones did."""

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annotation.protocols.hotpotqa.replay import Replay, read_replay
from annotation.protocols.hotpotqa.typed_work import answer, write
from tasks.simulation.behaviour import Behaviour
from tasks.simulation.worker import Opener


def fill(
    page: Mapping[str, object], behaviour: Behaviour, rng: random.Random, open_article: Opener
) -> dict[str, object]:
    """Return the data that the page would send: it passes the protocol's checks.

    page: the state of a worker's page; nothing is opened from it.
    """
    if page["kind"] == "pair":
        return {"pairs": write(page, behaviour, rng)}
    items: Any = page["items"]
    return {"answers": [answer(item, behaviour, rng) for item in items]}


def replay(path: Path) -> Replay:
    """Return what the real workers did whose work is in the file; raises ValueError naming it."""
    return read_replay(path)
