"""A sample of questions to be labelled by hand, and what the labels say (QuAC 3, Table 3)."""

import heapq
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from itertools import groupby
from pathlib import Path

from annotation.protocols.quac.turns import Turn, turns_of
from annotation.records.schema import SeedRecord
from annotation.tables.labels import labels_of
from annotation.tables.table import Cell, Table, share
from collector.protocols.stage_tables import read_scheme

SCHEME = read_scheme(Path(__file__).parent.parent / "labels/questions.toml")
LABELS = tuple(facet.name for facet in SCHEME.facets())
YES = "yes"


def drawn(seeds: Iterable[SeedRecord], number: int, rng: random.Random) -> list[dict[str, str]]:
    """Return one question of each of `number` dialogs with blank labels, in the order drawn.

    The draw depends on the dialogs' ids and `rng` alone, not on their order.
    """
    salt = rng.getrandbits(64)
    found = heapq.nsmallest(number, _one_a_dialog(seeds, salt), key=lambda pair: pair[0])
    return [row for _, row in found]


def counted(rows: Iterable[Mapping[str, str]]) -> Table:
    """Return the shares of Table 3; a row without labels waits.

    Raises ScoreError naming the row for a label that is neither yes nor no.
    """
    counts: Counter[str] = Counter()
    for number, row in enumerate(rows, 1):
        labels = labels_of(row, number, SCHEME.facets())
        if labels is None:
            counts["waiting"] += 1
            continue
        factoid, history, article = (labels[name] == YES for name in LABELS)
        counts["all"] += 1
        counts["factoid"] += factoid
        counts["contextual"] += history or article
        counts["history"] += history
        counts["article"] += article
    return _table(counts)


def _table(counts: Counter[str]) -> Table:
    whole, contextual = counts["all"], counts["contextual"]
    rows: list[list[Cell]] = [
        ["non-factoid", whole - counts["factoid"], share(whole - counts["factoid"], whole)],
        ["contextual", contextual, share(contextual, whole)],
        ["of these, to the dialog", counts["history"], share(counts["history"], contextual)],
        ["of these, to the article", counts["article"], share(counts["article"], contextual)],
    ]
    note = (
        f"{whole} questions are labelled, {counts['waiting']} wait. In the paper half are "
        "non-factoid and 86 % contextual, of these 44 % to the dialog and 61 % to the article."
    )
    title = "Questions labelled by hand (Table 3 of the QuAC paper)"
    return Table("labels", title, ["kind", "questions", "share"], rows, note)


def _one_a_dialog(seeds: Iterable[SeedRecord], salt: int) -> Iterator[tuple[str, dict[str, str]]]:
    for seed in seeds:
        for dialog, group in groupby(turns_of([seed]), key=lambda turn: turn.dialog):
            turns = list(group)
            place = sha256(f"{salt}/{dialog}".encode()).hexdigest()
            yield place, _row(seed, turns[int(place, 16) % len(turns)])


def _row(seed: SeedRecord, turn: Turn) -> dict[str, str]:
    payload = seed["payload"]
    said = [f"Student: {each.question} Teacher: {each.teacher.text}" for each in turn.history()]
    return {
        "id": turn.qid,
        "title": str(payload.get("title", "")),
        "section": str(payload.get("heading", "")),
        "before": "\n".join(reversed(said)),
        "question": turn.question,
        "answer": turn.teacher.text,
        **dict.fromkeys(LABELS, ""),
    }
