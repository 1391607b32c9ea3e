"""Reads a list of people from a CSV: who they are, how to reach them, what they can do."""

import re
from dataclasses import dataclass, field

from common.spreadsheet import Table, UploadError
from marketplace.people.countries import is_country, is_subdivision

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
    found = [_person(row, values, columns) for row, values in table.lines]
    _refuse_repeats(found)
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


def _person(row: int, cells: dict[str, str], columns: dict[str, str]) -> Person:
    values = {
        meaning: cells[name].replace("\x00", "").strip()
        for name, meaning in columns.items()
        if meaning
    }
    person = Person(row, {name: value for name, value in values.items() if value})
    person.scores = _scores(person.values.pop("qualifications", ""), person.problems)
    _check(person)
    return person


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
    _check_number(person, "approved_before", 10_000_000)
    _check_number(person, "percent_approved_before", 100)


def _check_number(person: Person, name: str, most: int) -> None:
    given = person.values.get(name, "").rstrip("% ")
    if not given:
        return
    number = re.fullmatch(r"(\d{1,8})(?:\.\d+)?", given)
    if number is None or int(number[1]) > most:
        person.problems.append(f"{name} has to be a whole number from 0 to {most}.")
    else:
        person.values[name] = number[1]


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


def _refuse_repeats(people: list[Person]) -> None:
    first: dict[tuple[str, str], int] = {}
    for person in people:
        for key in KEYS:
            value = person.values.get(key, "")
            row = first.setdefault((key, value), person.row) if value else person.row
            if row != person.row:
                person.problems.append(f"Row {row} has the same {key} already.")
