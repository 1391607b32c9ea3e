"""Runs: one seed with its acts, in processes of its own; and the shortening of one that fails."""

import os
import pickle
import random
import re
import signal
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests.simulator import reach, worlds
from tests.simulator.databases import Databases
from tests.simulator.machine import REAL_SECONDS, TIME, reseed
from tests.simulator.processes import Died

if TYPE_CHECKING:
    from tests.simulator.acts import Acts
    from tests.simulator.life import Life
    from tests.simulator.truths import Truths

# What a life may be mostly about.
ABOUT = (
    ("crowd", "talk", "leave_dialog", "cut_off"),
    ("crowd", "decide", "exclude", "decide_beside", "erase"),
    ("crowd", "write", "report", "answer_report", "wait"),
    ("crowd", "reject", "merge", "collect", "rest"),
    ("program", "work_for_program", "host", "desk", "decide_batch", "look_around"),
)
# Something begins anew for ever in a life that takes longer.
LONGEST_SECONDS = 600
IDLE = re.compile("no |none|nobody|nothing|not |.*: not accepted")


@dataclass
class Run:
    """What came of one seed: what was told of each act, what was found, and the rows' digest."""

    protocol: str
    seed: int
    acts: list[int]
    told: list[str] = field(default_factory=list)
    found: list[str] = field(default_factory=list)
    counted: Counter[str] = field(default_factory=Counter)
    reached: Counter[str] = field(default_factory=Counter)
    seen: Counter[str] = field(default_factory=Counter)
    idle: set[int] = field(default_factory=set)
    simulated: float = 0.0
    seconds: dict[str, float] = field(default_factory=dict)
    digest: str = ""
    rows: dict[str, list[str]] = field(default_factory=dict)

    def kinds(self) -> set[str]:
        """Return what the findings are about, without their numbers."""
        return {kind_of_finding(one) for one in self.found}


def kind_of_finding(line: str) -> str:
    """Return what a finding is about: without its numbers, so that runs can be compared."""
    return re.sub(r"[0-9a-f]{12,}|\d+", "#", line)


def live(
    run: Run,
    databases: Databases,
    home: Path,
    *,
    keep_rows: bool = False,
    living: "type[Living] | None" = None,
) -> Run:
    """Live a run in a process of its own, and return it filled in."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        status = 1
        signal.alarm(LONGEST_SECONDS)
        try:
            os.close(reading)
            (living or RandomLife)(run, databases, home).go(keep_rows=keep_rows)
            with os.fdopen(writing, "wb") as file:
                pickle.dump(run, file)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        content = file.read()
    os.waitpid(pid, 0)
    if not content:
        run.found = [*run.found, "the simulator itself failed"]
        return run
    return pickle.loads(content)


class Living:
    """A run while it goes on; what happens is said by `live`."""

    life: "Life"
    acts: "Acts"
    truths: "Truths"

    def __init__(self, run: Run, databases: Databases, home: Path) -> None:
        self.run, self.databases, self.home = run, databases, home
        self.name = f"run_{os.getpid()}"

    def live(self) -> None:
        """Do what the run is about."""
        raise NotImplementedError

    def begin(self, life: "Callable[[], Life]") -> None:
        """Let a life begin."""
        from tests.simulator.acts import Acts
        from tests.simulator.truths import Truths

        self.life = life()
        self.life.databases = self.databases
        self.acts, self.truths = Acts(self.life), Truths(self.life)

    def go(self, *, keep_rows: bool) -> None:
        """Live in databases of its own, and note what came of it."""
        from django.conf import settings

        from tests.simulator.rows import digest_of, rows_by_table

        self.databases.make(self.name, template="template")
        self.databases.use(self.name)
        settings.RELEASES = self.home / self.name
        settings.CACHES["default"]["LOCATION"] = str(self.home / self.name / "cache")
        TIME.begin()
        reseed(f"{self.run.seed}")
        try:
            self.live()
            rows = rows_by_table()
            self.run.digest = digest_of(rows)
            self.run.rows = rows if keep_rows else {}
            self.run.simulated = TIME.seconds
        finally:
            if hasattr(self, "life"):
                self.run.seen += self.life.seen
                self.run.reached, self.run.counted = self.life.reached, self.life.counted
                self.run.seconds["CPU"] = self.life.site.end()
            self.databases.use("none")
            self.databases.drop(self.name)

    def act(self, at: str, name: str, rng: random.Random) -> str:
        """Do one act; what it draws is drawn from `rng`."""
        from tests.simulator.life import WEBS

        life = self.life
        before = life.act, life.rng, life.web, life.trouble
        life.act, life.rng, life.web = at, rng, rng.choice(WEBS)
        reseed(f"{self.run.seed}:{at}")
        life.counted[name] += 1
        try:
            return str(getattr(self.acts, name)())
        except Died:
            return "cut"
        finally:
            life.act, life.rng, life.web, life.trouble = before

    def quiet(self) -> None:
        """No acts; the jobs look until nothing is due, through hours and days."""
        from tasks.work.due_work import due

        self.life.act, self.life.rng = "quiet", random.Random(f"{self.run.seed}:quiet")
        for hours in (0, 1.5, 1.5, 6.5, 30, 200):
            TIME.advance(hours * 3600)
            for _ in range(6):
                TIME.advance(4)
                self.life.round("jobs 1")
                if not due(TIME.now()):
                    break

    def note(self, at: str, found: Iterator[str]) -> None:
        """Note what is not true, once for each kind of it."""
        known = self.run.kinds()
        for one in dict.fromkeys(found):
            if kind_of_finding(one) not in known:
                known.add(kind_of_finding(one))
                self.run.found.append(one)
                self.run.told.append(f"!!! after {at}: {one}")

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Add up how long a part takes."""
        began = REAL_SECONDS()
        yield
        self.run.seconds[part] = self.run.seconds.get(part, 0.0) + REAL_SECONDS() - began


