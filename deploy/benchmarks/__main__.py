"""Runs every benchmark, or those named: python -m deploy.benchmarks [--peers] [ingest pages …]."""

import importlib
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# What the benchmarks share is no benchmark itself.
SHARED = {
    *("__init__", "__main__", "serving", "hello", "work", "posted", "stored", "peers", "otree"),
    *("bare", "bare_talk", "waiting"),
}
# Other people's programs are installed and measured too; see peers.py.
PEERS = "--peers"


def main(chosen: list[str]) -> int:
    """Run the chosen benchmarks, each of which prints its own table."""
    chosen = [name for name in chosen if name != PEERS]
    known = sorted({path.stem for path in HERE.glob("*.py")} - SHARED)
    unknown = set(chosen) - set(known)
    if unknown:
        print(f"There is no benchmark {', '.join(sorted(unknown))}. Known: {', '.join(known)}.")
        return 2
    for name in chosen or known:
        importlib.import_module(f"deploy.benchmarks.{name}").main()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
