"""Brings a list of people in as workers: planned first, carried out after, safe to repeat."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from django.db import transaction

from marketplace.models import QualificationType, Worker, WorkerProfile
from marketplace.people.groups import GroupError, add_members, group_named, groups
from marketplace.people.roster import Person, ignored_columns, people_in
from marketplace.router import DATABASE
from marketplace.uploads import read_table

PROFILE = {
    "mail": "mail",
    "mturk_id": "mturk_id",
    "prolific_id": "prolific_id",
    "notes": "notes",
    "approved_before": "n_approved_before",
    "percent_approved_before": "percent_approved_before",
}
OWN = {"name": "display_name", "language": "language", "country": "country"}
WORDS = {
    "name": "name",
    "mail": "mail address",
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


def import_workers(text: str, now: datetime, *, is_dry: bool) -> Report:
    """Return what each row of a CSV brings about; a dry run keeps nothing of it.

    Rows with a problem are left out and say why; importing again changes what is new only.
    Raises UploadError when the file as a whole cannot be read.
    """
    table = read_table(text)
    people = people_in(table)
    report = Report([], ignored_columns(table), [])
    try:
        with transaction.atomic(using=DATABASE):
            known = {row.qualification_type.name.lower() for row in groups()}
            report.lines = [_carry_out(person, now) for person in people]
            made = [row.qualification_type.name for row in groups()]
            report.new_groups = [name for name in made if name.lower() not in known]
            if is_dry:
                raise _Undone
    except _Undone:
        pass
    return report


def _carry_out(person: Person, now: datetime) -> Line:
    name = person.values.get("name", "")
    if person.problems:
        return Line(person.row, name, Outcome.PROBLEM, person.problems)
    found = _workers_of(person)
    if len(found) > 1:
        ids = " and ".join(worker.worker_id for worker in found)
        problem = f"This row fits two accounts, {ids}. Merge them first, or mend the row."
        return Line(person.row, name, Outcome.PROBLEM, [problem])
    if found and found[0].erased_at:
        problem = (
            f"{found[0].worker_id} was erased at the person's own wish. "
            "Leave worker_id empty to make a new account."
        )
        return Line(person.row, name, Outcome.PROBLEM, [problem])
    if not found and "worker_id" in person.values:
        problem = f"There is no worker {person.values['worker_id']} here. Leave worker_id empty."
        return Line(person.row, name, Outcome.PROBLEM, [problem])
    if not found and not name:
        return Line(person.row, "", Outcome.PROBLEM, ["Give the name of a new worker."])
    try:
        with transaction.atomic(using=DATABASE):
            return _kept(person, found[0] if found else None, now)
    except GroupError as error:
        return Line(person.row, name, Outcome.PROBLEM, [str(error)])


def _workers_of(person: Person) -> list[Worker]:
    """Return the workers that a row's keys name, second accounts as the one they merged into."""
    rows: list[Worker] = []
    values = person.values
    if worker_id := values.get("worker_id"):
        rows += Worker.objects.filter(worker_id=worker_id)
    for key in ("mail", "mturk_id", "prolific_id"):
        if value := values.get(key):
            rows += Worker.objects.filter(**{f"profile__{key}": value})
    return sorted({row.merged_into or row for row in rows}, key=lambda row: row.pk)


def _kept(person: Person, worker: Worker | None, now: datetime) -> Line:
    is_new = worker is None
    if worker is None:
        worker = Worker.objects.create(display_name=person.values["name"], created_at=now)
    else:
        # Language and country are the worker's own to change; the file only fills a gap.
        for column in ("language", "country"):
            if getattr(worker, column):
                person.values.pop(column, None)
    sentences = [] if is_new else _differences(worker, person)
    for column, own in OWN.items():
        if column in person.values:
            setattr(worker, own, person.values[column])
    worker.save()
    profile, _ = WorkerProfile.objects.get_or_create(worker=worker)
    for column, own in PROFILE.items():
        if column in person.values:
            value = person.values[column]
            setattr(profile, own, int(value) if column.endswith("before") else value)
    profile.save()
    for name, score in person.scores.items():
        row = _qualification(name, now)
        if add_members(row, [worker], now, score):
            sentences.append(f"Gets “{row.name}”" + (f" with {score}." if score != 1 else "."))
    outcome = Outcome.NEW if is_new else (Outcome.CHANGED if sentences else Outcome.SAME)
    return Line(person.row, worker.display_name, outcome, sentences, worker)


def _differences(worker: Worker, person: Person) -> list[str]:
    profile = getattr(worker, "profile", None) or WorkerProfile(worker=worker)
    sentences = []
    for column, value in person.values.items():
        if column == "worker_id":
            continue
        owner, own = (worker, OWN[column]) if column in OWN else (profile, PROFILE[column])
        before = getattr(owner, own)
        if str(before if before is not None else "") != value:
            sentences.append(f"The {WORDS.get(column, column)} becomes {value[:80]}.")
    return sentences


def _qualification(name: str, now: datetime) -> QualificationType:
    """Return the type with this id, else the group of this name, made if there is none."""
    row = QualificationType.objects.filter(qualification_type_id=name, deleted_at=None).first()
    return row or group_named(name, now).qualification_type
