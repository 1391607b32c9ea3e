"""What came, went and changed from one release to another, and why: read from their folders."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from itertools import groupby
from pathlib import Path
from typing import Any

from annotation.release import row_tables
from annotation.release.dataset_card import MANIFEST
from annotation.release.row_tables import words_of
from annotation.tables.table import Cell, Table
from collector.protocols.parameters import FOLDS
from common.actions import ActionError

CAME, WENT, MOVED, ANSWER, TEXT = "came", "went", "moved", "answer changed", "text changed"
FURTHER = "further answers changed"
# What is said of an answer: everything of the released one but who gave it and when.
ANSWER_COLUMNS = ("answer_type", "answer_spans", "answer_value", "answer_unit", "answer_yes_no")
CONTEXT, MORE = "answer_context", "answer_more"
# What an answer holds of how it came about, which tells nothing of what was answered.
LOGGED = ("searches", "opened", "shown")
READ_COLUMNS = (
    *("question_id", "split", "split_reason", "question", "outcome", "reason", "overridden"),
    *("corrected", "chosen", "agrees"),
    *ANSWER_COLUMNS,
    *(CONTEXT, MORE),
)
KINDS = {
    CAME: "in the dataset now and not before",
    WENT: "in the dataset before and not now",
    MOVED: "in another split",
    ANSWER: "with another released answer or evidence",
    FURTHER: "with the same answer, and others by whom else agrees with it",
    TEXT: "asked in other words",
}


@dataclass(frozen=True)
class ReleasedQuestion:
    """A question as one release tells it: kept with a split and an answer, or not kept and why."""

    text: str
    split: str
    split_reason: str
    outcome: str
    reason: str
    by_requester: bool
    n_votes: int
    answer: str
    shown: str
    further: tuple[str, ...]
    further_shown: str

    @property
    def is_kept(self) -> bool:
        """Return whether it is in the dataset."""
        return self.outcome == "kept"


@dataclass(frozen=True)
class Change:
    """What became of one question: `kind` is one of KINDS, `before` and `after` what differs.

    These are splits where a question came, went or moved, else its answers or words.
    """

    id: str
    question: str
    kind: str
    before: str
    after: str
    why: str


@dataclass(frozen=True)
class Comparison:
    """`changes` in the order of the questions' ids; `tables` count them, changes of settings too.

    `withheld`: the splits whose questions a release does not tell and that could not be compared.
    """

    changes: list[Change]
    tables: list[Table]
    withheld: list[str]

    def lines(self) -> Iterator[list[str]]:
        """Yield a head, and a line for each change."""
        yield [field.name for field in fields(Change)]
        for change in self.changes:
            yield [*asdict(change).values()]

    def note(self) -> str:
        """Return what is said of questions that could not be compared, blank where all were."""
        if not self.withheld:
            return ""
        return (
            f"Questions of {' and '.join(self.withheld)} are withheld: what became of them is not "
            "told here, only whether their files differ."
        )


def compare(before: Path, after: Path) -> Comparison:
    """Return what differs from the release in one folder to that in another.

    Raises ActionError for a folder that holds no release, or two of different protocols.
    """
    old, new = _manifest(before), _manifest(after)
    if old["protocol"] != new["protocol"]:
        raise ActionError(
            f"One release is of the protocol {old['protocol']}, the other of {new['protocol']}: "
            "only releases of one protocol can be compared."
        )
    were, are = _questions(before), _questions(after)
    changes = [
        change
        for id in sorted(were.keys() | are.keys())
        for change in _changes(id, were.get(id), are.get(id))
    ]
    tables = [_sizes(were, are, changes), _reasons(changes), _settings(old, new), _files(old, new)]
    withheld = {
        name for value in (old, new) for name in (value.get("withheld") or {}).get("splits", ())
    }
    return Comparison(changes, tables, sorted(withheld))


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        value = json.loads((folder / MANIFEST).read_text("utf-8"))
    except (OSError, ValueError):
        value = None
    if not isinstance(value, dict) or not {"protocol", "parameters", "files"} <= value.keys():
        raise ActionError(f"{folder}: it holds no release; name a folder that export_dataset made.")
    return value


def _questions(folder: Path) -> dict[str, ReleasedQuestion]:
    """Return the questions of a release by id, those left out of the dataset included."""
    from pyarrow import ArrowInvalid, parquet

    try:
        file = parquet.ParquetFile(folder / row_tables.VOTES_FILE)
        rows = (
            row
            for batch in file.iter_batches(columns=list(READ_COLUMNS))
            for row in batch.to_pylist()
        )
        return {
            id: _question(list(votes))
            for id, votes in groupby(rows, lambda row: row["question_id"])
        }
    except (OSError, ArrowInvalid) as error:
        raise ActionError(
            f"{folder / row_tables.VOTES_FILE}: it cannot be read ({error}); put back the file "
            "that was released."
        ) from None


def _question(votes: list[dict[str, Any]]) -> ReleasedQuestion:
    row = votes[0]
    chosen = next((vote for vote in reversed(votes) if vote["chosen"]), None)
    corrected = [vote for vote in votes if vote["corrected"]]
    agreeing = [vote for vote in votes if vote["agrees"] and not vote["chosen"]]
    return ReleasedQuestion(
        text=row["question"],
        split=row["split"],
        split_reason=row["split_reason"],
        outcome=row["outcome"],
        reason=row["reason"],
        by_requester=row["overridden"] or bool(corrected),
        n_votes=len(votes) - len(corrected),
        answer=_compared(chosen) if chosen else "",
        shown=_shown(chosen) if chosen else "",
        further=tuple(sorted(map(_compared, agreeing))),
        further_shown="; ".join(sorted(map(_shown, agreeing))),
    )


def _shown(vote: Mapping[str, Any]) -> str:
    """Return an answer as a person reads it."""
    told = {name: vote[f"answer_{name}"] for name in ("spans", "value", "unit", "yes_no")}
    return words_of({**_more(vote), **told}) or vote["answer_type"]


def _compared(vote: Mapping[str, Any]) -> str:
    """Return all that is said of an answer, as text that is equal where the answers are."""
    said = {name: value for name, value in _more(vote).items() if name not in LOGGED}
    return json.dumps([*(vote[name] for name in (*ANSWER_COLUMNS, CONTEXT)), said])


def _more(vote: Mapping[str, Any]) -> dict[str, Any]:
    more: dict[str, Any] = json.loads(vote[MORE] or "{}")
    return more


def _changes(
    id: str, was: ReleasedQuestion | None, is_now: ReleasedQuestion | None
) -> Iterator[Change]:
    kept_before, kept_now = bool(was and was.is_kept), bool(is_now and is_now.is_kept)
    if is_now and kept_now and not kept_before:
        why = "asked, or answered for the first time, since"
        if was is not None:
            why = f"{_outcome(was)} before; {_decided(was, is_now)}"
        yield Change(id, is_now.text, CAME, "", is_now.split, why)
    elif was and kept_before and not kept_now:
        why = _outcome(is_now) if is_now else "no longer told of: withdrawn, erased, or withheld"
        yield Change(id, was.text, WENT, was.split, "", why)
    elif was and is_now and kept_now:
        if was.text != is_now.text:
            yield Change(
                id, is_now.text, TEXT, was.text, is_now.text, "the question itself differs"
            )
        if was.split != is_now.split:
            why = is_now.split_reason or "splits were made anew"
            yield Change(id, is_now.text, MOVED, was.split, is_now.split, why)
        if was.answer != is_now.answer:
            yield Change(id, is_now.text, ANSWER, was.shown, is_now.shown, _decided(was, is_now))
        elif was.further != is_now.further:
            shown = was.further_shown, is_now.further_shown
            yield Change(id, is_now.text, FURTHER, *shown, _decided(was, is_now))


def _outcome(question: ReleasedQuestion) -> str:
    if question.by_requester:
        return f"{question.outcome} by the requester"
    return f"{question.outcome} ({question.reason})" if question.reason else question.outcome


def _decided(was: ReleasedQuestion, is_now: ReleasedQuestion) -> str:
    """Return what decides otherwise now."""
    if is_now.by_requester and not was.by_requester:
        return "the requester decided"
    if was.by_requester and not is_now.by_requester:
        return "the requester's decision was taken back"
    if is_now.n_votes != was.n_votes:
        return "more answers came" if is_now.n_votes > was.n_votes else "answers were withdrawn"
    return "decided anew"


def _sizes(
    were: Mapping[str, ReleasedQuestion],
    are: Mapping[str, ReleasedQuestion],
    changes: list[Change],
) -> Table:
    """Return each split before and now, and what came to it and left it, moves included."""
    before = Counter(one.split for one in were.values() if one.is_kept)
    now = Counter(one.split for one in are.values() if one.is_kept)
    to = Counter(change.after for change in changes if change.kind in (CAME, MOVED))
    left = Counter(change.before for change in changes if change.kind in (WENT, MOVED))
    rows: list[list[Cell]] = [
        [split, before[split], to[split], left[split], now[split]]
        for split in sorted(before.keys() | now.keys(), key=_place)
    ]
    kinds = Counter(change.kind for change in changes)
    rows.append(["all", before.total(), kinds[CAME], kinds[WENT], now.total()])
    return Table("sizes", "Questions", ["split", "before", "came", "left", "now"], rows)


def _place(split: str) -> tuple[int, str]:
    """Return where a split stands among others: training first, testing last."""
    folds = [place for place, fold in enumerate(FOLDS) if split.startswith(fold)]
    return (folds[0] if folds else len(FOLDS)), split


def _reasons(changes: list[Change]) -> Table:
    counted = Counter((change.kind, change.why) for change in changes)
    order = list(KINDS)
    rows: list[list[Cell]] = [
        [KINDS[kind], why, number]
        for (kind, why), number in sorted(
            counted.items(), key=lambda item: (order.index(item[0][0]), -item[1], item[0][1])
        )
    ]
    note = "" if rows else "Every question stands as it stood."
    return Table("reasons", "What became of questions", ["what", "why", "questions"], rows, note)


def _settings(old: Mapping[str, Any], new: Mapping[str, Any]) -> Table:
    were, are = _flat(old["parameters"]), _flat(new["parameters"])
    said = {change["key"]: change for change in new.get("changes", ())}
    rows: list[list[Cell]] = [
        [key, were.get(key, "–"), are.get(key, "–"), str(said.get(key, {}).get("why", ""))]
        for key in sorted(were.keys() | are.keys())
        if were.get(key) != are.get(key)
    ]
    note = "" if rows else "The settings are the same."
    columns = ["setting", "before", "now", "why"]
    return Table("settings", "Settings", columns, rows, note, named=True)


def _flat(value: Mapping[str, Any], under: str = "") -> dict[str, str]:
    """Return nested settings as one level, tables and keys joined by points."""
    found: dict[str, str] = {}
    for name, each in value.items():
        if isinstance(each, dict):
            found |= _flat(each, f"{under}{name}.")
        else:
            found[f"{under}{name}"] = json.dumps(each, ensure_ascii=False)
    return found


def _files(old: Mapping[str, Any], new: Mapping[str, Any]) -> Table:
    """Return the files that are not as they were, and say how many are."""
    were, are = old["files"], new["files"]
    rows: list[list[Cell]] = []
    for name in sorted(were.keys() | are.keys()):
        before, now = were.get(name), are.get(name)
        if before is None or now is None or before["sha256"] != now["sha256"]:
            state = "new" if before is None else "gone" if now is None else "differs"
            rows.append([name, state, *(each and each["bytes"] for each in (before, now))])
    n_same = len(were.keys() | are.keys()) - len(rows)
    note = f"{n_same:,} file{' is' if n_same == 1 else 's are'} the same, byte for byte."
    columns = ["file", "now", "bytes before", "bytes now"]
    return Table("files", "Files", columns, rows, note, named=True)
