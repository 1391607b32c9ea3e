"""What a requester calls a worker: a number within the collection, and the name they gave it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Min

from collector.models import Collection
from tasks.models import Lease

NOBODY = "Someone outside"


@dataclass(frozen=True)
class People:
    """Workers are numbered in the order in which they first took work; a number never changes.

    given: what requesters call their own people, by worker.
    """

    numbers: Mapping[str, int]
    given: Mapping[str, str]

    def name(self, worker_id: str | None) -> str:
        """Return what to call the worker; imported work has nobody of ours behind it."""
        number = self.numbers.get(worker_id or "")
        given = self.given.get(worker_id or "")
        numbered = f"Worker {number}" if number else NOBODY
        return f"{given} ({numbered})" if given else numbered

    def number(self, worker_id: str | None) -> int | None:
        """Return the worker's number, None for one who never took work here."""
        return self.numbers.get(worker_id or "")

    def called(self, words: str) -> list[str]:
        """Return the workers whom the words fit, a part of a name or a number's, by internal id."""
        return [worker for worker in self.numbers if is_called(self.name(worker), words)]

    def worker(self, number: int) -> str | None:
        """Return the worker's internal id by their number, None when nobody has it."""
        return next((worker for worker, given in self.numbers.items() if given == number), None)


def is_called(who: str, words: str) -> bool:
    """Return whether the words that a requester looks for stand in what a worker is called.

    A number is found as a whole: 1 is not a part of 10.
    """
    pattern = re.escape(words.casefold())
    if words[:1].isdecimal():
        pattern = rf"(?<!\d){pattern}"
    if words[-1:].isdecimal():
        pattern += r"(?!\d)"
    return re.search(pattern, who.casefold()) is not None


def people_of(collection: Collection) -> People:
    """Return everybody who ever took work of the collection; one query."""
    first = (
        Lease.objects.filter(unit__stage__collection=collection)
        .values_list("worker_id", "worker__given_name__name")
        .annotate(first=Min("id"))
        .order_by("first")
    )
    given = {worker: name for worker, name, _ in first if name}
    return People({worker: number for number, (worker, *_) in enumerate(first, start=1)}, given)
