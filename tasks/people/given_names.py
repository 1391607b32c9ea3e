"""What requesters call their own people: on the requester's pages alone, never in a release."""

import re
from collections.abc import Iterable
from datetime import datetime

from django.db import transaction

from common.actions import ActionError
from tasks.models import GivenName, Identity, Worker
from tasks.people.identity import worker_known_as
from tasks.people.trusted import called

LONGEST_NAME = 80


def name_worker(worker: Worker, name: str) -> None:
    """Note what a worker is called, or forget it where the name is blank.

    Raises ActionError for a name that is too long, and for somebody who was forgotten.
    """
    name = " ".join(name.split())
    if len(name) > LONGEST_NAME:
        raise ActionError(f"A name has at most {LONGEST_NAME} characters: shorten {name[:20]}….")
    with transaction.atomic():
        # Erasure has the same lock: no name comes after it.
        Worker.objects.select_for_update().get(pk=worker.pk)
        if not is_known(worker):
            raise ActionError("This person has been forgotten: nobody can name them any more.")
        if name:
            GivenName.objects.update_or_create(worker=worker, defaults={"name": name})
        else:
            GivenName.objects.filter(worker=worker).delete()


def is_known(worker: Worker) -> bool:
    """Return whether it is known here who a worker is: nobody knows it of those who are erased."""
    return Identity.objects.filter(worker=worker).exists()


def name_people(lines: Iterable[str], now: datetime) -> int:
    """Note the names of people who are known by their worker ids; return how many lines there were.

    lines: a worker id and a name each, parted by spaces, a comma or a tab; without a name it is
    forgotten. Raises ActionError, and notes nothing, where the marketplace does not know an id, a
    name is too long, or there is no line; raises MarketplaceError. Expects no transaction.
    """
    parted = [re.split(r"[\s,;]+", line.strip(), maxsplit=1) for line in lines if line.strip()]
    if not parted:
        raise ActionError("Write a line for each person: their worker id, then the name.")
    people = called([person for person, *_ in parted])
    with transaction.atomic():
        # In one order, whoever writes them down: two lists at once wait for each other once.
        for person, *name in sorted(parted, key=lambda line: people[line[0]]):
            name_worker(worker_known_as(people[person], now), *name or [""])
    return len(parted)
