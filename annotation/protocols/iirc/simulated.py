"""What a plausible worker would type into a page, and what real ones did."""

import random
from collections.abc import Mapping
from typing import Any

from annotation.protocols.iirc.replay import replay as replay
from annotation.protocols.iirc.typed_work import Opener, answer, write
from annotation.protocols.iirc.typed_work import inspect as inspect
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
