"""Other people's programs, as references: installed apart, in a folder that is thrown away."""

import subprocess
import sys

from deploy.benchmarks.serving import ROOT

HOME = ROOT / "var" / "peers"
PINNED = {
    "otree": ("otree==6.0.15", "psycopg2-binary==2.9.13"),
    "wikiextractor": ("wikiextractor==3.1.0",),
}


def peer(name: str) -> str | None:
    """Return the Python that has the peer `name`, installed now if it was not before.

    None, and one line that says why, where it is not asked for or cannot be had.
    """
    if "--peers" not in sys.argv:
        print(f"{name} is left out: add --peers to install it and measure it too.")
        return None
    folder = HOME / name
    python = str(folder / "bin" / "python")
    marker = folder / "installed"
    if marker.exists() and marker.read_text() == " ".join(PINNED[name]):
        return python
    try:
        for command in (
            [sys.executable, "-m", "venv", "--clear", str(folder)],
            [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *PINNED[name]],
        ):
            subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        print(f"{name} is left out: it cannot be installed here, perhaps for lack of network.")
        return None
    marker.write_text(" ".join(PINNED[name]))
    return python
