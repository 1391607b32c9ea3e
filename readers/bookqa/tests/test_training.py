"""From a release the command trains systems of every kind, and fills the paper's tables."""

import csv
import json
import random
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import torch
from django.core.management import CommandError, call_command

from annotation.protocols.bookqa import baselines
from annotation.protocols.bookqa.baselines import (
    BEST,
    HARD_EM,
    RANKED,
    TRAINED,
    UNFILTERED,
)
from annotation.protocols.bookqa.ranking_files import read_ranking
from collector.ingest.books.tests.making import table
from readers.bookqa.material import read_material
from readers.bookqa.tests.making import lines, release_files, run_of
from readers.bookqa.writing import PreReading, pre_read
from readers.learners.seq2seq import EncoderDecoder, Limits, load_writer
from readers.tests.tiny_encoders import save_encoder, tiny_encoder
from readers.tests.tiny_writers import tiny_writer
from readers.trainer.recipe import Recipe, read_recipe, unsourced

torch.set_num_threads(1)
pytestmark = [pytest.mark.data, pytest.mark.pure]
SOME = (
    *(HARD_EM, BEST, UNFILTERED, "bert", "bert-ranked", "bart-hard-em"),
    *("fid-bart-oracle", "bart-summary", "question-types"),
)
TEXT = "the cat sat on the mat and the dog lay there"
HIDDEN = {"hidden_share": 0.3, "span_mean": 3.0}
RECIPES = Path(baselines.__file__).parent / "recipes"


@pytest.fixture(autouse=True)
def _without_meteor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation.protocols.bookqa.scoring.find_meteor", lambda: None)


