"""The assignment log: who took which bundle of work, in which order, and how it ended."""

import json
from collections.abc import Iterator
from datetime import datetime

from annotation.release.pseudonyms import pseudonym
from collector.models import Collection
from tasks.models import Lease

FILE = "assignments.jsonl"


def assignment_lines(collection: Collection) -> Iterator[bytes]:
    """Yield one JSON line per assignment, in the order in which they were taken.

    Times are seconds since the first assignment, so that the log holds no date. People who have
    withdrawn are left out.
    """
    first: datetime | None = None
    leases = (
        Lease.objects.filter(unit__stage__collection=collection, worker__withdrawn_at__isnull=True)
        .select_related("unit__stage", "worker", "instructions", "consent_text")
        .order_by("taken_at", "id")
    )
    for number, lease in enumerate(leases.iterator(), start=1):
        first = first or lease.taken_at
        line = {
            "assignment": number,
            "stage": lease.unit.stage.name,
            "unit": lease.unit.position,
            "worker": pseudonym(collection.pseudonym_key, lease.worker_id),
            "taken": _seconds(first, lease.taken_at),
            "ended": _seconds(first, lease.closed_at),
            "end": lease.state,
            "instructions_version": lease.instructions.version if lease.instructions else None,
            "consent_version": lease.consent_text.version if lease.consent_text else None,
            "synthetic": lease.worker.synthetic,
        }
        yield json.dumps(line).encode() + b"\n"


def _seconds(first: datetime, moment: datetime | None) -> float | None:
    return None if moment is None else round((moment - first).total_seconds(), 3)
