"""What a plausible worker would type into a page, and what real ones did."""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from annotation.protocols.iirc.simulation import inspection
from annotation.protocols.iirc.simulation.answering import Opener, answer
from annotation.protocols.iirc.simulation.replay import Replay, read_replay
from annotation.protocols.iirc.simulation.writing import write
from tasks.simulation.behaviour import Behaviour


def fill(
    page: Mapping[str, object], behaviour: Behaviour, rng: random.Random, open_article: Opener
) -> dict[str, object]:
    """Return the data that the page would send: it passes the protocol's checks.

    page: the state of a worker's page. open_article: what the page gets for (item id, title).
    Careful readers of one question give one answer, whatever their `rng`.
    """
    if page["kind"] == "question":
        return {"questions": write(page, behaviour, rng)}
    items: Any = page["items"]
    return {"answers": [answer(item, behaviour, rng, open_article) for item in items]}


def replay(path: Path) -> Replay:
    """Return what the real workers did whose work is in the file; raises ValueError naming it."""
    return read_replay(path)


def inspect(
    kind: str,
    data: Mapping[str, Sequence[object]],
    items: Sequence[Mapping[str, object]],
    open_article: Opener,
) -> tuple[bool, str]:
    """Return whether a qualification submission passes, and the note for its worker."""
    return inspection.inspect(kind, data, items, open_article)