class RandomLife(Living):
    """Random acts, then quiet, then the truths."""

    def live(self) -> None:
        """Do all acts, let everything come to rest, and note what is not true."""
        from tests.simulator.acts import Acts
        from tests.simulator.life import Life

        self.begin(lambda: Life(self.run.protocol, self.run.seed, self.home))
        weights = self._weights()
        length = random.Random(f"{self.run.seed}:beginning").choice(
            (0, 4, *2 * [len(Acts.BEGINNING)])
        )
        self.beginning = Acts.BEGINNING[:length]
        with self.timed("acts"):
            for at in self.run.acts:
                self._do(at, weights)
        with self.timed("quiet"):
            self.quiet()
        with self.timed("release"):
            self.note("quiet", self.truths.quiet())
            self.note("quiet", self.truths.always())
        self.life.seen.update(name for name, rows in reach.stored().items() if rows.exists())

    def _weights(self) -> dict[str, float]:
        """Return how often each act comes: every seed has more of some, and none of others."""
        swarm = random.Random(f"{self.run.seed}:swarm")
        weights = {
            name: weight * swarm.choice((0.0, 0.3, 1, 1, 1, 3))
            for name, weight in type(self.acts).WEIGHTS.items()
        }
        # And is mostly about one thing.
        for name in swarm.choice(ABOUT):
            weights[name] = 3 * type(self.acts).WEIGHTS[name]
        # Without these nothing happens at all.
        needed = ("work", "crowd", "take", "hand_in", "talk", "jobs", "let_in")
        return weights | {name: max(weights[name], 3.0) for name in needed}

    def _do(self, at: int, weights: dict[str, float]) -> None:
        rng = random.Random(f"{self.run.seed}:{at}")
        self.life.meanwhile = lambda: self._meanwhile(at, weights)
        TIME.advance(rng.uniform(0.5, 20))
        # What cannot be done now is followed by something else.
        for n_tried in range(4):
            name = rng.choices(list(weights), list(weights.values()))[0]
            if not n_tried and at <= len(self.beginning):
                name = ["publish", *self.beginning][at]
            with self.timed(f"act {name}"):
                told = self.act(f"{at}" if not n_tried else f"{at}.{n_tried}", name, rng)
            if not IDLE.match(told):
                break
        else:
            self.run.idle.add(at)
        self.run.told.append(f"{at:4} {TIME.now():%d %H:%M:%S} {name}: {told}")
        with self.timed("truths"):
            self.note(str(at), self.truths.always())

    def _meanwhile(self, at: int, weights: dict[str, float]) -> None:
        """Let somebody act in the middle of another act."""
        rng = random.Random(f"{self.run.seed}:{at}:meanwhile")
        name = rng.choices(list(weights), list(weights.values()))[0]
        told = self.act(f"{at}:meanwhile", name, rng)
        self.run.told.append(f"     {TIME.now():%d %H:%M:%S}   meanwhile {name}: {told}")


def shorten(run: Run, kind: str, again: Callable[[Run], Run], most_seconds: float) -> Run:
    """Return a run with as few acts as still find the same (ddmin, within so many seconds)."""
    best, until = run, REAL_SECONDS() + most_seconds

    def tried(acts: list[int]) -> Run | None:
        found = again(Run(run.protocol, run.seed, acts))
        return found if kind in found.kinds() else None

    # What said that there was nothing to do goes at once.
    best = tried([at for at in run.acts if at not in run.idle]) or best
    size = max(1, len(best.acts) // 2)
    while size and REAL_SECONDS() < until:
        at, improved = 0, False
        while at < len(best.acts) and REAL_SECONDS() < until:
            fewer = tried(best.acts[:at] + best.acts[at + size :])
            if fewer:
                best, improved = fewer, True
            else:
                at += size
        size = size if improved and size == 1 and len(best.acts) > 1 else size // 2
    return best


def numbers(text: str) -> list[int]:
    """Return the seeds that "7" or "1:20" names."""
    first, _, last = text.partition(":")
    return [*range(int(first), int(last or first) + 1)]


def protocols(text: str) -> list[str]:
    """Return the protocols that are named, by commas; all for ""."""
    return text.split(",") if text else [*worlds.PROTOCOLS]
