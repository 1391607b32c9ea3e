"""Rehearses a copy of a collection in a home of its own, and ends with the process that began it.

python -m annotation.rehearsal FOLDER, with COLLECTOR_HOME inside the folder and nothing that leads
to another database, marketplace or broker: reads work.json and copy.jsonl there, keeps
progress.json up to date, writes findings.json and pages.jsonl at the end.
"""

import json
import shutil
import sys
from pathlib import Path

from common.watched_process import REFUSED, Progress, end_with_parent

MOST_TRIES = 20
WORK, COPY, FINDINGS, PAGES = "work.json", "copy.jsonl", "findings.json", "pages.jsonl"


def main(folder: Path) -> None:
    """Do the work that the folder describes; raises ActionError and others in one line."""
    from annotation.rehearsal.walk import walk

    work = json.loads((folder / WORK).read_text("utf-8"))
    progress = Progress(folder)
    findings, pages = walk(
        folder / COPY,
        n_workers=work["n_workers"],
        most_seconds=work["most_seconds"],
        tell=lambda step, share: progress(step, round(1000 * share), 1000),
    )
    lines = (json.dumps(page, ensure_ascii=False) for page in pages)
    (folder / PAGES).write_text("\n".join(lines), "utf-8")
    (folder / FINDINGS).write_text(json.dumps(findings, ensure_ascii=False), "utf-8")


def throw_away(folder: Path) -> None:
    """Remove the folder, though other threads still write in it."""
    for _ in range(MOST_TRIES):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return


if __name__ == "__main__":
    here = Path(sys.argv[1])
    # Nobody is left to throw the copy away then.
    end_with_parent(lambda: throw_away(here))
    import django

    django.setup()
    from collector.protocols.loading import ProtocolError
    from common.actions import ActionError
    from tasks.crowd.requester_api import MarketplaceError
    from tasks.simulation.browser import StuckError, UnreachableError

    try:
        main(here)
    except (ProtocolError, ActionError, MarketplaceError, UnreachableError, StuckError) as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        sys.exit(REFUSED)
