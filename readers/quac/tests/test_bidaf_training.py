"""A run of BiDAF++ from official files to official predictions, and what it may be given."""

import json
import random
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import torch
from django.core.management import call_command

from annotation.protocols.quac.baselines import TRAINED
from annotation.protocols.quac.export import published
from annotation.protocols.quac.file_format import CANNOT_ANSWER, FILES
from annotation.protocols.quac.parameters import defaults
from annotation.protocols.quac.report import predicted
from annotation.protocols.quac.scoring import score
from annotation.protocols.quac.tests.talks import SENTENCES, question, write
from annotation.protocols.quac.turns import read_turns
from collector.protocols.loading import get_protocol
from readers.learners.tokens import tokens
from readers.learners.vocabulary import UNKNOWN
from readers.quac.dialogs import Dialog, dialogs_of, token_span
from readers.quac.training import States, best_span, learner_of, train
from readers.tests.tiny_encoders import save_encoder, tiny_encoder
from readers.trained import ReaderError
from readers.trainer.recipe import Recipe, read_recipe
from readers.trainer.run import Run

RECIPE = get_protocol("quac").folder / "recipes" / "bidaf.toml"
TINY = {
    "epochs": 1,
    "batch": 2,
    "hidden": 4,
    "filters": 5,
    "character_width": 3,
    "word_width": 6,
    "least_count": 1,
    "window": 24,
    "stride": 8,
}
TALK = [
    question("What first?", SENTENCES[0], followup="y"),
    question("Is it so?", SENTENCES[1], SENTENCES[2], yesno="y"),
    question("Who?", None, followup="n"),
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path / "train.json", TALK, TALK[:2], [*TALK, TALK[0]])


def _recipe(**values: Any) -> Recipe:
    recipe = read_recipe(RECIPE, "small")
    return replace(recipe, values={**recipe.values, **TINY, **values})


def _run(file: Path, name: str = "bidaf++-2", encoder: str = "", **values: Any) -> Run:
    run = Run(
        protocol="quac",
        name=name,
        train=(file,),
        dev=file,
        out=file.parent / "out",
        recipe=_recipe(**values),
        encoder=encoder,
        settings=TRAINED[name].settings,
    )
    run.out.mkdir()
    run.begin()
    return run


@pytest.mark.parametrize("name", TRAINED)
def test_predictions_are_in_the_official_layout(file: Path, name: str) -> None:
    run = _run(file, name)
    train(run)
    lines = [json.loads(line) for line in run.predictions.read_text("utf-8").splitlines()]
    assert [len(line["qid"]) for line in lines] == [3, 2, 4]
    assert lines[0].keys() == {"qid", "best_span_str", "yesno", "followup"}
    assert set(lines[0]["yesno"]) <= set("ynx")
    assert set(lines[0]["followup"]) <= set("ynm")
    scores = score(run.predictions, file, {"by": "turn"})
    assert "f1" in scores["official"]
    assert len(scores["groups"]) == 4


def test_what_is_trained_answers_another_file_with_the_same_weights(file: Path) -> None:
    run = _run(file)
    train(run)
    again = replace(run, dev=write(file.parent / "other.json", TALK), only_answers=True)
    again.predictions_name = "other.jsonl"
    train(again)
    first = [
        path.read_text("utf-8").splitlines()[0] for path in (run.predictions, again.predictions)
    ]
    assert first[0] == first[1]


def test_its_curves_are_drawn_beside_peoples(file: Path) -> None:
    run = _run(file)
    train(run)
    seeds = published({"train.json": file.read_bytes()}).seeds
    names = {table.name for table in predicted(seeds, defaults(), run.predictions)}
    assert names >= {"scores", "by_turn", "by_distance", "by_answer_length"}


def test_from_a_release_one_command_fills_the_papers_table(file: Path) -> None:
    (file.parent / FILES["dev"]).write_bytes(file.read_bytes())
    others = file.read_text("utf-8").replace('"C_0', '"C_1')
    (file.parent / FILES["train"]).write_text(others, "utf-8")
    recipe = file.parent / "tiny.toml"
    recipe.write_text("".join(f"{key} = {value}\n" for key, value in TINY.items()))
    out = StringIO()
    options = {"protocol": "quac", "release": file.parent, "out": file.parent / "all"}
    call_command("baseline", "all", json=True, recipe=str(recipe), stdout=out, **options)
    table, *curves = json.loads(out.getvalue())
    assert table["title"].startswith("QuAC, Table 4")
    assert [row[:3:2] for row in table["rows"]] == [
        ["bidaf++", None],
        ["bidaf++-1", None],
        ["bidaf++-2", "60.6"],
        ["bidaf++-3", None],
    ]
    assert [each["name"] for each in curves] == [f"groups-{name}" for name in TRAINED]
    groups = [row[0] for row in curves[0]["rows"]]
    assert groups[:4] == ["turn 1", "turn 2", "turn 3", "turn 4"]
    assert {group.partition(" ")[0] for group in groups} == {"turn", "distance", "answer-length"}


