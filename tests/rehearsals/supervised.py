"""Keeps services running as a machine's supervisor does: one that ends is started again.

A process of its own, until it is terminated: `python -m tests.rehearsals.supervised JSON`, the
command of each service by its name.
"""

import json
import subprocess
import sys
from functools import partial

from collector.serving.supervision import Supervisor


def main(commands: dict[str, list[str]]) -> int:
    """Return 0 when all were asked to stop, 1 where one cannot run."""
    failed = Supervisor(lambda line: print(line, flush=True)).run(
        {
            name: partial(subprocess.Popen, command, start_new_session=True)
            for name, command in commands.items()
        }
    )
    print(f"{failed} cannot run" if failed else "Stopped.", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
