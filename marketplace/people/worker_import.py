"""Imports a list of people as workers: read, planned, carried out; safe to repeat."""

import re
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.db import IntegrityError

from common.spreadsheet import Table, UploadError, read_table
from marketplace.models import (
    AuditEntry,
    QualificationGrant,
    QualificationType,
    Worker,
    WorkerGroup,
    WorkerProfile,
)
from marketplace.people.accounts import forget_name, take_place
from marketplace.people.grants import GroupError, grant_all, group_name, make_group
from marketplace.people.requirements import is_country, is_subdivision
from marketplace.router import atomic

# Our name of a column -> other spellings that people's files have.
SPELLINGS = {
    "name": {"display name", "worker", "student", "participant"},
    "mail": {"email", "e mail", "mail address", "email address"},
    "worker_id": {"own id"},
    "mturk_id": {"mturk", "mturk worker id", "workerid", "worker id", "old mturk id"},
    "prolific_id": {"prolific", "prolific pid", "participant id", "old prolific id"},
    "language": {"lang"},
    "country": set(),
    "qualifications": {"qualification", "groups", "group"},
    "notes": {"note", "comment", "comments"},
    "approved_before": {"hits approved", "approved"},
    "percent_approved_before": {"approval rate", "your lifetime approval rate"},
}
KEYS = ("worker_id", "mail", "mturk_id", "prolific_id")
COLUMNS = tuple(SPELLINGS)
MAIL = re.compile(r"[^@\s<>(),;:\\\"]+@[^@\s<>(),;:\\\"]+\.[^@\s<>(),;:\\\".]+")
MOST = {"approved_before": 10_000_000, "percent_approved_before": 100}
LONGEST = {"name": 80, "mail": 254, "mturk_id": 64, "prolific_id": 64, "notes": 5000}


@dataclass
class Person:
    """One row of the file; empty values say nothing. `problems` are sentences to mend it by."""

    row: int
    values: dict[str, str]
    # Name of a group, or id of a qualification type -> score.
    scores: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def people_in(table: Table) -> list[Person]:
    """Return a person for each row; raises UploadError when no known column says who they are."""
    columns = {name: _meaning(name) for name in table.columns}
    known = [meaning for meaning in columns.values() if meaning]
    if twice := sorted({name for name in known if known.count(name) > 1}):
        raise UploadError(f"Two columns mean {twice[0]}. Take one of them out.")
    if not set(known) & set(KEYS):
        raise UploadError(
            "No column says who is who: add mail, mturk_id or prolific_id, so that importing "
            "again finds the same people."
        )
    found = []
    first: dict[tuple[str, str], int] = {}
    for row, cells in table.lines:
        given = {
            meaning: cells[name].replace("\x00", "").strip()
            for name, meaning in columns.items()
            if meaning
        }
        person = Person(row, {name: value for name, value in given.items() if value})
        person.scores = _scores(person.values.pop("qualifications", ""), person.problems)
        _check(person)
        for key in KEYS:
            value = person.values.get(key, "")
            if value and (earlier := first.setdefault((key, value), row)) != row:
                person.problems.append(f"Row {earlier} has the same {key} already.")
        found.append(person)
    return found


def ignored_columns(table: Table) -> list[str]:
    """Return the columns of a file that mean nothing here, as they are written."""
    return [name for name in table.columns if not _meaning(name)]


def _meaning(column: str) -> str:
    plain = re.sub(r"[\s_-]+", " ", column).strip().lower()
    for name, others in SPELLINGS.items():
        if plain == name.replace("_", " ") or plain in others:
            return name
    return ""


