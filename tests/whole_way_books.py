"""Books and their published questions, from import to a release with labels: one run of it all.

A rehearsal walks with all twenty books, the suite with the shortest. Who labels is simulated
and errs as often as is known, so that what is estimated of them can be held against the truth.
"""

import csv
import json
import re
import time
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy
from django.test import Client
from django.utils import timezone

from annotation.agreement.dawid_skene import accuracy_intervals, dawid_skene
from annotation.agreement.kappa import simple_agreement
from annotation.agreement.votes import NONE, Votes, votes_of
from annotation.dashboard.tests.making import send
from annotation.models import Verdict
from annotation.splits.human_performance import sample_questions
from annotation.tables.labels import MIN_ITEMS
from collector.models import Collection, Stage
from collector.protocols.creation import parameters_of
from tasks import hits
from tasks.crowd import marketplace
from tasks.models import Answer, Question
from tasks.tests.making import name_qualification, write_keys
from tests.labelled_books import ACCURACIES, TABLES, label_all, lay_out, right_label
from tests.page_workers import run
from tests.test_fifth_protocol import new_hit

CORPUS, PUBLISHED = "books", "published"
FACETS = ("question_type", "answer_unit")
# A binomial share is farther off than this once in some ten thousand times.
MOST_ERRORS = 4
# How many people label what more than one labels.
PEOPLE = 3


def without_marketplace(folder: Path, settings: Any, monkeypatch: Any) -> None:
    """Let every HIT be accepted by a marketplace that is not there, and the desk be open."""
    write_keys(folder, settings)
    settings.SUBMIT_ORIGINS = ["http://127.0.0.1:8000"]
    settings.OPEN_DESK = True
    monkeypatch.setattr("tasks.lifecycle.publication.call", lambda operation: {})
    monkeypatch.setattr(marketplace, "create_hit_type", lambda **values: f"T {values['title']}")
    monkeypatch.setattr(marketplace, "create_hit", new_hit)
    monkeypatch.setattr(marketplace, "create_qualification", name_qualification)


def read_books(files: Sequence[Path], n_books: int, n_questions: int) -> None:
    """Read books, summaries and pairs in, whole, and once."""
    told = run("ingest_books", *map(str, files), corpus=CORPUS, processes=1)
    counts = told["counts"]
    assert (counts["books"], counts["summaries"]) == (n_books, n_books)
    assert counts["questions"] == n_questions
    assert (told["state"], told["rows_of_other_documents"]) == ("ready", 0)
    again = run("ingest_books", *map(str, files), corpus=CORPUS, processes=1)
    assert (len(again["passed_over"]), again["counts"]) == (n_books, counts)


def rank(folder: Path, n_questions: int) -> dict[tuple[str, int], list[Any]]:
    """Rank all passages; return the table's rows by ranker and depth."""
    found = run("rank_passages", CORPUS, protocol="bookqa", out=folder)
    assert found["written"]["candidates.jsonl"] == n_questions
    assert found["written"]["distant_supervision.jsonl"] == n_questions
    table = {(row[0], row[1]): row[2:] for row in found["rankers"]["rows"]}
    for depth in (3, 5, 10):
        # Presence first, ROUGE-L fourth after it.
        bm25, oracle = table["BM25", depth], table["Oracle", depth]
        assert bm25[0] <= oracle[0]
        assert bm25[4] <= oracle[4]
        assert bm25[0] <= table["Upperbound", 32][0]
        assert bm25[4] <= table["Upperbound", 32][4]
    return table


def publish(files: Sequence[Path], percent: int) -> Stage:
    """Read the pairs in as a collection of their own, and have them labelled.

    percent: how many of the HITs are done by several people.
    """
    tables = [str(path) for path in files if path.name in TABLES]
    # The paper has two: they tell how people agree, but not which of them errs.
    changed = [f"label.redundancy.people={PEOPLE}", f"label.redundancy.percent={percent}"]
    run("import_dataset", PUBLISHED, *tables, protocol="bookqa", set=changed)
    run("finish_collection", PUBLISHED, reopen=True, why="To label the pairs.")
    run("change_collection", PUBLISHED, budget=500.0, why="To label the pairs.")
    run("publish", PUBLISHED, stage="label")
    collection = Collection.objects.get(slug=PUBLISHED)
    sample_questions(collection)
    stage = collection.stages.get(name="label")
    hits.plan_postings(stage, timezone.now())
    hits.publish_pending(stage, timezone.now())
    return stage