def test_an_encoder_stands_in_for_words(file: Path) -> None:
    folder = file.parent / "encoder"
    save_encoder(tiny_encoder([" ".join(SENTENCES)], random.Random(0), width=8), folder)
    run = _run(file, encoder=str(folder))
    train(run)
    assert "words" not in run.facts
    learner = learner_of(run, [])
    assert learner.model.words is None
    assert learner.model.sizes.contextual == 8
    # It is read, not trained, and not kept a second time.
    assert not any("encoder" in name for name in learner.model.state_dict())


def test_vectors_of_a_file_are_used(file: Path) -> None:
    vectors = file.parent / "vectors.txt"
    vectors.write_text("Ada 1 2 3\nnotes 4 5 6\n")
    run = _run(file, vectors=str(vectors), unknown_vectors="zero")
    learner = learner_of(run, dialogs_of(read_turns(file)))
    assert learner.model.words is not None
    assert learner.model.words.weight.shape[1] == 3
    assert run.facts["words_with_given_vectors"] == 2


@pytest.mark.parametrize("given", [True, False])
def test_a_word_that_is_seen_once_is_known_where_a_file_has_its_vector(
    file: Path, given: bool
) -> None:
    write(file, [question("Zanzibar, or what?", SENTENCES[0])])
    vectors = file.parent / "vectors.txt"
    vectors.write_text("Zanzibar 1 2 3\n")
    run = _run(file, vectors=str(vectors) if given else "", least_count=2)
    learner = learner_of(run, dialogs_of(read_turns(file)))
    assert learner.vocabulary is not None
    assert (learner.vocabulary.id("Zanzibar") != UNKNOWN) == given


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"decoding": "worst"}, 'decoding = "worst": give one of best, published'),
        ({"character_windows": 3}, "character_windows = 3: give one of own, whole, all"),
        ({"vectors": "nowhere.txt"}, r"nowhere\.txt: vectors cannot be read"),
    ],
)
def test_a_recipe_that_says_something_else_is_refused(
    file: Path, values: dict[str, Any], said: str
) -> None:
    with pytest.raises(ReaderError, match=said):
        train(_run(file, **values))


def test_each_token_has_the_state_of_its_first_piece() -> None:
    text = " ".join(SENTENCES)
    encoder = tiny_encoder([text], random.Random(0), width=8)
    states = States(encoder, 256, 64, torch.device("cpu"))
    found, words = states.of([text, "Ada"], [tokens(text), tokens("Ada")]), tokens(text)
    window = encoder.window(None, encoder.pieces(text))
    with torch.no_grad():
        whole = encoder([window])[0]
    for at, word in enumerate(words):
        place = window.span(word.start, word.end)
        assert place is not None
        assert torch.allclose(found[0, at], whole[place[0]], atol=1e-5)
    assert found.shape == (2, len(words), 8)
    assert found[1, 1:].abs().max() == 0


def test_a_long_text_is_read_in_windows_that_cover_it() -> None:
    text = " ".join(SENTENCES)
    encoder = tiny_encoder([text], random.Random(0), width=8)
    found = States(encoder, 16, 4, torch.device("cpu"), windows=3).of([text], [tokens(text)])
    assert (found.abs().amax(-1) > 0).all()


def test_dialogs_one_behind_the_other_stay_apart_though_their_ids_are_equal(file: Path) -> None:
    turns = read_turns(file)
    same = [*turns[:3], *turns[:3]]
    assert [len(dialog.asked) for dialog in dialogs_of(same)] == [3, 3]


def test_no_answer_is_the_last_token_and_spans_are_whole_tokens(file: Path) -> None:
    dialog: Dialog = dialogs_of(read_turns(file))[0]
    assert dialog.span(*dialog.asked[0].answer) == SENTENCES[0]
    assert dialog.span(*dialog.asked[2].answer) == CANNOT_ANSWER
    with pytest.raises(ValueError, match="No token begins at 9"):
        token_span([(0, 3), (4, 8)], 9, 10)
    inner = [(2, 3), (4, 8), (9, 12), (13, 15)]
    assert token_span(inner, 0, 15) == ((-1, -1), True)
    assert token_span(inner, 0, 20) == ((-1, 3), True)


def test_no_answer_is_in_no_span_with_others_unless_it_is_allowed() -> None:
    start, end = torch.tensor([0.0, 2.0, 0.0]), torch.tensor([0.0, 1.0, 2.0])
    assert best_span(start, end, 3) == (1, 1)
    assert best_span(start, end, 3, alone=False) == (1, 2)
    assert best_span(start, end, 1, alone=False) == (1, 1)
