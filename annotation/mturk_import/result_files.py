"""Reads batch-result CSVs and dumps of ListAssignmentsForHIT, and which column holds what."""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal, InvalidOperation
from typing import Any

from common.actions import ActionError
from common.spreadsheet import typed_cell
from tasks.crowd.marketplace import answer_fields
from tasks.work.widgets.text import UNTYPABLE

# What batch results were written in: the time of the Pacific coast, by its letters.
ZONES = {"UTC": 0, "GMT": 0, "PST": -8, "PDT": -7}
WRITTEN = "%a %b %d %H:%M:%S %Y"

# How the marketplace's own results name their row: MTurk's name a template there, and their cells
# stand as they were written.
OURS = re.compile(r"BatchId:\d+;row:\d+;")
NEEDED = ("HITId", "AssignmentId", "WorkerId", "AssignmentStatus")
# ours: as much as the marketplace's own HITs can pay, in whole units of the currency.
MOST_REWARD = 100_000
# What may stand before JSON, a byte-order mark among it.
BLANKS = b"\xef\xbb\xbf \r\n\t"
STATUSES = ("Submitted", "Approved", "Rejected")
NUMBER = "{n}"
MOST_ITEMS = 200
SHOWN = ("passage", "title", "text")


@dataclass(frozen=True)
class Result:
    """One assignment as it was handed in; `values` by column, `Input.…` and `Answer.…`.

    `reward_cents` is None where the file does not tell it.
    """

    place: str
    hit_id: str
    assignment_id: str
    person: str
    status: str
    values: dict[str, str]
    hit_type_id: str = ""
    feedback: str = ""
    reward_cents: int | None = None
    accepted_at: datetime | None = None
    submitted_at: datetime | None = None
    work_seconds: int = 0


def read(files: Mapping[str, bytes], inputs: Mapping[str, bytes]) -> list[Result]:
    """Return every assignment of the files, by the time it was handed in.

    inputs: CSVs with a column HITId that tell what each HIT showed, where a dump does not.
    Raises ActionError naming the file and the line.
    """
    shown = {
        line["HITId"]: line
        for name, content in inputs.items()
        for _, line in _table(name, content, ("HITId",))
    }
    found = [
        _completed(result, shown.get(result.hit_id, {}))
        for name, content in files.items()
        for result in (_dumped if content.lstrip(BLANKS)[:1] in (b"{", b"[") else _listed)(
            name, content
        )
    ]
    return sorted(found, key=lambda each: (each.submitted_at is not None, each.submitted_at or 0))


def _completed(result: Result, shown: Mapping[str, str]) -> Result:
    more = {
        name if name.startswith("Input.") else f"Input.{name}": value
        for name, value in shown.items()
    }
    flat = dict(result.values)
    try:
        packed = json.loads(result.values.get("Answer.taskAnswers") or "[]")
    except (ValueError, RecursionError):
        packed = []
    for answers in packed if isinstance(packed, list) else [packed]:
        for name, value in answers.items() if isinstance(answers, dict) else ():
            if isinstance(value, dict):
                value = "|".join(each for each, is_chosen in value.items() if is_chosen is True)
            elif isinstance(value, bool):
                value = str(value).lower()
            flat.setdefault(f"Answer.{name}", "" if value is None else str(value))
    for column, value in result.values.items():
        group, _, choice = column.rpartition(".")
        if group.startswith("Answer.") and value.lower() == "true":
            flat[group] = f"{flat[group]}|{choice}" if flat.get(group) else choice
    values = {**more, **flat}
    reward = result.reward_cents
    if reward is None and shown.get("Reward"):
        reward = _cents(shown["Reward"], result.place)
    return replace(result, values=values, reward_cents=reward)


