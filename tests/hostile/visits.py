"""Long visits of hostile people, seeded, and what they found."""

import gc
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

from tasks.dialog.tests.lines import close_connections
from tests.hostile.requests import Findings, Knocking
from tests.hostile.rows import build
from tests.hostile.values import drawing

# Said to a socket at a time, and how often among requests.
TALK, TALK_EVERY = 10, 50
# So often everybody comes anew, and there is new work to do.
RENEWED_AFTER = 1000


def drawn(number: int, seeded: int) -> list[dict[str, Any]]:
    """Return what so many requests are made of, drawn by Hypothesis from a seed."""
    found: list[dict[str, Any]] = []

    @seed(seeded)
    @settings(
        max_examples=number,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(drawing)
    def keep(one: dict[str, Any]) -> None:
        found.append(one)

    keep()
    return found


def visit(
    requests: int, seeded: int, pages: int, most_drawings: int = 2000
) -> tuple[Findings, int]:
    """Return what so many requests found, and by how many bytes the second half made us grow.

    Drawings are used again with other seeds: what they meet is another part of the world.
    """
    drawings = drawn(min(requests, most_drawings), seeded)
    held: list[int] = []
    with Knocking(build()) as knocking:
        counts = knocking.findings.counts
        try:
            knocking.look_around(pages)
            renewed, turn = counts.total(), 0
            while counts.total() < requests:
                one = drawings[turn % len(drawings)]
                knocking.knock({**one, "seed": one["seed"] + turn, "way": one["way"] + turn})
                if turn % TALK_EVERY == 0:
                    start = turn % max(1, len(drawings) - TALK)
                    knocking.talk(drawings[start : start + TALK])
                if counts.total() - renewed > RENEWED_AFTER:
                    renewed = counts.total()
                    world = build()
                    world.leases = {**knocking.world.leases, **world.leases}
                    knocking.world = world
                    held += [memory()] if counts.total() > requests // 2 else []
                turn += 1
        finally:
            close_connections()
    return knocking.findings, held[-1] - held[0] if held else 0


def memory() -> int:
    """Return how many bytes this process holds now."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096
