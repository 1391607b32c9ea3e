"""Samples of examples to be labelled by hand, and what the labels say (HotpotQA 4, T2, T3)."""

import heapq
import random
from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import sha256

from annotation.metrics.result import ScoreError
from annotation.protocols.hotpotqa.analysis.examples import Example
from annotation.reports.table import Cell, Table, share

HELD_OUT, TRAIN = "dev and test", "train-medium and train-hard"
GROUPS = {
    "dev": HELD_OUT,
    "test-distractor": HELD_OUT,
    "test-fullwiki": HELD_OUT,
    "train-medium": TRAIN,
    "train-hard": TRAIN,
}
# The paper looks at these two on their own, so each has a sample of its own (3).
CHECKED = {"train-medium": (0.933, 0.32), "dev": (0.92, 0.15)}
CHECK = "check"
NOT_MULTI_HOP = ("single-hop", "unanswerable")
# Label -> what it means and the paper's per cent in both groups.
REASONING = {
    "I": ("bridge entity to complete the second hop", 42, 38),
    "II": ("answer entity that has several properties", 15, 29),
    "III": ("property of an entity through a bridge entity", 6, 2),
    "comparison": ("two entities compared", 27, 20),
    "other": ("more than two supporting facts", 2, 7),
    "single-hop": ("one paragraph is enough", 6, 2),
    "unanswerable": ("the paragraphs do not tell", 2, 2),
}
ANSWERS = (
    "person",
    "group",
    "location",
    "date",
    "number",
    "artwork",
    "yes/no",
    "adjective",
    "event",
    "proper noun",
    "common noun",
)
LABELS = {"reasoning": tuple(REASONING), "answer_type": ANSWERS}


def drawn(examples: Iterable[Example], wanted: int, rng: random.Random) -> list[dict[str, str]]:
    """Return `wanted` examples of each group and of each of CHECKED with blank labels.

    The draw depends on the ids and `rng` alone, not on the order of the examples.
    """
    salt = rng.getrandbits(64)
    best: dict[str, list[tuple[int, int, dict[str, str]]]] = {
        name: [] for name in (HELD_OUT, TRAIN, *CHECKED)
    }
    for number, example in enumerate(examples):
        if example.split not in GROUPS:
            continue
        # A heap's least comes first: the largest places fall out.
        place = -int(sha256(f"{salt}/{example.id}".encode()).hexdigest(), 16)
        for name in {GROUPS[example.split], example.split} & best.keys():
            if len(best[name]) < wanted:
                heapq.heappush(best[name], (place, -number, _row(example)))
            elif place > best[name][0][0]:
                heapq.heapreplace(best[name], (place, -number, _row(example)))
    rows: dict[str, dict[str, str]] = {}
    for name, heap in best.items():
        for _, _, row in sorted(heap, reverse=True):
            # Drawn for a group first; for the check alone it counts in no group.
            rows.setdefault(row["id"], row | ({"sample": CHECK} if name in CHECKED else {}))
    return list(rows.values())


def counted(rows: Iterable[Mapping[str, str]]) -> list[Table]:
    """Return Tables 3 and 2, and how train-medium and dev compare; a row without labels waits.

    Raises ScoreError naming the row for a label that is none of LABELS.
    """
    found: dict[str, Counter[tuple[str, str]]] = {name: Counter() for name in LABELS}
    whole: Counter[str] = Counter()
    checked: Counter[tuple[str, str]] = Counter()
    waiting = 0
    for number, row in enumerate(rows, 1):
        group, split = _cell(row, "sample", number), _cell(row, "split", number)
        labels = {name: _label(row, name, number) for name in LABELS}
        if not any(labels.values()):
            waiting += 1
            continue
        if not all(labels.values()):
            raise ScoreError(f"Row {number}: label both of {', '.join(LABELS)}, or none.")
        whole[group] += 1
        for name, label in labels.items():
            found[name][group, label] += 1
        checked[split, labels["reasoning"]] += 1
    note = f"{whole.total()} examples are labelled, {waiting} wait."
    return [
        _reasoning(found["reasoning"], whole, note),
        _answers(found["answer_type"], whole),
        _check(checked),
    ]


def _reasoning(found: Counter[tuple[str, str]], whole: Counter[str], note: str) -> Table:
    rows: list[list[Cell]] = [
        [
            f"{label}: {meaning}",
            found[HELD_OUT, label],
            share(found[HELD_OUT, label], whole[HELD_OUT]),
            held_out / 100,
            found[TRAIN, label],
            share(found[TRAIN, label], whole[TRAIN]),
            train / 100,
        ]
        for label, (meaning, held_out, train) in REASONING.items()
    ]
    columns = ["reasoning"]
    for group in (HELD_OUT, TRAIN):
        columns += [group, f"{group} share", f"{group} paper's share"]
    return Table(
        "reasoning",
        "Reasoning, labelled by hand (Table 3 of the HotpotQA paper)",
        columns,
        rows,
        note,
    )


def _check(checked: Counter[tuple[str, str]]) -> Table:
    rows: list[list[Cell]] = []
    for split, (multi_hop, second) in CHECKED.items():
        whole = sum(number for (of, _), number in checked.items() if of == split)
        others = sum(checked[split, label] for label in NOT_MULTI_HOP)
        shares = share(whole - others, whole), share(checked[split, "II"], whole)
        rows.append([split, whole, shares[0], multi_hop, shares[1], second])
    columns = ["split", "labelled", "multi-hop share", "paper's multi-hop share"]
    columns += ["type II share", "paper's type II share"]
    note = "Whether what a model answers is as hard to reason about as what it does not."
    return Table("checked", "Labelled by hand, by split (3)", columns, rows, note)


def _answers(found: Counter[tuple[str, str]], whole: Counter[str]) -> Table:
    counts = Counter({label: found[HELD_OUT, label] for label in ANSWERS})
    rows: list[list[Cell]] = [
        [label, counts[label], share(counts[label], whole[HELD_OUT])] for label in ANSWERS
    ]
    columns = ["answer", HELD_OUT, "share"]
    title = "Answers, labelled by hand (Table 2 of the HotpotQA paper)"
    return Table("answers_by_hand", title, columns, rows)


def _row(example: Example) -> dict[str, str]:
    paragraphs = {
        f"paragraph_{letter}": f"{passage['title']}: {passage['text']}"
        for letter, passage in zip("ab", example.pair, strict=False)
    }
    return {
        "id": example.id,
        "sample": GROUPS[example.split],
        "split": example.split,
        "paragraph_a": "",
        "paragraph_b": "",
        **paragraphs,
        "question": example.question,
        "answer": example.reply.answer,
        "facts": "\n".join(example.facts()),
        **dict.fromkeys(LABELS, ""),
    }


def _label(row: Mapping[str, str], name: str, number: int) -> str:
    given = _cell(row, name, number)
    known = {label.lower(): label for label in LABELS[name]}
    if given and given.lower() not in known:
        raise ScoreError(
            f"Row {number}: {name} must be one of {', '.join(known.values())}, not {given!r}."
        )
    return known.get(given.lower(), "")


def _cell(row: Mapping[str, str], name: str, number: int) -> str:
    if name not in row:
        raise ScoreError(f"Row {number}: there is no column {name}; keep those of the sample.")
    return (row[name] or "").strip()
