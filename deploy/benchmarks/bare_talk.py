"""Pairs who talk over the reference for live dialogs, which passes messages on and loses some."""

import asyncio
import random
import time
from dataclasses import dataclass, field

from websockets.asyncio.client import ClientConnection, connect

from deploy.benchmarks.serving import Served
from tests.rehearsals.dialog_crowds import thought

TEXT = "x" * 600
# Somebody may be let in that late on a busy machine.
PATIENCE_SECONDS = 300.0
# How often one who hears nothing looks whether it is time to do something else.
LOOK_SECONDS = 0.5
# Nobody thinks for so long: a message was lost with a line, and the pair begins again.
LOST_SECONDS = 8.0


@dataclass
class Talk:
    """What pairs do: times are seconds since the epoch, of messages those from `start` to `end`.

    arriving_seconds: within which all come. every_seconds: between a partner's message and one's
    own, on average. cut_seconds: how often one of each pair loses the line, never for 0.
    """

    address: str
    n_pairs: int
    arriving_seconds: float
    every_seconds: float
    cut_seconds: float
    start: float
    end: float
    ways: list[float] = field(default_factory=list)

    def measured(self, site: Served) -> tuple[float, list[float]]:
        """Return the server's CPU seconds, and how long each message took that was heard."""
        return asyncio.run(self._measured(site))

    async def _measured(self, site: Served) -> tuple[float, list[float]]:
        people = [self._attend(pair, side) for pair in range(self.n_pairs) for side in (0, 1)]
        everybody = asyncio.gather(*people)
        cpu_seconds = await self._cpu_seconds(site)
        await everybody
        return cpu_seconds, self.ways

    async def _cpu_seconds(self, site: Served) -> float:
        await asyncio.sleep(max(0, self.start - time.time()))
        before = site.cpu_seconds()
        await asyncio.sleep(max(0, self.end - time.time()))
        return site.cpu_seconds() - before

    async def _attend(self, pair: int, side: int) -> None:
        rng = random.Random(f"{pair}:{side}")
        await asyncio.sleep((2 * pair + side) * self.arriving_seconds / (2 * self.n_pairs))
        # One of each pair begins, and begins again.
        heard_at = time.time() + 1 - LOST_SECONDS if side else self.end
        # Nobody's line is cut at the same time as all others'.
        cut_at = time.time() + rng.random() * self.cut_seconds
        is_cut_off = bool(side and self.cut_seconds)
        while time.time() < self.end:
            async with connect(self.address, proxy=None, open_timeout=PATIENCE_SECONDS) as line:
                await line.send(f"{pair}:{side}")
                heard_at = await self._talk(line, rng, heard_at, cut_at if is_cut_off else self.end)
                # As a network does it, without a word.
                line.transport.abort()
            cut_at = time.time() + self.cut_seconds

    async def _talk(
        self, line: ClientConnection, rng: random.Random, heard_at: float, until: float
    ) -> float:
        """Answer until the line is cut while the partner thinks; return when it was heard last."""
        while time.time() < self.end:
            try:
                heard = await asyncio.wait_for(line.recv(), LOOK_SECONDS)
            except TimeoutError:
                if time.time() >= until:
                    break
                if time.time() < heard_at + LOST_SECONDS:
                    continue
                heard_at = time.time()
            else:
                heard_at = time.time()
                if self.start <= heard_at < self.end:
                    self.ways.append(heard_at - float(str(heard).split()[0]))
                await asyncio.sleep(thought(self.every_seconds, rng))
            await line.send(f"{time.time()} {TEXT}")
        return heard_at
