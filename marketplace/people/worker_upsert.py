"""The workers that a part of a file names: read at once, changed in memory, written at once."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from marketplace.models import (
    QualificationGrant,
    QualificationType,
    Worker,
    WorkerGroup,
    WorkerProfile,
)
from marketplace.people.groups import group_name, make_group
from marketplace.people.old_ids import forget_name, take_place
from marketplace.people.qualifications.grants import grant_all
from marketplace.people.roster import KEYS, Person

PROFILE = {
    "mail": "mail",
    "mturk_id": "mturk_id",
    "prolific_id": "prolific_id",
    "notes": "notes",
    "approved_before": "n_approved_before",
    "percent_approved_before": "percent_approved_before",
}
OWN = {
    "name": "display_name",
    "language": "language",
    "country": "country",
    "subdivision": "subdivision",
}


@dataclass(eq=False)
class Entry:
    """A worker as they are, or will be once the book is kept."""

    worker: Worker
    profile: WorkerProfile
    # Scores by the key of the qualification type.
    scores: dict[int, int] = field(default_factory=dict)
    is_changed: bool = False

    def now_in(self, column: str) -> str:
        """Return what stands here for a column of the file, empty for nothing."""
        value = (
            getattr(self.worker, OWN[column])
            if column in OWN
            else getattr(self.profile, PROFILE[column])
        )
        return "" if value is None else str(value)


class WorkerUpsert:
    """Everybody whom these rows may mean; expects a transaction, and holds their locks in it."""

    def __init__(self, people: list[Person], now: datetime) -> None:
        self.now = now
        self._by_key: dict[tuple[str, str], list[Entry]] = {}
        self._entries: dict[int, Entry] = {}
        self._opened: list[Entry] = []
        self._given: dict[tuple[int, Entry], tuple[QualificationType, int]] = {}
        self._read_workers(people)
        self._read_types({name for person in people for name in person.scores})

    def _read_workers(self, people: list[Person]) -> None:
        keys: set[int] = set()
        for column in KEYS:
            wanted = {one.values[column] for one in people if column in one.values}
            path = column if column == "worker_id" else f"profile__{column}"
            found = Worker.objects.filter(**{f"{path}__in": wanted})
            keys.update(found.values_list("pk", flat=True))
        # In one order, so that two imports wait for one another and do not cross.
        named = Worker.objects.select_for_update(of=("self",)).filter(pk__in=keys).order_by("pk")
        rows = {row.pk: row for row in named.select_related("profile", "merged_into__profile")}
        for row in rows.values():
            self._enter(row)
        grants: Any = QualificationGrant.objects.filter(worker__in=self._entries, is_revoked=False)
        for key, kind, value in grants.values_list("worker", "qualification_type", "integer_value"):
            self._entries[key].scores[kind] = value

    def _enter(self, row: Worker) -> None:
        """Enter a worker; a second account's keys name the one that it was merged into."""
        kept = row.merged_into or row
        profile = getattr(kept, "profile", None) or WorkerProfile(worker=kept)
        entry = self._entries.setdefault(kept.pk, Entry(kept, profile))
        own = getattr(row, "profile", None)
        self._name("worker_id", row.worker_id, entry)
        for column in KEYS[1:]:
            self._name(column, getattr(own, column, None) or "", entry)

    def _name(self, column: str, value: str, entry: Entry) -> None:
        if not value:
            return
        named = self._by_key.setdefault((column, value), [])
        if entry not in named:
            named.append(entry)

    def _read_types(self, names: set[str]) -> None:
        types = QualificationType.objects.filter(qualification_type_id__in=names, deleted_at=None)
        self._by_id = {row.qualification_type_id: row for row in types}
        rows = WorkerGroup.objects.filter(qualification_type__deleted_at=None)
        self._by_name = {
            row.qualification_type.name.casefold(): row.qualification_type
            for row in rows.select_related("qualification_type")
        }

    def found(self, person: Person) -> list[Entry]:
        """Return the workers that a row's keys name, the oldest first."""
        named = {
            entry
            for column in KEYS
            for entry in self._by_key.get((column, person.values.get(column, "")), ())
        }
        return sorted(named, key=lambda entry: entry.worker.pk or float("inf"))

    def type_named(self, name: str) -> QualificationType:
        """Return the type with this id, else the group of this name, made if there is none.

        Raises GroupError for a name that no group can have.
        """
        if name in self._by_id:
            return self._by_id[name]
        plain = group_name(name).casefold()
        if plain not in self._by_name:
            self._by_name[plain] = make_group(name, "", self.now).qualification_type
        return self._by_name[plain]

    def take_place(self, found: list[Entry]) -> list[Entry]:
        """Return those of the entries who are here; what waited for one that comes now is theirs.

        Of entries that name two accounts nothing changes.
        """
        here = [one for one in found if not one.worker.is_awaited]
        awaited = [one for one in found if one.worker.is_awaited]
        if len(here) != 1 or not here[0].worker.is_active or here[0].worker.is_simulated:
            return here if len(here) > 1 else found
        [entry] = here
        for one in awaited:
            take_place(entry.worker, str(one.profile.mturk_id), self.now)
            # Of the rest, what earlier rows say is not written yet.
            entry.profile.pk = WorkerProfile.objects.get(worker=entry.worker).pk
        return here

    def opened(self, name: str) -> Entry:
        """Return a new worker of this name."""
        worker = Worker(display_name=name, created_at=self.now)
        entry = Entry(worker, WorkerProfile(worker=worker))
        self._opened.append(entry)
        return entry

    def write(self, entry: Entry, person: Person) -> None:
        """Take over what a row says of a worker."""
        for column, value in person.values.items():
            if column == "worker_id" or entry.now_in(column) == value:
                continue
            entry.is_changed = True
            if column in KEYS:
                if before := entry.now_in(column):
                    self._by_key[column, before].remove(entry)
                if before and column == "mturk_id":
                    forget_name(entry.worker, value)
                self._name(column, value, entry)
            if column in OWN:
                setattr(entry.worker, OWN[column], value)
            else:
                number = int(value) if column.endswith("before") else value
                setattr(entry.profile, PROFILE[column], number)

    def give(self, entry: Entry, row: QualificationType, score: int) -> bool:
        """Give a qualification with this score; returns whether that changes anything."""
        if entry.scores.get(row.pk) == score:
            return False
        entry.scores[row.pk] = score
        self._given[row.pk, entry] = (row, score)
        return True

    def keep(self) -> None:
        """Write all of it, in a handful of statements."""
        Worker.objects.bulk_create([entry.worker for entry in self._opened])
        changed = [entry for entry in self._entries.values() if entry.is_changed]
        Worker.objects.bulk_create(
            [entry.worker for entry in changed],
            update_conflicts=True,
            unique_fields=["id"],
            update_fields=[*OWN.values(), "is_active", "is_awaited"],
        )
        profiles = [entry.profile for entry in [*self._opened, *changed]]
        for profile in profiles:
            profile.worker_id = profile.worker.pk
        WorkerProfile.objects.bulk_create([one for one in profiles if one.pk is None])
        WorkerProfile.objects.bulk_create(
            [one for one in profiles if one.pk is not None],
            update_conflicts=True,
            unique_fields=["id"],
            update_fields=list(PROFILE.values()),
        )
        grant_all(
            [(row, entry.worker, score) for (_, entry), (row, score) in self._given.items()],
            self.now,
        )
