"""Random lives of collections, by fixed seeds: nothing that was promised is broken.

A rehearsal lives on for an hour with fresh seeds. See tests/simulator/acts.py for what can happen,
truths.py for what must be true; what is found is printed with its seed and the fewest acts.
"""

import os
import subprocess
import sys

from tests.simulator import reach

SEEDS, ACTS = "1:1", "40"


def test_nothing_that_was_promised_is_broken_in_lives_by_fixed_seeds() -> None:
    command = [sys.executable, "-m", "tests.simulator", "--seeds", SEEDS, "--acts", ACTS]
    environment = {**os.environ, "DATABASE_URL": "", "MARKETPLACE_DATABASE_URL": ""}
    done = subprocess.run([*command, "--shorten"], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_state_that_no_run_has_seen_is_named() -> None:
    unseen = reach.unseen({"sent twice", "a release after a withdrawal"})
    assert {"a partner report decided", "a dialog between two processes"} <= {*unseen}
    assert not {"sent twice", "a release after a withdrawal"} & {*unseen}
