"""Runs seeds of the simulator, and says what they found.

.venv/bin/python -m tests.simulator --seeds 1:20 --acts 100
.venv/bin/python -m tests.simulator --seeds 7 --protocol squad --twice     # equal rows again?
.venv/bin/python -m tests.simulator --seeds 7 --protocol squad --shorten   # fewest acts
"""

import argparse
import os
import sys
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

if os.environ.get("PYTHONHASHSEED") != "0":
    os.environ["PYTHONHASHSEED"] = "0"
    os.execv(sys.executable, [sys.executable, "-m", "tests.simulator", *sys.argv[1:]])

from tests.simulator import machine

machine.substitute()

from tests.simulator import setting  # noqa: E402
from tests.simulator.machine import REAL_SECONDS  # noqa: E402
from tests.simulator.reach import unreached, unseen  # noqa: E402
from tests.simulator.runs import Run, kind_of_finding, live, numbers, protocols, shorten  # noqa: E402

# All protocols, lived for so long, should have reached all that can be reached.
LONG_SECONDS = 3000


def main() -> int:
    """Return 0 when nothing was found."""
    parser = argparse.ArgumentParser(prog="tests.simulator", description=__doc__)
    parser.add_argument("--seeds", default="1:6")
    parser.add_argument("--acts", type=int, default=100)
    parser.add_argument("--protocol", default="", help="one or more, by commas; else all six")
    parser.add_argument("--seconds", type=float, help="begin no run after these")
    parser.add_argument("--processes", type=int, default=2, help="runs at a time")
    parser.add_argument("--stop", action="store_true", help="begin no run once one has failed")
    parser.add_argument("--twice", action="store_true", help="compare the rows of two runs")
    parser.add_argument("--shorten", action="store_true", help="leave out acts of what fails")
    parser.add_argument("--show", action="store_true", help="print every act")
    parser.add_argument("--patience", type=float, default=120, help="seconds to shorten for")
    given = parser.parse_args()
    with setting.folder() as home:
        return Simulator(given, home).run()


class Simulator:
    """Runs, one after another or two at a time, and what they found."""

    def __init__(self, given: Any, home: Path) -> None:
        self.given, self.home = given, home
        self.databases = setting.start(home)
        self.seen: dict[str, list[str]] = defaultdict(list)
        self.reached: Counter[str] = Counter()
        self.states: Counter[str] = Counter()
        self.seconds: Counter[str] = Counter()
        self.n_acts, self.simulated = 0, 0.0

    def again(self, run: Run) -> Run:
        """Live a run, which is shortened."""
        return live(run, self.databases, self.home)

    def run(self) -> int:
        """Live all seeds; return 1 when something was found."""
        began = REAL_SECONDS()
        asked = [
            Run(protocol, seed, [*range(self.given.acts)])
            for seed in numbers(self.given.seeds)
            for protocol in protocols(self.given.protocol)
        ]

        def lived(run: Run) -> Run | None:
            is_over = self.given.seconds and REAL_SECONDS() - began > self.given.seconds
            if is_over or (self.given.stop and self.seen):
                return None
            return live(run, self.databases, self.home, keep_rows=self.given.twice)

        with ThreadPoolExecutor(self.given.processes) as threads:
            for run in threads.map(lived, asked):
                if run:
                    self.note(run)
        self.sum_up(REAL_SECONDS() - began)
        is_long = (self.given.seconds or 0) >= LONG_SECONDS and not self.given.protocol
        return 1 if self.seen or (is_long and self.missed()) else 0

    def missed(self) -> list[str]:
        """Return what was never reached or seen."""
        reached = {name for name, number in self.reached.items() if number}
        states = {name for name, number in self.states.items() if number}
        return [*unreached(reached), *unseen(states)]

    def note(self, run: Run) -> None:
        """Print what a run found, and count it."""
        self.n_acts += run.counted.total()
        self.simulated += run.simulated
        self.reached += run.reached
        self.states += run.seen
        self.seconds.update(run.seconds)
        print(f"{run.protocol} {run.seed}: {run.digest} {run.found}", flush=True)
        if self.given.show:
            print(*run.told, sep="\n")
        if self.given.twice:
            self.compare(
                run,
                live(
                    Run(run.protocol, run.seed, run.acts), self.databases, self.home, keep_rows=True
                ),
            )
        for finding in run.found:
            kind = kind_of_finding(finding)
            self.seen[kind].append(f"{run.protocol}:{run.seed}")
            if self.given.shorten and len(self.seen[kind]) == 1:
                short = shorten(run, kind, self.again, self.given.patience)
                print(f"  {finding}\n  in {len(short.acts)} of {len(run.acts)} acts:")
                print(*(f"    {line}" for line in short.told), sep="\n", flush=True)

    def compare(self, one: Run, other: Run) -> None:
        """Print where two runs of a seed differ."""
        equal = one.digest == other.digest
        print(f"  again: {other.digest}, {'equal' if equal else 'DIFFERENT'}")
        for mine, theirs in zip(one.told, other.told, strict=False):
            if mine != theirs:
                print("  first difference:", mine, "|", theirs)
                break
        for table, rows in one.rows.items():
            for mine, theirs in zip(rows, other.rows[table], strict=False):
                if mine != theirs:
                    print(f"  {table}: {mine[:400]}\n  now {theirs[:400]}")
                    break
        if not equal:
            self.seen["two runs of a seed differ"].append(f"{one.protocol}:{one.seed}")

    def sum_up(self, spent: float) -> None:
        """Print how fast it was, and each finding with its seeds."""
        print(
            f"{self.n_acts} acts in {spent:.0f} s: {self.n_acts / spent:.1f} acts a second, "
            f"{self.simulated / spent / 3600:.1f} simulated hours a second"
        )
        print(f"{self.n_acts / self.seconds['CPU']:.1f} acts a second of CPU time")
        print({name: round(seconds, 1) for name, seconds in self.seconds.most_common()})
        print(dict(self.states.most_common()))
        print("Never reached or seen:", ", ".join(self.missed()))
        for kind, seeds in sorted(self.seen.items(), key=lambda one: -len(one[1])):
            print(f"{len(seeds):4} {kind}: {seeds[:8]}")


if __name__ == "__main__":
    sys.exit(main())
