"""Samples of examples to be labelled by hand, and what the labels say (HotpotQA 4, T2, T3)."""

import heapq
import random
from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

from annotation.protocols.hotpotqa.analysis.examples import Example
from annotation.tables.labels import cell_of, labels_of
from annotation.tables.table import Cell, Table, share
from collector.protocols.stage_tables import read_scheme

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
SCHEME = read_scheme(Path(__file__).parent.parent / "labels/questions.toml")
REASONING = SCHEME.facet("reasoning")
ANSWERS = [choice.value for choice in SCHEME.facet("answer_type").choices]
NOT_MULTI_HOP = [each.value for each in REASONING.choices if each.group != "multi-hop"]
LABELS = tuple(facet.name for facet in SCHEME.facets())
# The paper's per cent in both groups.
PAPER = {
    "I": (42, 38),
    "II": (15, 29),
    "III": (6, 2),
    "comparison": (27, 20),
    "other": (2, 7),
    "single-hop": (6, 2),
    "unanswerable": (2, 2),
}


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

    Raises ScoreError naming the row for a label that is none of the scheme's.
    """
    found: dict[str, Counter[tuple[str, str]]] = {name: Counter() for name in LABELS}
    whole: Counter[str] = Counter()
    checked: Counter[tuple[str, str]] = Counter()
    waiting = 0
    for number, row in enumerate(rows, 1):
        group, split = cell_of(row, "sample", number), cell_of(row, "split", number)
        labels = labels_of(row, number, SCHEME.facets())
        if labels is None:
            waiting += 1
            continue
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
            f"{choice.value}: {choice.hint}",
            found[HELD_OUT, choice.value],
            share(found[HELD_OUT, choice.value], whole[HELD_OUT]),
            PAPER[choice.value][0] / 100,
            found[TRAIN, choice.value],
            share(found[TRAIN, choice.value], whole[TRAIN]),
            PAPER[choice.value][1] / 100,
        ]
        for choice in REASONING.choices
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