def _table(
    name: str, content: bytes, needed: Iterable[str]
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield (place, line by column) of a CSV; raises ActionError."""
    try:
        reader = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""))
        missing = [column for column in needed if column not in (reader.fieldnames or ())]
        if missing:
            raise ActionError(f"{name}: it has no column {missing[0]}; give results as exported.")
        for line in reader:
            read = typed_cell if OURS.match(line.get("RequesterAnnotation") or "") else str
            row = {key: read(value or "") for key, value in line.items() if isinstance(key, str)}
            yield f"{name}, line {reader.line_num}", row
    except (UnicodeDecodeError, csv.Error) as error:
        raise ActionError(f"{name}: it is no CSV in UTF-8 ({error}); save it as one.") from None


def _listed(name: str, content: bytes) -> Iterator[Result]:
    for place, line in _table(name, content, NEEDED):
        answers = {key: value for key, value in line.items() if key[:6] in ("Input.", "Answer")}
        yield _result(place, line, answers)


def _dumped(name: str, content: bytes) -> Iterator[Result]:
    try:
        told = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ActionError(f"{name}: it is no JSON ({error}); dump the reply again.") from None
    number = 0
    for page in told if isinstance(told, list) else [told]:
        pages = page.get("Assignments", [page]) if isinstance(page, dict) else [page]
        for row in pages:
            number += 1
            place = f"{name}, assignment {number}"
            if not isinstance(row, dict) or any(not row.get(column) for column in NEEDED):
                raise ActionError(
                    f"{place}: it is not as ListAssignmentsForHIT returns it; dump the whole reply."
                )
            fields = answer_fields(str(row.get("Answer", "")))
            answers = {f"Answer.{field}": value for field, value in fields.items()}
            yield _result(place, row, answers)


def _result(place: str, row: Mapping[str, Any], values: dict[str, str]) -> Result:
    status = str(row["AssignmentStatus"])
    if status not in STATUSES or not all(row[column] for column in NEEDED):
        raise ActionError(
            f"{place}: AssignmentStatus has to be Submitted, Approved or Rejected, and the ids "
            "have to be there; mend or delete the line."
        )
    accepted, submitted = (_moment(row.get(name), place) for name in ("AcceptTime", "SubmitTime"))
    seconds = str(row.get("WorkTimeInSeconds") or "")
    # What no time of work is as long as is none.
    if re.fullmatch("[0-9]{1,9}", seconds):
        worked = int(seconds)
    elif accepted and submitted:
        worked = max(0, int((submitted - accepted).total_seconds()))
    else:
        worked = 0
    return Result(
        place=place,
        hit_id=str(row["HITId"]),
        assignment_id=str(row["AssignmentId"]),
        person=str(row["WorkerId"]),
        status=status,
        values=values,
        hit_type_id=str(row.get("HITTypeId") or ""),
        feedback=str(row.get("RequesterFeedback") or ""),
        reward_cents=_cents(str(row["Reward"]), place) if row.get("Reward") else None,
        accepted_at=accepted,
        submitted_at=submitted,
        work_seconds=worked,
    )


def _moment(value: Any, place: str) -> datetime | None:
    try:
        return parse_time(value)
    except (ValueError, OverflowError, OSError):
        raise ActionError(
            f"{place}: {value!r} is no time; write it like 2019-05-03 10:00."
        ) from None


def _cents(written: str, place: str) -> int:
    try:
        amount = Decimal(written.strip().lstrip("$"))
        # What is no number at all compares to nothing.
        if not 0 <= amount <= MOST_REWARD:
            raise ValueError
    except (InvalidOperation, ValueError):
        raise ActionError(
            f"{place}: {written[:40]!r} is no reward from 0 to {MOST_REWARD:,}; write it like "
            "$0.50."
        ) from None
    return int((amount * 100).to_integral_value())


def parse_time(value: Any) -> datetime | None:
    """Return the moment, in UTC where no zone is told; None for nothing; raises ValueError."""
    if value in (None, ""):
        return None
    if isinstance(value, int | float):
        return datetime.fromtimestamp(value, UTC)
    text = str(value).strip()
    *before, zone, year = text.split() if len(text.split()) == 6 else ("", "")
    if zone in ZONES:
        found = datetime.strptime(" ".join([*before, year]), WRITTEN)
        return found.replace(tzinfo=timezone(timedelta(hours=ZONES[zone])))
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Item:
    """One passage of a HIT, the text that was labelled (else ""), and the form's raw values."""

    passage: str
    title: str
    text: str
    fields: dict[str, str]


@dataclass(frozen=True)
class Columns:
    """Column by name: `passage`, `title`, `text` of a label stage, and the form's fields.

    A column with {n} stands for one of each item: n counts them. `words` translates a value:
    (field, old) -> new.
    """

    by_name: dict[str, str]
    fields: tuple[str, ...]
    words: dict[tuple[str, str], str]

    def items(self, result: Result) -> list[Item]:
        """Return what the HIT showed and what was answered, item by item; [] without a passage."""
        is_numbered = any(NUMBER in column for column in self.by_name.values())
        numbers = range(MOST_ITEMS) if is_numbered else range(1)
        found = [self._item(result.values, str(number)) for number in numbers]
        return [item for item in found if item.passage]

    def _item(self, values: Mapping[str, str], number: str) -> Item:
        def value(name: str) -> str:
            column = self.by_name.get(name, "").replace(NUMBER, number)
            # As a page cleans what is typed, so that a text is found again by its words.
            return UNTYPABLE.sub("", values.get(column, "")).strip()

        raw = {name: value(name) for name in self.fields}
        words = {name: self.words.get((name, given), given) for name, given in raw.items()}
        return Item(value("passage"), value("title"), value("text"), words)


def columns_for(
    table: Any, pairs: Iterable[str], words: Iterable[str], *, is_label: bool
) -> Columns:
    """Return the columns that NAME=COLUMN `pairs` give, the others by their own names.

    `words` are FIELD:OLD=NEW. Raises ActionError for a name that the stage has no use for.
    """
    fields = tuple(each.name for each in table.fields)
    shown = SHOWN if is_label else SHOWN[:2]
    by_name = {name: f"Input.{name}" for name in shown}
    by_name |= {name: f"Answer.{name}" for name in fields}
    for pair in pairs:
        name, _, column = pair.partition("=")
        if name not in by_name or not column:
            known = ", ".join(by_name)
            raise ActionError(f"--map {pair}: write NAME=COLUMN, NAME being one of {known}.")
        by_name[name] = column
    translated = {}
    for word in words:
        (name, colon, rest) = word.partition(":")
        old, equals, new = rest.partition("=")
        if name not in fields or not colon or not equals:
            raise ActionError(f"--value {word}: write FIELD:OLD=NEW, like label:yes=faithful.")
        translated[name, old] = new
    return Columns(by_name, fields, translated)


def check_columns(columns: Columns, results: Sequence[Result], required: Iterable[str]) -> None:
    """Raise ActionError for a column that no result has: it was named wrong."""
    there = {column for result in results for column in result.values}
    for name in required:
        column = columns.by_name[name]
        tried = [column.replace(NUMBER, str(number)) for number in range(MOST_ITEMS)]
        if results and there.isdisjoint(tried):
            known = ", ".join(sorted(there)) or "none"
            raise ActionError(
                f"No result has a column {column} for {name}: say which with --map {name}=COLUMN. "
                f"There are: {known}."
            )
