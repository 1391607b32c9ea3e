"""Runs and answers are scored as the public evaluators do, over a folder that these can load."""

import csv
import json
import random
from pathlib import Path
from typing import Any

import pytest
import pytrec_eval

from annotation.metrics.result import ScoreError
from annotation.protocols.rag import baselines, export, scoring
from annotation.protocols.rag.tests.records import mark, passage, question, seed, vote

pytestmark = pytest.mark.pure
WORDS = "quay mill roof slate ledger tide ferry engine orchard lamp copper rope".split()
MEASURES = {"ndcg_cut.10", "recall.5,100", "recip_rank", "success.1,10"}


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """Return the folder of a release: fifty passages, a dozen questions, two without an answer."""
    rng = random.Random(2)
    about = [
        passage(
            f"a file {at // 5}.txt", f"File {at // 5}", at % 5, " ".join(rng.choices(WORDS, k=9))
        )
        for at in range(50)
    ]
    seeds = []
    for number in range(12):
        shown = rng.sample(about, 2)
        words = [mark(one, one["text"].split()[0]) for one in shown]
        asked = f"Which {' '.join(rng.choices(WORDS, k=3))} is number {number}?"
        given = vote("answer", f"the {WORDS[number]}", *words, chosen=True)
        if number > 9:
            given = vote("none", chosen=True)
        seeds.append(seed(question(asked, given), passages=shown))
    whole = [{"title": "", "text": "", "links": [], "imported": None, "passages": about}]
    for name, pieces in export.files({"dev": list(export.identified(seeds))}, whole):  # type: ignore[arg-type]
        path = tmp_path / "release" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(pieces))
    return tmp_path / "release"


def load(folder: Path, split: str) -> tuple[Any, Any, Any]:
    """Return corpus, queries and qrels as BEIR's loader reads its folder."""
    corpus = {}
    for line in (folder / "corpus.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        corpus[row["_id"]] = {"text": row["text"], "title": row["title"]}
    rows = map(json.loads, (folder / "queries.jsonl").read_text("utf-8").splitlines())
    queries = {row["_id"]: row["text"] for row in rows}
    qrels: dict[str, dict[str, int]] = {}
    with (folder / "qrels" / f"{split}.tsv").open(encoding="utf-8") as file:
        reader = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_MINIMAL)
        assert next(reader) == ["query-id", "corpus-id", "score"]
        for query, passage_id, grade in reader:
            qrels.setdefault(query, {})[passage_id] = int(grade)
    return corpus, {query: queries[query] for query in qrels}, qrels


def read_run(path: Path) -> dict[str, dict[str, float]]:
    run: dict[str, dict[str, float]] = {}
    for line in path.read_text("utf-8").splitlines():
        query, _, passage_id, _, value, _ = line.split(" ")
        run.setdefault(query, {})[passage_id] = float(value)
    return run


@pytest.mark.parametrize("name", baselines.BASELINES)
def test_a_public_evaluator_loads_the_folder_and_finds_our_figures(
    name: str, release: Path, tmp_path: Path
) -> None:
    gold, run = release / "dev.json", tmp_path / "found.trec"
    ours = baselines.run(name, run, gold, {})["official"]
    assert scoring.score(run, gold, {})["official"] == ours
    corpus, queries, qrels = load(release, "dev")
    assert (len(corpus), len(queries)) == (50, 10)
    assert {passage_id for of in qrels.values() for passage_id in of} <= corpus.keys()
    found = pytrec_eval.RelevanceEvaluator(qrels, MEASURES).evaluate(read_run(run))
    names = {measure for of in found.values() for measure in of}
    assert len(names) == 6
    means = {each: sum(of[each] for of in found.values()) / len(found) for each in names}
    assert {each: ours[each] / 100 for each in names} == pytest.approx(means, abs=1e-9)
    assert 0 < ours["ndcg_cut_10"] < 100
    trec = [line.split() for line in (release / "qrels.dev.trec").read_text().splitlines()]
    assert {(query, of) for query, _, of, _ in trec} == {(q, d) for q in qrels for d in qrels[q]}


def test_answers_are_scored_with_those_that_there_are_not(release: Path, tmp_path: Path) -> None:
    gold = scoring.read_gold(release / "dev.json")
    answers = {key: (of or [""])[0] for key, of in gold.answers.items()}
    told = {
        key: {"answer": text, "passages": [*gold.qrels.get(key, {})]}
        for key, text in answers.items()
    }
    path = tmp_path / "told.json"
    path.write_text(json.dumps(told), "utf-8")
    official = scoring.score(path, release / "dev.json", {})["official"]
    assert (official["exact"], official["f1"], official["NoAns_total"]) == (100, 100, 2)
    assert (official["ndcg_cut_10"], official["all_5"], official["recip_rank"]) == (100, 100, 100)
    # Nothing answered is right where there is no answer, and an answer is wrong there.
    for text, no_answer in (("", 100), ("something", 0)):
        path.write_text(json.dumps(dict.fromkeys(answers, text)), "utf-8")
        result = scoring.score(path, release / "dev.json", {})["official"]
        assert (result["HasAns_exact"], result["NoAns_exact"]) == (0, no_answer)
        assert "recip_rank" not in result


def test_words_are_counted_where_no_blank_parts_them() -> None:
    gold = scoring.Gold({"q": ["東京駅の北口"]}, {})
    close = scoring.scored(gold, scoring.Predictions({}, {"q": "東京駅"}))["official"]
    assert (close["exact"], 0 < close["f1"] < 100) == (0, True)


def test_every_baseline_is_in_one_table(release: Path, tmp_path: Path) -> None:
    result = baselines.run_all(tmp_path / "all", release / "dev.json", {})
    assert {row[0] for row in result["rows"]} == set(result["groups"]) == set(baselines.BASELINES)
    with pytest.raises(ScoreError, match="name a new folder"):
        baselines.run_all(tmp_path / "all", release / "dev.json", {})
    with pytest.raises(ScoreError, match="is there already"):
        baselines.run("bm25", tmp_path / "all" / "bm25.trec", release / "dev.json", {})
    with pytest.raises(ScoreError, match="learns nothing"):
        baselines.run("bm25", tmp_path / "new", release / "dev.json", {"seed": 1})
    (release / "corpus.jsonl").write_text('{"_id": "a"}\n')
    with pytest.raises(ScoreError, match=r"corpus\.jsonl: line 1 is no passage"):
        baselines.run("bm25", tmp_path / "new", release / "dev.json", {})


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"q Q0 d 1 0.5", "line 1 is not QUERY Q0 PASSAGE"),
        (b'{"q": ', "it is not JSON"),
        (b'{"q": {"passages": "d"}}', "what is told of q must be"),
        (b'{"q": "an answer"}', "none of its question ids"),
        (b"\xff\xfe", "it is no text in UTF-8"),
    ],
)
def test_what_are_no_predictions_is_refused(
    content: bytes, words: str, release: Path, tmp_path: Path
) -> None:
    path = tmp_path / "wrong"
    path.write_bytes(content)
    with pytest.raises(ScoreError, match=words):
        scoring.score(path, release / "dev.json", {})
