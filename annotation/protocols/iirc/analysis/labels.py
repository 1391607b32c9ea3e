"""A sample of questions to be labelled by hand, and what the labels say (IIRC 2.4, Table 1).

The paper's table has three parts: how the information is found, how it is put together, and what
the answer is. The labels of each part are ours; the shares beside them are the paper's.
"""

import heapq
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256

from annotation.metrics.drop import answer_strings
from annotation.metrics.result import ScoreError
from annotation.protocols.iirc.analysis.released import gold_of
from annotation.release.records_schema import QuestionRecord, SeedRecord, chosen_vote, is_kept
from annotation.reports.table import Cell, Table, share

Labels = Mapping[str, tuple[str, float | None]]
# Label -> what it means and, where the paper says it, its share.
RETRIEVAL: Labels = {
    "one link": ("the passage and one linked article", None),
    "several links": ("the passage and two or more linked articles", None),
    "nothing found": ("no linked article tells", None),
}
REASONING: Labels = {
    "look-up": ("the answer stands in a text once the article is found", None),
    "discrete": ("counting, comparing, calculating with numbers or dates", 0.39),
    "other": ("anything else that joins the texts", None),
}
ANSWER: Labels = {
    "span": ("words of a text", None),
    "number": ("a number and its unit", None),
    "yes/no": ("yes or no", None),
    "no answer": ("it cannot be answered from the linked articles", 0.30),
}
PARTS: Mapping[str, Labels] = {
    "retrieval": RETRIEVAL,
    "reasoning": REASONING,
    "answer_kind": ANSWER,
}


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
        labels = {part: _label(row, part, number) for part in PARTS}
        if not any(labels.values()):
            waiting += 1
            continue
        if not all(labels.values()):
            raise ScoreError(f"Row {number}: label all of {', '.join(PARTS)}, or none.")
        whole += 1
        found.update(labels.items())
    lines: list[list[Cell]] = [
        [
            part.replace("_", " "),
            f"{label}: {meaning}",
            found[part, label],
            share(found[part, label], whole),
            paper,
        ]
        for part, labels_of in PARTS.items()
        for label, (meaning, paper) in labels_of.items()
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
        **dict.fromkeys(PARTS, ""),
    }


def _label(row: Mapping[str, str], part: str, number: int) -> str:
    if part not in row:
        raise ScoreError(f"Row {number}: there is no column {part}; keep those of the sample.")
    given = (row[part] or "").strip().lower()
    if given and given not in PARTS[part]:
        known = ", ".join(PARTS[part])
        raise ScoreError(f"Row {number}: {part} must be one of {known}, not {given!r}.")
    return given