def _check(person: Person) -> None:
    values, problems = person.values, person.problems
    if not any(values.get(key) for key in KEYS):
        problems.append("Give a mail address, an old MTurk id or an old Prolific id.")
    for name, longest in LONGEST.items():
        if len(values.get(name, "")) > longest:
            problems.append(f"The {name} is longer than {longest} characters.")
    if mail := values.get("mail"):
        values["mail"] = mail.lower()
        if not MAIL.fullmatch(mail):
            problems.append(f"“{mail}” is not a mail address.")
    if country := values.get("country"):
        values["country"], has_part, part = country.upper().partition("-")
        if not is_country(values["country"]):
            problems.append("Write the country as two letters, like DE or US.")
        elif has_part:
            values["subdivision"] = part
            if not is_subdivision(values["country"], part):
                problems.append("Write a part of a country by its code, like US-CA.")
    if language := values.get("language"):
        values["language"] = language.lower()[:8]
        if not re.fullmatch("[A-Za-z]{2}(-[A-Za-z]{2,4})?", language):
            problems.append("Write the language as two letters, like en or de.")
    for name, most in MOST.items():
        if given := values.get(name, "").rstrip("% "):
            number = re.fullmatch(r"(\d{1,8})(?:\.\d+)?", given)
            if number is None or int(number[1]) > most:
                problems.append(f"{name} has to be a whole number from 0 to {most}.")
            else:
                values[name] = number[1]


def _scores(text: str, problems: list[str]) -> dict[str, int]:
    """Return the scores of `Spring class; Reader=85`; a name without a score has 1."""
    found = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        name, has_score, score = part.rpartition("=")
        if not has_score:
            name, score = part, "1"
        if not name.strip() or not re.fullmatch(r"-?\d{1,9}", score.strip()):
            problems.append(f"Write “{part}” as a name, or as name=85 with a whole number.")
        else:
            found[name.strip()] = int(score)
    return found


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
            # A second account's keys name the one that it was merged into.
            kept = row.merged_into or row
            profile = getattr(kept, "profile", None) or WorkerProfile(worker=kept)
            entry = self._entries.setdefault(kept.pk, Entry(kept, profile))
            own = getattr(row, "profile", None)
            for column in KEYS:
                value = getattr(row if column == "worker_id" else own, column, None)
                self._name(column, value or "", entry)
        grants: Any = QualificationGrant.objects.filter(worker__in=self._entries, is_revoked=False)
        for key, kind, value in grants.values_list("worker", "qualification_type", "integer_value"):
            self._entries[key].scores[kind] = value
        names = {name for person in people for name in person.scores}
        types = QualificationType.objects.filter(qualification_type_id__in=names, deleted_at=None)
        self._by_id = {row.qualification_type_id: row for row in types}
        groups = WorkerGroup.objects.filter(qualification_type__deleted_at=None)
        self._by_name = {
            row.qualification_type.name.casefold(): row.qualification_type
            for row in groups.select_related("qualification_type")
        }

    def _name(self, column: str, value: str, entry: Entry) -> None:
        if value and entry not in (named := self._by_key.setdefault((column, value), [])):
            named.append(entry)

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


# One transaction's worth: a fraction of a second.
AT_ONCE = 1000
TRIES = 3
WORDS = {
    "name": "name",
    "mail": "mail address",
    "subdivision": "state or region",
    "mturk_id": "MTurk id",
    "prolific_id": "Prolific id",
    "approved_before": "approved HITs elsewhere",
    "percent_approved_before": "approval rate elsewhere",
}


class Outcome(StrEnum):
    """What becomes of one row."""

    NEW = "new worker"
    CHANGED = "changed"
    SAME = "nothing to do"
    PROBLEM = "left out"


@dataclass
class Line:
    """One row's report: what would be (or was) done, in sentences."""

    row: int
    name: str
    outcome: Outcome
    sentences: list[str] = field(default_factory=list)
    worker: Worker | None = None


@dataclass
class Report:
    """All rows, the columns that mean nothing here, and groups that the file brings along."""

    lines: list[Line]
    ignored: list[str]
    new_groups: list[str]

    def count(self, outcome: Outcome) -> int:
        """Return how many rows had this outcome."""
        return sum(line.outcome == outcome for line in self.lines)

    @property
    def summary(self) -> str:
        """Return the counts as a sentence."""
        parts = [
            f"{self.count(Outcome.NEW)} new",
            f"{self.count(Outcome.CHANGED)} changed",
            f"{self.count(Outcome.SAME)} as they were",
            f"{self.count(Outcome.PROBLEM)} left out",
        ]
        return ", ".join(parts)

    @property
    def n_to_do(self) -> int:
        """Return how many rows bring something about."""
        return self.count(Outcome.NEW) + self.count(Outcome.CHANGED)


class _Undone(Exception):
    """Leaves a dry run's transaction without keeping anything."""