def label(stage: Stage, n_questions: int) -> Votes:
    """Let simulated people label all; return the first facet's votes, once they are as planned."""
    done = label_all(stage.collection)
    units = list(stage.units.all())
    table = parameters_of(stage.collection).stages()[stage.name]
    assert len(units) == -(-n_questions // table.items_per_hit)
    assert all(unit.submitted == unit.redundancy for unit in units)
    n_shared = sum(unit.redundancy == PEOPLE for unit in units)
    assert abs(n_shared - table.redundancy.percent / 100 * len(units)) < 1
    assert done == len(units) + (PEOPLE - 1) * n_shared
    votes = Answer.objects.filter(stage=stage)
    assert set(votes.values_list("synthetic", flat=True)) == {True}
    assert votes.values("question").distinct().count() == n_questions
    return cast_on(stage, "question_type")


def cast_on(stage: Stage, facet: str) -> Votes:
    """Return the votes on a facet, each item by its text and number, labellers by their names."""
    rows = Answer.objects.filter(stage=stage, corrected_by="").order_by("id")
    rows = rows.select_related("worker__identity")
    return votes_of(
        (row.question_id, row.worker.identity.person, label_of(row, facet)) for row in rows
    )


def label_of(answer: Answer, facet: str) -> str:
    """Return an answer's label of a facet: the first is its type."""
    return str(answer.payload["fields"].get(facet) or answer.type)


def check_labellers(stage: Stage, facet: str) -> dict[str, tuple[float, float]]:
    """Hold what is estimated of the labellers against how often they err.

    Returns by name how often each was right, and how often that was to be expected.
    """
    votes = cast_on(stage, facet)
    right = codes_of_the_truth(stage, votes, facet)
    given = votes.codes != NONE
    found = {}
    for place, name in enumerate(votes.annotators):
        mine = given[:, place]
        share = float((votes.codes[mine, place] == right[mine]).mean())
        known = ACCURACIES[str(name)]
        error = (known * (1 - known) / mine.sum()) ** 0.5
        assert abs(share - known) < MOST_ERRORS * error, (facet, name, share)
        found[str(name)] = (share, known)
    return found


def codes_of_the_truth(stage: Stage, votes: Votes, facet: str) -> Any:
    """Return int[n_items]: the place of each item's right label."""
    labels = labels_of(stage, facet)
    texts = dict(Question.objects.filter(pk__in=votes.items).values_list("pk", "text"))
    right = [right_label(stage.collection, texts[item], facet, labels) for item in votes.items]
    return numpy.array([votes.labels.index(each) for each in right])


def labels_of(stage: Stage, facet: str) -> list[str]:
    """Return the labels of a facet, in the scheme's order."""
    table: Any = parameters_of(stage.collection).stages()[stage.name]
    (field,) = (each for each in table.fields if each.name == facet)
    return [choice.value for choice in field.choices]


def check_agreement(stage: Stage, facet: str) -> tuple[float, float, float]:
    """Hold how often two agree against what follows from how often each of them errs.

    Returns it, and the interval that it is to lie in.
    """
    votes = cast_on(stage, facet).several()
    counts = votes.counts()
    assert set(counts.sum(axis=1)) == {PEOPLE}
    n_others = len(labels_of(stage, facet)) - 1
    expected = []
    for row in votes.codes:
        right = [ACCURACIES[str(votes.annotators[at])] for at in numpy.flatnonzero(row != NONE)]
        expected += [a * b + (1 - a) * (1 - b) / n_others for a, b in combinations(right, 2)]
    low, high = simple_agreement.interval(counts, seed=0)
    mean = sum(expected) / len(expected)
    assert low <= mean <= high, (facet, low, high)
    return mean, low, high


def check_estimates(stage: Stage, facet: str) -> int:
    """Return of how many labellers Dawid and Skene's interval holds how often they are right.

    Of none where there are too few items to tell.
    """
    votes = cast_on(stage, facet).several(PEOPLE)
    if len(votes.items) < MIN_ITEMS:
        return 0
    right = codes_of_the_truth(stage, votes, facet)
    estimate = dawid_skene(votes)
    held = 0
    for place, (low, high) in enumerate(accuracy_intervals(votes, estimate, seed=0)):
        mine = votes.codes[:, place] != NONE
        share = float((votes.codes[mine, place] == right[mine]).mean())
        held += low <= share <= high
    return held


def every_pair_shares_as_much(stage: Stage) -> list[int]:
    """Return how many items each pair of labellers has in common."""
    given = cast_on(stage, "question_type").codes != NONE
    return [int((given[:, one] & given[:, two]).sum()) for one, two in combinations(range(5), 2)]


def adjudicate(stage: Stage) -> int:
    """Decide by one key each on the desk what two label differently; return how many it were.

    A vote that is right in the first facet is kept, where there is one. Verdicts and votes stay.
    """
    desk = Client(HTTP_HOST="localhost")
    pages = f"/collections/{PUBLISHED}/questions/"
    verdicts = list(Verdict.objects.order_by("pk").values())
    votes = list(Answer.objects.order_by("pk").values())
    differing = _differing(stage)
    waiting = f"Labels to decide <span>{len(differing)}</span>"
    assert waiting in desk.get(f"{pages}?outcome=labels").content.decode()
    for question in Question.objects.filter(pk__in=differing).order_by("pk"):
        page = f"{pages}{question.key}/"
        shown = desk.get(f"{page}?outcome=labels").content.decode()
        letters = re.findall(r'form="adjudicate"[^>]* value="([A-Z])"', shown)
        given = dict(zip(letters, _labels_on(question, stage), strict=True))
        best = max(given, key=lambda letter: _is_right(given[letter], stage))
        sent = {"by_key": "1", "labels": best, "note": "The definition says so."}
        listed = f"{page}?outcome=labels"
        assert send(desk, listed, f"{page}override/?outcome=labels", sent).status_code == 302
    assert "Labels to decide <span>0</span>" in desk.get(pages).content.decode()
    assert list(Verdict.objects.order_by("pk").values()) == verdicts
    assert list(Answer.objects.filter(corrected_by="").order_by("pk").values()) == votes
    logged = Answer.objects.filter(stage=stage).exclude(corrected_by="")
    assert logged.count() == len(differing)
    return len(differing)


def _differing(stage: Stage) -> list[int]:
    """Return the questions of which two people gave different labels in any facet."""
    found = set()
    for facet in FACETS:
        votes = cast_on(stage, facet).several()
        found |= {
            item
            for item, codes in zip(votes.items, votes.codes, strict=True)
            if len({code for code in codes if code != NONE}) > 1
        }
    return sorted(found)


def _labels_on(question: Question, stage: Stage) -> list[Answer]:
    rows = question.answers.filter(stage=stage, corrected_by="")
    return list(rows.order_by("created_at", "submission_id", "id"))


def _is_right(answer: Answer, stage: Stage) -> bool:
    facet = FACETS[0]
    return label_of(answer, facet) == right_label(
        stage.collection, answer.question.text, facet, labels_of(stage, facet)
    )


def report_of(n_questions: int) -> dict[str, Any]:
    """Return the report; nothing simulated stands in it as people's."""
    tables = run("report", PUBLISHED)
    assert not [name for name in tables if "agreement" in name or name.startswith("accuracy")]
    for name in ("question_type", "answer_unit", "flow_question_type_answer_unit"):
        assert tables[name]["simulated"] == f"With simulated labels: of {n_questions:,} questions."
    paid = {row[0]: row[1:3] for row in tables["pay"]["rows"]}
    assert paid["label"][0] == paid["label"][1] > 0
    return dict(tables)


def release(
    folder: Path, files: Sequence[Path], n_questions: int, n_votes: int, n_decided: int
) -> dict[str, Any]:
    """Release it; return what was printed of it."""
    from pyarrow import parquet

    run("validate_answers", PUBLISHED)
    run("make_splits", PUBLISHED)
    told = run("export_dataset", PUBLISHED, out=folder)
    counts = told["counts"]
    assert sum(counts["questions"].values()) == n_questions
    assert (counts["dropped"], counts["waiting"]) == (0, 0)
    # Beside each pair its published second answer.
    assert counts["votes"] == n_questions + n_votes
    assert counts["simulated"] == f"{n_votes:,} of {n_questions + n_votes:,} answers"
    for path in files:
        if path.name in TABLES:
            # All splits in each, by document: the rows are the same ones.
            both = (folder / path.name, path)
            written, read = (sorted(each.read_bytes().splitlines()) for each in both)
            assert written == read, path.name
    votes = parquet.read_table(folder / "votes.parquet").to_pylist()
    labels = [row for row in votes if row["stage"] == "label"]
    assert len(labels) == n_votes
    assert all(row["synthetic"] for row in labels)
    assert all(json.loads(row["answer_more"])["fields"]["answer_unit"] for row in labels)
    held = _read(folder / "labels.csv")
    assert len(held) == n_questions
    given = _read(folder / "label_votes.csv")
    assert sum(not row["adjudicated"] for row in given) == n_votes
    assert sum(row["adjudicated"] == "yes" for row in given) == n_decided
    assert sum(row["decided_by"] == "adjudication" for row in held) == n_decided
    assert {row["simulated"] for row in [*held, *given]} == {"yes"}
    return dict(told)


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def score(released: Path, answers: Path) -> dict[str, Any]:
    """Score people's second answers by a release's own files, by what is asked and answered."""
    files, labels = (str(answers), str(released / "qaps.csv")), str(released / "labels.csv")
    found = run("score", *files, protocol="bookqa", baseline="human", labels=labels)
    assert 0 < found["EM"] <= found["F1"] <= 1
    assert {name.partition(":")[0] for name in found["by"]} == {
        *("question group", "question type", "answer class", "answer unit"),
    }
    return dict(found)


def walk(
    data: Path,
    folder: Path,
    books: Sequence[str],
    *,
    n_books: int,
    n_questions: int,
    percent: int = 15,
) -> dict[str, Any]:
    """Go the whole way with real books; return what was measured, step by step.

    books: names of files, none for all; percent: see `publish`.
    """
    took: dict[str, float] = {}
    began = time.monotonic()

    def lap(name: str) -> None:
        nonlocal began
        took[name], began = round(time.monotonic() - began, 1), time.monotonic()

    files = lay_out(data, folder, books)
    read_books(files, n_books, n_questions)
    lap("import")
    ranked = rank(folder / "ranking", n_questions)
    lap("ranking")
    stage = publish(files, percent)
    votes = label(stage, n_questions)
    n_votes = int((votes.codes != NONE).sum())
    lap("labelling")
    agreement = hold_against_the_truth(stage)
    lap("agreement")
    run("validate_answers", PUBLISHED)
    n_decided = adjudicate(stage)
    lap("adjudication")
    tables = report_of(n_questions)
    lap("analysis")
    told = release(folder / "released", files, n_questions, n_votes, n_decided)
    lap("release")
    scores = score(folder / "released", folder / "second.json")
    lap("scores")
    return {
        "took": took,
        "ranked": ranked,
        "labels": n_votes,
        **agreement,
        "adjudicated": n_decided,
        "flow": tables["flow_question_type_answer_unit"]["rows"],
        "counts": told["counts"],
        "scores": {name: scores[name] for name in ("ROUGE_L", "EM", "F1")},
    }


def hold_against_the_truth(stage: Stage) -> dict[str, Any]:
    """Return what is estimated of the labellers by facet, none of it far from what is known."""
    return {
        "right": {facet: check_labellers(stage, facet) for facet in FACETS},
        "agreement": {facet: check_agreement(stage, facet) for facet in FACETS},
        "held": sum(check_estimates(stage, facet) for facet in FACETS),
        "shared": every_pair_shares_as_much(stage),
    }
