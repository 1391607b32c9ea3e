"""Memory of the process of live dialogs while one dialog follows another, for as long as is asked.

PAIRS=500 MODES=embedded,two CUT_SECONDS=5 MEASURED_SECONDS=1800 choose what is run.
"""

import math
import os
import statistics
import tempfile
import time
from pathlib import Path

from deploy.benchmarks.dialogs import (
    ARRIVALS_PER_SECOND,
    EVERY_SECONDS,
    environment_of,
    laid_out,
    outcome,
    served,
    wait_for_talk,
)
from deploy.benchmarks.serving import Served
from tests import services
from tests.rehearsals.dialog_crowds import Crowd, Plan, percentile
from tests.rehearsals.dialogs import HERE
from tests.serving import Instance

LEVELS = [int(pairs) for pairs in os.environ.get("PAIRS", "50").split(",")]
MODES = os.environ.get("MODES", "embedded").split(",")
CUT_SECONDS = float(os.environ.get("CUT_SECONDS", "5"))
MEASURED_SECONDS = float(os.environ.get("MEASURED_SECONDS", "240"))
# QuAC, table 2: 7.2 questions a dialog.
QUESTIONS = 7
# A pair is through with one in no less on average, so that enough people come.
DIALOG_SECONDS = QUESTIONS * 2 * EVERY_SECONDS
# What a process keeps of the last tickets and sections is full after so many dialogs at most.
WARM_DIALOGS = 1_200
SAMPLE_SECONDS = 5.0
LEAD_SECONDS = 4.0
MINUTE = 60.0


def main() -> None:
    """Print the memory each minute, and by how much it grows a minute once caches are full."""
    with services.redis() as redis, services.postgresql() as server:
        for mode in MODES:
            for n_pairs in LEVELS:
                _print(mode, n_pairs, redis, server)


def _print(mode: str, n_pairs: int, redis: str, server: str) -> None:
    arriving = 2 * n_pairs / ARRIVALS_PER_SECOND
    warm = max(MINUTE, WARM_DIALOGS / n_pairs * DIALOG_SECONDS)
    rounds = math.ceil((arriving + warm + MEASURED_SECONDS + 2 * MINUTE) / DIALOG_SECONDS)
    people = 2 * n_pairs * rounds
    with tempfile.TemporaryDirectory() as folder:
        environment = environment_of(mode, folder, redis, server)
        # People are new each time, so that a section does for many dialogs.
        often = dict.fromkeys(("train", "dev", "test"), rounds)
        short = {"dialog.max_questions": QUESTIONS, "dialog.redundancy": often}
        tokens = laid_out(environment, people, n_pairs + 2, short)
        instance = Instance(Path(folder), services.free_port(), environment)
        with served("collector.asgi:live", mode, environment) as (site, address, origin):
            plan = Plan(
                address,
                origin,
                time.time() + LEAD_SECONDS,
                ARRIVALS_PER_SECOND,
                every_seconds=EVERY_SECONDS,
                cut_seconds=CUT_SECONDS,
                at_once=2 * n_pairs,
            )
            crowd = Crowd(instance, tokens, plan)
            try:
                time.sleep(LEAD_SECONDS + arriving)
                wait_for_talk(instance, int(0.8 * n_pairs))
                print(f"{mode}, {n_pairs} pairs, warming up for {warm:.0f} s", flush=True)
                _sampled(site, instance, warm)
                start = time.time()
                samples = _sampled(site, instance, MEASURED_SECONDS)
                found = outcome(instance, crowd, start, time.time())
                dialogs = instance.call(f"{HERE}:pairs")["dialogs"]
            finally:
                crowd.stop()
                instance.close()
    print(
        f"{_growth(samples):+.2f} MB a minute; {found.n_messages} messages in {dialogs} dialogs, "
        f"{found.n_cuts} cuts, {found.lost} lost, {found.doubled} doubled, "
        f"95 of 100 within {percentile(found.ways, 0.95) * 1000:.0f} ms",
        flush=True,
    )


def _sampled(site: Served, instance: Instance, seconds: float) -> list[tuple[float, float]]:
    """Return the minute and the MB of each sample; the median of each minute is printed."""
    began, samples, shown = time.time(), list[tuple[float, float]](), 1
    while (passed := time.time() - began) < seconds:
        samples.append((passed / MINUTE, site.memory_mb()))
        if passed >= shown * MINUTE:
            last = [size for at, size in samples if at >= shown - 1]
            print(f"{shown:6} min {statistics.median(last):8.1f} MB", flush=True)
            shown += 1
        # Those who missed each other are found by the clock, which is not running here.
        instance.call(f"{HERE}:sweep")
        time.sleep(SAMPLE_SECONDS)
    return samples


def _growth(samples: list[tuple[float, float]]) -> float:
    """Return the slope of the line through the samples, in MB a minute."""
    return statistics.linear_regression(*zip(*samples, strict=True)).slope


if __name__ == "__main__":
    main()
