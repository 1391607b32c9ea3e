"""An hour of random lives with fresh seeds, and half an hour of threads at real processes."""

import os
import subprocess
import sys
import time

SHARE = float(os.environ.get("REHEARSAL_SHARE", "1"))


def test_nothing_that_was_promised_is_broken_in_an_hour() -> None:
    first = int(time.time())
    command = [sys.executable, "-m", "tests.simulator", "--seeds", f"{first}:{first + 100_000}"]
    command += ["--acts", "150", "--seconds", str(3600 * SHARE), "--shorten"]
    print(f"The first seed is {first}.")
    done = subprocess.run(command, stdout=sys.stdout, stderr=sys.stderr)
    assert done.returncode == 0


def test_the_same_holds_where_threads_of_people_act_at_real_processes_for_half_an_hour() -> None:
    command = [sys.executable, "-m", "tests.simulator.threads", "--seed", str(int(time.time()))]
    command += ["--seconds", str(1800 * SHARE)]
    done = subprocess.run(command, stdout=sys.stdout, stderr=sys.stderr)
    assert done.returncode == 0
