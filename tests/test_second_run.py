"""A second site on one home is refused and changes nothing; one that was killed holds nothing."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.serving import ROOT, free_port, serving


def test_a_second_run_on_another_port_changes_nothing_and_after_a_kill_the_home_is_free(
    tmp_path: Path,
) -> None:
    with serving(tmp_path) as instance:
        kept = {name: (tmp_path / name).read_text() for name in ("addresses", "served")}
        other = {**instance.environment, "PORT": str(free_port())}
        second = subprocess.run(
            [sys.executable, "manage.py", "run"],
            env={**os.environ, **other},
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert second.returncode == 1
        holder, address, _ = kept["served"].split()
        assert f"is served by process {holder} at {address} already" in second.stderr
        assert address == f"http://localhost:{instance.environment['PORT']}"
        assert len(second.stderr.splitlines()) == 1
        assert {name: (tmp_path / name).read_text() for name in kept} == kept
        instance.stop(signal.SIGKILL)
        instance.start()
