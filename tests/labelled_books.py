"""Real books with their published questions, labelled by simulated people of known accuracy."""

import csv
import json
import random
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

from django.utils import timezone

from collector.models import Collection
from collector.protocols.loading import get_protocol
from tasks.simulation.identity import introduce
from tasks.simulation.simulated_contract import SIMULATED
from tests.page_workers import Person

ACCURACIES = {"AADA": 0.97, "AEDITH": 0.9, "AGRACE": 0.85, "AIDA": 0.8, "ARITA": 0.7}
TABLES = ("documents.csv", "qaps.csv", "summaries.csv")


def lay_out(data: Path, folder: Path, books: Sequence[str] = ()) -> list[Path]:
    """Write the three published tables of real books; return the books' files and the tables.

    books: the files' names without their endings; all of them where there is none.
    """
    lines = (data / "replay" / "narrativeqa_books.jsonl").read_bytes().splitlines()
    pairs = [row for row in map(json.loads, lines) if not books or row["book"] in books]
    of = {row["document_id"]: row for row in pairs}
    with (data / "replay" / "narrativeqa_documents.csv").open(encoding="utf-8", newline="") as file:
        documents = [row for row in csv.DictReader(file) if row["document_id"] in of]
    told = {
        "documents.csv": documents,
        "qaps.csv": [_pair(row) for row in pairs],
        "summaries.csv": [
            {**_place(row), "summary": row["summary_tokens"], "summary_tokenized": ""}
            for row in of.values()
        ],
    }
    for name, rows in told.items():
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    names = sorted({row["book"] for row in pairs})
    return [
        *(data / "books" / f"{name}.txt" for name in names),
        *(folder / name for name in TABLES),
    ]


def _place(row: dict[str, Any]) -> dict[str, str]:
    return {"document_id": row["document_id"], "set": row["set"]}


def _pair(row: dict[str, Any]) -> dict[str, str]:
    texts = (row["question_tokens"], *row["answers_tokens"])
    names = ("question", "answer1", "answer2")
    tokenized = {f"{name}_tokenized": "" for name in names}
    return {**_place(row), **dict(zip(names, texts, strict=True)), **tokenized}


class Labeller(Person):
    """A simulated person who gives the right label as often as `accuracy` says."""

    def __init__(self, name: str, collection: Collection, accuracy: float) -> None:
        super().__init__(name, collection)
        self.accuracy = accuracy
        self.rng = random.Random(f"{name}, who labels")
        introduce(name, synthetic=True, now=timezone.now())

    def label_one_hit(self) -> bool:
        """Return whether there was a HIT; its pages are opened and posted as a browser does."""
        state, _ = self.enter("label")
        if not state:
            return False
        entries = [
            {"item": item["id"], "fields": self._labels(item["text"], state)}
            for item in state["items"]
        ]
        reply = self.post(state, "submit", {"data": {"entries": entries}})
        assert reply.status_code == 200, reply.content
        return True

    def _labels(self, text: str, state: dict[str, Any]) -> dict[str, str]:
        found = {}
        for field in state["limits"]["fields"]:
            if labels := [choice["value"] for choice in field["choices"]]:
                right = right_label(self.collection, text, field["name"], labels)
                others = [label for label in labels if label != right]
                errs = self.rng.random() >= self.accuracy
                found[field["name"]] = self.rng.choice(others) if errs else right
        return found


def right_label(collection: Collection, text: str, facet: str, labels: Sequence[str]) -> str:
    """Return the label that everybody gives who does not err."""
    part: Any = get_protocol(collection.protocol).part(SIMULATED)
    return str(part.right_label(text, facet, labels))


def label_all(collection: Collection) -> int:
    """Let everybody label in turn until there is nothing for anybody; return how many HITs."""
    waiting = [Labeller(name, collection, right) for name, right in ACCURACIES.items()]
    done = 0
    for labeller in cycle(list(waiting)):
        if not waiting:
            break
        if labeller in waiting:
            if labeller.label_one_hit():
                done += 1
            else:
                waiting.remove(labeller)
    return done
