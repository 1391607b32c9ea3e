"""A sample of questions to be labelled by hand, and what the labels say (IIRC 2.4, Table 1).

The paper's table has three parts: how the information is found, how it is put together, and what
the answer is. The labels of each part are ours; the shares beside them are the paper's.
"""

import heapq
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path

from annotation.metrics.drop import answer_strings
from annotation.protocols.iirc.analysis.released_answers import gold_of
from annotation.records.schema import QuestionRecord, SeedRecord, chosen_vote, is_kept
from annotation.tables.labels import labels_of
from annotation.tables.table import Cell, Table, share
from collector.protocols.stage_tables import read_scheme

SCHEME = read_scheme(Path(__file__).parent.parent / "labels/questions.toml")
# Where the paper says it, the share of a label of a part.
PAPER = {("reasoning", "discrete"): 0.39, ("answer_kind", "no answer"): 0.30}


def drawn(seeds: Iterable[SeedRecord], number: int, rng: random.Random) -> list[dict[str, str]]:
    """Return `number` kept questions with blank labels, in the order drawn.

    The draw depends on the questions' ids and `rng` alone, not on their order.
    """
    salt = rng.getrandbits(64)
    found = heapq.nsmallest(number, _placed(seeds, salt), key=lambda pair: pair[0])
    return [row for _, row in found]


def counted(rows: Iterable[Mapping[str, str]]) -> list[Table]:
    """Return Table 1 of the labels; a row without labels waits.

    Raises ScoreError naming the row for a label that is none of its part's.
    """
    found: Counter[tuple[str, str]] = Counter()
    whole = waiting = 0
    for number, row in enumerate(rows, 1):
        labels = labels_of(row, number, SCHEME.facets())
        if labels is None:
            waiting += 1
            continue
        whole += 1
        found.update(labels.items())
    lines: list[list[Cell]] = [
        [
            part.name.replace("_", " "),
            f"{choice.value}: {choice.hint}",
            found[part.name, choice.value],
            share(found[part.name, choice.value], whole),
            PAPER.get((part.name, choice.value)),
        ]
        for part in SCHEME.facets()
        for choice in part.choices
    ]
    note = f"{whole} questions are labelled, {waiting} wait."
    columns = ["part", "label", "questions", "share", "paper's share"]
    return [
        Table(
            "labels", "Questions labelled by hand (Table 1 of the IIRC paper)", columns, lines, note
        )
    ]


def _placed(seeds: Iterable[SeedRecord], salt: int) -> Iterator[tuple[str, dict[str, str]]]:
    for seed in seeds:
        for question in seed["questions"]:
            if is_kept(question) and chosen_vote(question) is not None:
                place = sha256(f"{salt}/{question['id']}".encode()).hexdigest()
                yield place, _row(seed, question)


def _row(seed: SeedRecord, question: QuestionRecord) -> dict[str, str]:
    released, gold, passage = chosen_vote(question), gold_of(question), seed["passages"][0]
    payload = released["payload"] if released else {}
    evidence = [f"{span['document']}: {span['text']}" for span in payload.get("context") or ()]
    words = answer_strings(gold["answer"])[0] if gold else ()
    return {
        "id": question["id"],
        "passage": f"{passage['title']}: {passage['text']}",
        "question": question["text"],
        "links": "\n".join(question["payload"].get("links") or ()),
        "evidence": "\n".join(evidence),
        "answer": " ".join([*words, payload.get("unit") or ""]).strip(),
        **{part.name: "" for part in SCHEME.facets()},
    }
