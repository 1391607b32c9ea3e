"""The requester's own people: what they are called, and who is let in without the test."""

import re
from collections.abc import Iterable
from datetime import datetime

from django.db import transaction
from django.db.models import Case, Value, When

from collector.models import Collection, Stage
from collector.protocols.creation import parameters_of
from common.actions import ActionError
from tasks.crowd import groups
from tasks.models import GivenName, Grant, GrantState, Identity, Qualification, Worker
from tasks.people import eligibility, qualifications
from tasks.people.entry import worker_known_as
from tasks.work import due_work

NO_QUALIFICATION = "This collection has no qualification: everybody may take its work."
LONGEST_LIST = 500
# What a worker reads who is let in no longer.
MAY_TEST = "You may take the test."
TESTED = "You are no longer let in without the test."
LONGEST_NAME = 80


def qualifying(collection: Collection, name: str = "") -> list[Stage]:
    """Return the collection's qualification stages, or the one named.

    Raises ActionError where there is none, or none of this name.
    """
    tables = parameters_of(collection).stages()
    rows = collection.stages.select_related("collection")
    found = [stage for stage in rows if tables[stage.name].qualifies]
    if not found:
        raise ActionError(NO_QUALIFICATION)
    if name and name not in [stage.name for stage in found]:
        known = " and ".join(stage.name for stage in found)
        raise ActionError(f"{name!r} is no qualification of this collection: it has {known}.")
    return [stage for stage in found if name in ("", stage.name)]


def people_named(names: Iterable[str], group_names: Iterable[str] = ()) -> list[str]:
    """Return what the marketplace calls these people and everybody in these groups, each once.

    Raises ActionError that names who or what is unknown there, MarketplaceError when it does not
    answer. Expects no transaction.
    """
    wanted = list(dict.fromkeys(name for name in names if name))
    check_groups(chosen := list(group_names))
    found = {person for group in groups.named(chosen) for person in groups.members(group)}
    if chosen and not found and not wanted:
        raise ActionError("Nobody is in that group yet.")
    if wanted:
        found |= set(called(wanted).values())
    return sorted(found)


def called(names: list[str]) -> dict[str, str]:
    """Return what the marketplace calls people, by how they are named here.

    Raises ActionError for too many, or naming who is unknown there, and MarketplaceError when it
    does not answer. Expects no transaction.
    """
    if len(names) > LONGEST_LIST:
        raise ActionError(f"Name {LONGEST_LIST} people at most at a time, or a group.")
    found = groups.known_as(names)
    if strangers := [name[:80] for name, person in found.items() if not person]:
        raise ActionError(f"The marketplace knows nobody called {', '.join(strangers)}.")
    return found


def check_groups(names: list[str]) -> None:
    """Raise ActionError with the groups there are, if one of `names` is none of the marketplace's.

    Raises MarketplaceError when it does not answer.
    """
    if not names:
        return
    known = [group.name for group in groups.listed()]
    if missing := [name for name in names if name not in known]:
        there = f"Its groups are {', '.join(known)}" if known else "It has no groups"
        named = ", ".join(missing)
        raise ActionError(
            f"The marketplace has no group called {named}. {there}: its host decides."
        )


def let_in(
    collection: Collection, stages: Iterable[Stage], people: Iterable[str], by: str, now: datetime
) -> int:
    """Grant the stages' qualifications to people without a test; returns how many people are new.

    Who and when is kept with each grant, and the marketplace is told in the next round. Whoever has
    handed the test in is let in like the others, whether it was read, declined or neither.
    """
    stages = list(stages)
    with transaction.atomic():
        workers = [worker_known_as(person, now) for person in people]
        new = {worker.pk for stage in stages for worker in _let_in(stage, workers, by, now)}
    # The test itself is not offered to people who need none.
    eligibility.record_eligibility(workers, stages)
    due_work.wake(collection.pk)
    return len(new)


def _let_in(stage: Stage, workers: list[Worker], by: str, now: datetime) -> list[Worker]:
    qualification, _ = Qualification.objects.get_or_create(stage=stage)
    granted = {"state": GrantState.GRANTED, "is_let_in": True, "decided_by": by}
    granted |= {"decided_at": now, "note": ""}
    new = []
    for worker in workers:
        grant, made = Grant.objects.get_or_create(
            qualification=qualification, worker=worker, defaults=granted
        )
        others = Grant.objects.filter(pk=grant.pk).exclude(state=GrantState.GRANTED)
        if made or others.update(**granted):
            new.append(worker)
    return new


def take_back(collection: Collection, grants: Iterable[Grant], by: str, now: datetime) -> int:
    """Take back that people were let in; returns how many grants that was.

    They may take the test like anybody then, or are judged anew by the one they have handed in;
    what they hold they may finish.
    """
    rows = qualifications.trusted_grants(collection).filter(state=GrantState.GRANTED)
    rows = rows.filter(pk__in=[grant.pk for grant in grants])
    found = list(rows.select_related("worker", "qualification__stage__collection"))
    note = Case(When(submitted_at=None, then=Value(MAY_TEST)), default=Value(TESTED))
    done = rows.update(state=GrantState.DECLINED, note=note, decided_by=by, decided_at=now)
    for grant in found:
        eligibility.record_eligibility([grant.worker], [grant.qualification.stage])
    due_work.wake(collection.pk)
    return done


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
        # In one order, so that two lists at once wait for each other once.
        for person, *name in sorted(parted, key=lambda line: people[line[0]]):
            name_worker(worker_known_as(people[person], now), *name or [""])
    return len(parted)
