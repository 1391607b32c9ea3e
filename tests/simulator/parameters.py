"""Random parameters: what is accepted runs to a release, what is not is refused in a sentence.

    .venv/bin/python -m tests.simulator.parameters --number 200 --seed 1

Each trial changes some of a protocol's parameters to what is near them and at the edges of what is
accepted; simulated workers do all there is to do, and then a release with questions must be there.
"""

import argparse
import os
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

if os.environ.get("PYTHONHASHSEED") != "0":
    os.environ["PYTHONHASHSEED"] = "0"
    os.execv(sys.executable, [sys.executable, "-m", "tests.simulator.parameters", *sys.argv[1:]])

from tests.simulator import machine

machine.substitute()

from tests.simulator import runs, setting, worlds  # noqa: E402
from tests.simulator.machine import REAL_SECONDS  # noqa: E402

# What everybody is given before it is over, in looks around of all people.
MOST_ROUNDS = 14
# Where all that there are have written about a paragraph, nobody is left to answer.
NEWCOMERS, NEWCOMERS_AT = ("olga", "peter"), 3
EDGES = (0, 1, 2, 3, 5, 100, -1, 10**6, 10**12)


def leaves(table: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the dotted name and the value of every parameter."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{before}{name}.")
        elif before:
            yield f"{before}{name}", value


def drawn(protocol: str, rng: random.Random) -> dict[str, Any]:
    """Return what is changed of a protocol's parameters."""
    from collector.protocols.loading import get_protocol

    own = get_protocol(protocol).parameters({}).model_dump(mode="json")
    known = [one for one in leaves(own) if not one[0].startswith(("protocol.", "report."))]
    chosen = rng.sample(known, rng.choice((1, 1, 2, 3, 6)))
    return {name: other(value, rng) for name, value in chosen}


def other(value: Any, rng: random.Random) -> Any:
    """Return a value that is near another, or at an edge."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        near = [value - 1, value + 1, 2 * value, value / 2, value]
        found = rng.choice([*near, *EDGES])
        return int(found) if isinstance(value, int) else float(found)
    if isinstance(value, list):
        return rng.choice([[], value[:1], [*value, *value], [other(one, rng) for one in value]])
    return rng.choice(["", value, f"{value} "]) if isinstance(value, str) else value


class Trial(runs.Living):
    """A collection with these parameters, and simulated workers until there is nothing to do."""

    def live(self) -> None:
        """Create it, let everybody work, and make a release of it."""
        from django.db import transaction

        from annotation.models import Verdict
        from collector.protocols.loading import ProtocolError
        from common.actions import ActionError
        from marketplace.tests.visitor import Visitor
        from tests.simulator.acts import NEVER, OWN
        from tests.simulator.forms import forms_of
        from tests.simulator.life import Life

        also = drawn(self.run.protocol, random.Random(f"{self.run.seed}:also"))
        self.run.told.append(f"{also}")
        # Before there are processes: most files are refused.
        try:
            with transaction.atomic():
                worlds.create(self.run.protocol, self.run.seed, also)
                transaction.set_rollback(True)
        except (ProtocolError, ActionError) as refused:
            self.run.seen["refused"] += 1
            self.run.told.append(str(refused))
            return
        self.databases.use(self.name)
        self.begin(lambda: Life(self.run.protocol, self.run.seed, self.home, also))
        for form in forms_of(self.life.browsers[0], f"{OWN}publish/", random.Random(0), NEVER)[0]:
            form.send()
        for at in range(1, MOST_ROUNDS):
            if at == NEWCOMERS_AT:
                self.life.workers += [Visitor(name) for name in NEWCOMERS]
            told = self.act(f"{at}", "crowd", random.Random(f"{self.run.seed}:{at}"))
            self.run.told.append(told)
            for name in ("talk", "let_in"):
                self.act(f"{at}.{name}", name, random.Random(f"{self.run.seed}:{at}:{name}"))
            self.life.advance(7200)
            if at > NEWCOMERS_AT + 2 and not re.search(r"\[200", told):
                break
        self.quiet()
        self.note("quiet", self.truths.always())
        self.note("quiet", self.truths.a_release_can_be_made())
        # HotpotQA's waits for readers, which nobody trains here.
        is_kept = Verdict.objects.filter(outcome="kept").exists()
        is_good = self.life.seen["a release"] or is_kept
        self.run.seen["released" if is_good else "nothing released"] += 1


def main() -> int:
    """Return 0 when everything was refused or released."""
    parser = argparse.ArgumentParser(prog="tests.simulator.parameters", description=__doc__)
    parser.add_argument("--number", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--protocol", default="")
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    with setting.folder() as home:
        databases = setting.start(home)
        names = runs.protocols(given.protocol)
        asked = [
            runs.Run(names[at % len(names)], given.seed * 1_000_000 + at, [])
            for at in range(given.number)
        ]
        counted: Counter[str] = Counter()
        n_wrong, began = 0, REAL_SECONDS()
        with ThreadPoolExecutor(given.processes) as threads:
            tried = threads.map(lambda run: runs.live(run, databases, home, living=Trial), asked)
            for run in tried:
                counted += run.seen
                if run.found or run.seen["nothing released"]:
                    n_wrong += 1
                    print(run.protocol, run.seed, *run.told[:2], *run.found, sep="\n  ", flush=True)
        print(f"{dict(counted)} in {REAL_SECONDS() - began:.0f} s")
        return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
