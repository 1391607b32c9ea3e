"""What requesters call their own people: on the requester's pages alone, never in a release."""

import re
from collections.abc import Iterable
from datetime import datetime

from django.db import transaction

from common.actions import ActionError
from tasks.models import GivenName, Worker
from tasks.people.identity import worker_known_as
from tasks.people.trusted import called

LONGEST_NAME = 80


def name_worker(worker: Worker, name: str) -> None:
    """Note what a worker is called, or forget it where the name is blank.

    Raises ActionError for a name that is too long.
    """
    name = " ".join(name.split())
    if len(name) > LONGEST_NAME:
        raise ActionError(f"A name has at most {LONGEST_NAME} characters: shorten {name[:20]}….")
    if name:
        GivenName.objects.update_or_create(worker=worker, defaults={"name": name})
    else:
        GivenName.objects.filter(worker=worker).delete()


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
        for person, *name in parted:
            name_worker(worker_known_as(people[person], now), *name or [""])
    return len(parted)