@pytest.fixture(scope="module")
def release(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files of a release: 10 questions to learn from, 10 of dev."""
    return release_files(tmp_path_factory.mktemp("release"), data)


@pytest.fixture(scope="module")
def models(release: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of tiny models by the names that the small recipes have for them."""
    folder = tmp_path_factory.mktemp("models")
    texts = [line["question"] for line in lines(release / "candidates.jsonl")]
    for kind, name in (("bart", "facebook/bart-base"), ("t5", "t5-small")):
        (folder / name).mkdir(parents=True)
        tiny_writer(kind, texts, folder / name, width=8)
    for name in ("google/bert_uncased_L-4_H-256_A-4", "distilroberta-base"):
        (folder / name).mkdir(parents=True)
        save_encoder(tiny_encoder(texts, random.Random(0), width=8), folder / name)
    return folder


def run(name: str, **options: Any) -> str:
    out = StringIO()
    call_command("baseline", name, protocol="bookqa", recipe="small", stdout=out, **options)
    return out.getvalue()


def test_every_number_of_the_recipes_says_where_it_is_from() -> None:
    for path in RECIPES.glob("*.toml"):
        assert unsourced(path) == [], path
    for name, about in TRAINED.items():
        for recipe in ("paper", "small"):
            found = read_recipe(RECIPES / f"{about.recipe or name}.toml", recipe)
            assert found.text("encoder")
            assert found.training().epochs


def test_systems_of_every_kind_fill_the_papers_tables(
    release: Path, models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(baselines, "TRAINED", {name: TRAINED[name] for name in SOME})
    out = tmp_path / "out"
    tables = json.loads(run("all", release=release, out=out, encoder=str(models), json=True))

    ranked, read, summary, types = (each for each in tables if "beside our own" in each["title"])
    at = ranked["columns"].index("ROUGE_L@5") + 1
    told = {row[0]: row[at] for row in ranked["rows"]}
    assert told == {UNFILTERED: "0.5102", HARD_EM: "0.505", BEST: "0.5319"}
    assert "Not built: the rows of BiDAF and MatchLSTM" in ranked["note"]
    at = read["columns"].index("ROUGE_L") + 1
    told = {row[0]: row[at] for row in read["rows"]}
    assert list(told) == ["bert", "bert-ranked", "bart-hard-em", "fid-bart-oracle"]
    assert told["fid-bart-oracle"] == "0.3775"
    # The paper tells of its best extractive system by label alone.
    assert told["bert-ranked"] is None
    assert "Not built: the row of ORQA" in read["note"]
    assert summary["rows"][0][summary["columns"].index("event-only: ROUGE_L") + 1] == "0.551"
    assert types["rows"][0][types["columns"].index("accuracy, test") + 1] == "0.702"

    dev = {line["id"] for line in lines(release / "candidates.jsonl") if line["set"] == "valid"}
    for name in ("bert", "bart-hard-em", "fid-bart-oracle", "bart-summary"):
        said = json.loads((out / name / "predictions.json").read_text("utf-8"))
        assert said.keys() == dev
        assert all(isinstance(answer, str) for answer in said.values())
    # The ranking of every question, which reads as rank_passages asks.
    order = read_ranking(out / HARD_EM / "predictions.jsonl")
    for line in lines(release / "candidates.jsonl"):
        assert sorted(order[line["id"]]) == sorted(line["passages"])
    card = json.loads((out / HARD_EM / "card.json").read_text("utf-8"))
    assert list(card["stages"]) == ["distant", "reader-1", "hard-em-1"]
    names = ("google/bert_uncased_L-4_H-256_A-4", "facebook/bart-base")
    assert list(card["encoders"]) == [str(models / name) for name in names]
    card = json.loads((out / "bert-ranked" / "card.json").read_text("utf-8"))
    assert RANKED[BEST].predictions in card["files"]["train"]
    counts = [
        json.loads((out / name / "card.json").read_text("utf-8"))["stages"][stage]["items"]
        for name, stage in ((UNFILTERED, "unfiltered"), (HARD_EM, "distant"))
    ]
    assert counts[0] > counts[1]
    card = json.loads((out / "bart-hard-em" / "card.json").read_text("utf-8"))
    assert any("predictions.jsonl" in name for name in card["files"]["train"])
    # What is trained answers other questions too; their answers may be blank.
    rows = list(csv.DictReader((release / "qaps.csv").open(encoding="utf-8")))
    asked = [{**row, "set": "test", "answer1": "", "answer2": ""} for row in rows[-3:]]
    other = table(tmp_path / "unseen.csv", *asked)
    run("bert", out=out / "bert", predict=other)
    said = json.loads((out / "bert" / "predictions-unseen.json").read_text("utf-8"))
    assert len(said) == 3
    assert said.keys() < dev
    # Both answers of each of the 10 questions, where they differ.
    assert 10 < card["stages"]["reader"]["items"] <= 20


def test_a_reader_by_a_ranker_asks_for_its_ranking(
    release: Path, models: Path, tmp_path: Path
) -> None:
    files = {
        "train": [release / "passages.jsonl", release / "candidates.jsonl"],
        "dev": release / "qaps.csv",
        "encoder": str(models),
    }
    with pytest.raises(CommandError, match=r"give its predictions\.jsonl too"):
        run("bart-ranked", out=tmp_path / "out", **files)
    assert "all" in run("bart-ranked", out=tmp_path / "no", estimate=True, **files)


@pytest.mark.parametrize("name", ["bart", "bert", "fid-bart-oracle", "bart-summary", "ranker-best"])
def test_what_reads_by_no_trained_ranker_refuses_a_ranking(
    name: str, release: Path, models: Path, tmp_path: Path
) -> None:
    ranking = tmp_path / "predictions.jsonl"
    orders = ({"id": line["id"], "passages": [0]} for line in lines(release / "candidates.jsonl"))
    ranking.write_text("".join(json.dumps(order) + "\n" for order in orders), "utf-8")
    files = [release / file for file in ("qaps.csv", "summaries.csv")]
    if name != "bart-summary":
        files = [release / file for file in ("passages.jsonl", "candidates.jsonl")]
    with pytest.raises(CommandError) as refused:
        run(
            name,
            train=[*files, ranking],
            dev=release / "qaps.csv",
            out=tmp_path / "out",
            encoder=str(models),
        )
    told = f"--train: {name} does not read by a trained ranker: leave its ranking out."
    assert str(refused.value) == told


def test_an_estimate_counts_what_is_answered_between_stages_and_in_every_fold(
    release: Path, models: Path, tmp_path: Path
) -> None:
    files: dict[str, Any] = {
        "train": [release / name for name in TRAINED[HARD_EM].train_files],
        "dev": release / "qaps.csv",
        "encoder": str(models),
        "out": tmp_path / "out",
        "estimate": True,
        "json": True,
    }
    found = json.loads(run(HARD_EM, **files))
    assert [stage["name"] for stage in found["stages"]] == ["distant", "reader-1", "hard-em-1"]
    # The ranker orders the 10 to learn from, the reader says which are likely; then all are ranked.
    assert {each["stage"]: each["items"] for each in found["answers"]} == {
        HARD_EM: 10 + 10,
        "hard-em-1": 20,
    }
    files["train"] = [release / "labels.csv"]
    found = json.loads(run("question-types", **files))
    assert [stage["name"] for stage in found["stages"]] == [f"fold-{at}" for at in range(10)]
    assert [each["items"] for each in found["answers"]] == [10 * 20]
    assert all(each["seconds"] > 0 for each in found["answers"])


def test_a_model_learns_to_mend_what_it_pre_reads(tmp_path: Path) -> None:
    writer = load_writer(tiny_writer("bart", [TEXT], tmp_path), Limits(64, 8))
    assert isinstance(writer, EncoderDecoder)
    learner = PreReading(writer, Recipe("tests", HIDDEN))
    item = torch.tensor(writer.tokenizer(TEXT)["input_ids"])
    torch.manual_seed(0)
    before = [learner.loss([item]).item() for _ in range(20)]
    optimizer = torch.optim.Adam(writer.parameters(), 5e-3)
    for _ in range(40):
        optimizer.zero_grad()
        learner.loss([item]).backward()
        optimizer.step()
    after = [learner.loss([item]).item() for _ in range(20)]
    assert max(after) < min(before)


@pytest.mark.parametrize("decoder_only", [False, True])
def test_the_encoder_stays_where_the_decoder_alone_pre_reads(
    decoder_only: bool, release: Path, tmp_path: Path
) -> None:
    writer = load_writer(tiny_writer("bart", [TEXT], tmp_path, width=8), Limits(64, 8))
    assert isinstance(writer, EncoderDecoder)
    model = writer.model.model
    encoder, decoder = model.encoder.layers[0].fc1.weight, model.decoder.layers[0].fc1.weight
    before = [weights.detach().clone() for weights in (encoder, decoder, model.shared.weight)]
    values = {**HIDDEN, "pool": 8, "read_tokens": 32, "optimizer": "adam"}
    values |= {"epochs": 1, "batch": 4, "learning_rate": 0.01}
    files = [release / "passages.jsonl", release / "candidates.jsonl"]
    asked = run_of("bart-pre-read", files, release / "qaps.csv", tmp_path / "out", values)
    pre_read(asked, writer, read_material(files), decoder_only=decoder_only)
    now = (encoder, decoder, model.shared.weight)
    kept = [torch.equal(one, other) for one, other in zip(before, now, strict=True)]
    assert kept == [decoder_only, False, decoder_only]
    assert all(parameter.requires_grad for parameter in writer.parameters())
    assert asked.facts["pre_read_passages"] == 8