def import_workers(text: str, now: datetime, *, is_dry: bool, by: str = "") -> Report:
    """Return what each row of a CSV brings about; a dry run keeps nothing of it.

    It is brought in and logged (as done `by` somebody) a part at a time, so what was there when an
    import was cut short stays, and importing again goes on: rows change what is new only. Rows
    with a problem are left out and say why. Raises UploadError when the file cannot be read.
    """
    table = read_table(text)
    people = people_in(table)
    known = {name.lower() for name in _group_names()}
    report = Report([], ignored_columns(table), [])
    parts = [people[start : start + AT_ONCE] for start in range(0, len(people), AT_ONCE)]
    try:
        with atomic() if is_dry else nullcontext():
            for part in parts:
                report.lines += _part(part, now, by, is_only=len(parts) == 1)
            report.new_groups = [name for name in _group_names() if name.lower() not in known]
            if is_dry:
                raise _Undone
    except _Undone:
        pass
    return report


def _group_names() -> list[str]:
    rows = WorkerGroup.objects.filter(qualification_type__deleted_at=None)
    return sorted(rows.values_list("qualification_type__name", flat=True))


def _part(people: list[Person], now: datetime, by: str, *, is_only: bool) -> list[Line]:
    """Return the lines of a part of the file, brought in wholly or not at all."""
    for attempt in range(TRIES):
        # Carrying a row out takes from its values, and a second try needs them all.
        fresh = [replace(one, values=dict(one.values)) for one in people]
        try:
            with atomic():
                book = WorkerUpsert(fresh, now)
                lines = [_carry_out(book, person) for person in fresh]
                book.keep()
                if by:
                    rows = "" if is_only else f", rows {people[0].row} to {people[-1].row}"
                    AuditEntry.record(
                        by, f"Imported workers{rows}: {Report(lines, [], []).summary}", now
                    )
                return lines
        except IntegrityError:
            # Somebody else imported the same people meanwhile; now they are found.
            if attempt == TRIES - 1:
                raise
    raise AssertionError("unreachable")


def _carry_out(book: WorkerUpsert, person: Person) -> Line:
    """Return the line of a row, written into the book unless something is to mend."""
    name = person.values.get("name", "")
    if person.problems:
        return Line(person.row, name, Outcome.PROBLEM, person.problems)
    found = book.take_place(book.found(person))
    is_new = not found or found[0].worker.is_awaited
    problems, scores = [], []
    if len(found) > 1:
        ids = " and ".join(one.worker.worker_id for one in found)
        problems = [f"This row fits two accounts, {ids}. Merge them first, or mend the row."]
    elif found and found[0].worker.erased_at:
        problems = [
            f"{found[0].worker.worker_id} was erased at the person's own wish. "
            "Leave worker_id empty to make a new account."
        ]
    elif not found and "worker_id" in person.values:
        problems = [f"There is no worker {person.values['worker_id']} here. Leave worker_id empty."]
    elif is_new and not name:
        problems = ["Give the name of a new worker."]
    else:
        try:
            scores = [(book.type_named(wanted), score) for wanted, score in person.scores.items()]
        except GroupError as error:
            problems = [str(error)]
    if problems:
        return Line(person.row, name, Outcome.PROBLEM, problems)
    entry = found[0] if found else book.opened(name)
    if is_new and found:
        entry.worker.is_awaited, entry.worker.is_active = False, True
        entry.is_changed = True
    if found:
        # Language and country are the worker's own to change; the file only fills a gap.
        if entry.worker.language:
            person.values.pop("language", None)
        if entry.worker.country:
            told = person.values.pop("country", "")
            if entry.worker.subdivision or told != entry.worker.country:
                person.values.pop("subdivision", None)
    sentences = [
        f"The {WORDS.get(column, column)} becomes {value[:80]}."
        for column, value in ({} if is_new else person.values).items()
        if column != "worker_id" and entry.now_in(column) != value
    ]
    book.write(entry, person)
    for row, score in scores:
        if book.give(entry, row, score):
            sentences.append(f"Gets “{row.name}”" + (f" with {score}." if score != 1 else "."))
    outcome = Outcome.NEW if is_new else (Outcome.CHANGED if sentences else Outcome.SAME)
    return Line(person.row, entry.worker.display_name, outcome, sentences, entry.worker)
