"""Brings a list of people in as workers: planned first, carried out after, safe to repeat."""

from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from django.db import IntegrityError, transaction

from common.spreadsheet import read_table
from marketplace.models import AuditEntry, QualificationType, Worker, WorkerGroup
from marketplace.people.groups import GroupError
from marketplace.people.roster import Person, ignored_columns, people_in
from marketplace.people.worker_upsert import Entry, WorkerUpsert
from marketplace.router import DATABASE

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
        with transaction.atomic(using=DATABASE) if is_dry else nullcontext():
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
            with transaction.atomic(using=DATABASE):
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
    name = person.values.get("name", "")
    if person.problems:
        return Line(person.row, name, Outcome.PROBLEM, person.problems)
    found = book.take_place(book.found(person))
    is_new = not found or found[0].worker.is_awaited
    if len(found) > 1:
        ids = " and ".join(one.worker.worker_id for one in found)
        problem = f"This row fits two accounts, {ids}. Merge them first, or mend the row."
        return Line(person.row, name, Outcome.PROBLEM, [problem])
    if found and found[0].worker.erased_at:
        problem = (
            f"{found[0].worker.worker_id} was erased at the person's own wish. "
            "Leave worker_id empty to make a new account."
        )
        return Line(person.row, name, Outcome.PROBLEM, [problem])
    if not found and "worker_id" in person.values:
        problem = f"There is no worker {person.values['worker_id']} here. Leave worker_id empty."
        return Line(person.row, name, Outcome.PROBLEM, [problem])
    if is_new and not name:
        return Line(person.row, "", Outcome.PROBLEM, ["Give the name of a new worker."])
    try:
        scores = [(book.type_named(wanted), score) for wanted, score in person.scores.items()]
    except GroupError as error:
        return Line(person.row, name, Outcome.PROBLEM, [str(error)])
    if is_new and found:
        found[0].worker.is_awaited, found[0].worker.is_active = False, True
        found[0].is_changed = True
    return _kept(book, person, found[0] if found else None, scores, is_new)


def _kept(
    book: WorkerUpsert,
    person: Person,
    found: Entry | None,
    scores: list[tuple[QualificationType, int]],
    is_new: bool,
) -> Line:
    entry = found or book.opened(person.values["name"])
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
