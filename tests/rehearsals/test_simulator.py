"""An hour of random lives with fresh seeds, on the database of the rehearsals."""

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
