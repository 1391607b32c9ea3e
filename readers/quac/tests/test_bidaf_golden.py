"""BiDAF++ against what the official code computes, with the same weights and inputs."""

import json
import math
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
import torch
from torch import Tensor

from annotation.metrics.tests.golden import vectors, weights
from annotation.metrics.token_overlap import token_f1
from annotation.protocols.quac.file_format import seed_record
from annotation.protocols.quac.turns import counted, turns_of
from readers.quac.dialogs import (
    FIRST,
    FOLLOWUP,
    INSIDE,
    LAST,
    ONLY,
    YESNO,
    Dialog,
    dialogs_of,
    token_span,
)
from readers.quac.network import Bidaf, Scores, Sizes
from readers.quac.training import BidafLearner, best_span, decoded, published_span

REL, ABS = 1e-6, 1e-7
N_CONFIGURATIONS = 6
CHARACTERS = "_text_field_embedder.token_embedder_token_characters"
MODULES = {
    "characters.embedding": f"{CHARACTERS}._embedding._module",
    "characters.convolution": f"{CHARACTERS}._encoder._module.conv_layer_0",
    "phrase.gru": "_phrase_layer._module",
    "merge": "_merge_atten._module",
    "residual.gru": "_residual_encoder._module",
    "merge_self": "_merge_self_attention._module",
    "start.gru": "_span_start_encoder._module",
    "end.gru": "_span_end_encoder._module",
    "starts": "_span_start_predictor._module",
    "ends": "_span_end_predictor._module",
    "yesno": "_span_yesno_predictor._module",
    "followup": "_span_followup_predictor._module",
    "number": "_question_num_marker",
    "mark": "_prev_ans_marker",
}
SIMILARITIES = {"attention": "_matrix_attention", "self_attention": "_self_attention"}
ACTS = {"yesno": YESNO, "followup": FOLLOWUP}
PARTS = ("first", "second", "product")
PLACES = {ONLY: "", FIRST: "start", INSIDE: "in", LAST: "end"}


@pytest.fixture(autouse=True)
def _in_double_precision() -> Iterator[None]:
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@cache
def golden() -> Any:
    return vectors("readers_quac.json")


def _dialogs(data: Mapping[str, Any]) -> list[Dialog]:
    """Return the dialogs of the official code's input, which tells less than official files."""
    seeds = []
    for at, section in enumerate(data["data"]):
        for dialog in section["paragraphs"]:
            dialog.setdefault("id", dialog["qas"][0]["id"].rpartition("_q#")[0])
            for question in dialog["qas"]:
                question["orig_answer"] = question["answers"][-1]
        seeds.append(seed_record({"title": "", **section}, "", str(at)))
    return dialogs_of(turns_of(seeds))


def _sizes(told: Mapping[str, Any], legacy: bool) -> Sizes:
    embedder = told["text_field_embedder"]["token_embedders"]["token_characters"]
    return Sizes(
        turns=told["num_context_answers"],
        hidden=told["phrase_layer"]["hidden_size"],
        character_width=embedder["embedding"]["embedding_dim"],
        filters=embedder["encoder"]["num_filters"],
        character_windows="all" if legacy else "whole",
        marker=told["marker_embedding_dim"],
        longest_dialog=12,
        dropout=told["dropout"],
        embedding_dropout=0.0,
    )


def _learner(
    told: Mapping[str, Any], ids: Mapping[str, Any], given: Mapping[str, Any], legacy: bool = False
) -> BidafLearner:
    """Return a learner with the official weights, whose rows of labels stand in our order."""
    model = Bidaf(_sizes(told, legacy), None)
    orders = {
        "mark": _order(_tags(model.sizes.turns), ids.get("answer_tags", {})),
        **{name: _order(labels, ids[f"{name}_labels"]) for name, labels in ACTS.items()},
    }
    found = {}
    for name in model.state_dict():
        module, _, last = name.rpartition(".")
        value = torch.from_numpy(given[_official_name(module, last)]).double()
        if last in PARTS:
            value = value.chunk(3)[PARTS.index(last)]
        found[name] = value[orders[module]] if module in orders else value
    model.load_state_dict(found)
    longest = told.get("max_span_length", 30)
    model.eval()
    return BidafLearner(model, None, None, longest, "published")


def _official_name(module: str, last: str) -> str:
    similarity = SIMILARITIES.get(module.removesuffix(".similarity"))
    if similarity is None:
        return f"{MODULES[module]}.{last}"
    return f"{similarity}.{'_bias' if last == 'bias' else '_weight_vector'}"


def _tags(k: int) -> list[str]:
    return ["O", *(f"<{d}_{place}>" for d in range(1, k + 1) for place in PLACES.values())]


def _order(ours: Sequence[str], theirs: Mapping[str, str]) -> list[int]:
    """Return in which official row each of ours is; what the data has not gets a row over."""
    of = {name: int(number) for number, name in theirs.items()}
    over = iter(sorted(set(range(len(ours))) - set(of.values())))
    return [of[each] if each in of else next(over) for each in ours]


def _close(found: Tensor, expected: Any) -> None:
    torch.testing.assert_close(found, torch.tensor(expected), rtol=REL, atol=ABS)


def _check_scores(
    learner: BidafLearner,
    dialogs: Sequence[Dialog],
    expected: Sequence[Mapping[str, Any]],
    ids: Mapping[str, Any],
) -> None:
    """Assert that all scores and answers of all questions are what is expected of them."""
    with torch.no_grad():
        scores = learner.model(learner.collate(dialogs))
        answers = [each for given in learner.answers(dialogs) for each in given]
    lengths = [len(dialog.tokens) for dialog in dialogs for _ in dialog.asked]
    theirs = {name: _order(labels, ids[f"{name}_labels"]) for name, labels in ACTS.items()}
    for row, wanted in enumerate(expected):
        n = lengths[row]
        assert _span(learner, scores, row, n) == wanted["best_span"]
        _close(scores.start[row, :n], wanted["start_logits"])
        _close(scores.end[row, :n], wanted["end_logits"])
        for act, of in (("yesno", scores.yesno), ("followup", scores.followup)):
            logits = [[each[at] for at in theirs[act]] for each in wanted[f"{act}_logits"]]
            _close(of[row, :n], logits)
        found = answers[row]
        assert (found.span, found.yesno, found.followup) == (
            wanted["best_span_str"],
            wanted["yesno"],
            wanted["followup"],
        )


def _span(learner: BidafLearner, scores: Scores, row: int, n_tokens: int) -> list[int]:
    """Return the first and last token of what is answered to a question."""
    start, end = scores.start[row, :n_tokens], scores.end[row, :n_tokens]
    return list(decoded(start, end, learner.longest, learner.decoding))


def _check_input(
    learner: BidafLearner,
    dialogs: Sequence[Dialog],
    given: Sequence[Mapping[str, Any]],
    ids: Mapping[str, Any],
) -> None:
    """Assert that the dialogs are read and put together as the official reader does it."""
    batch, row, k = learner.collate(dialogs), 0, learner.model.sizes.turns
    tags = _order(_tags(k), ids.get("answer_tags", {}))
    acts = {name: _order(labels, ids[f"{name}_labels"]) for name, labels in ACTS.items()}
    for dialog, told in zip(dialogs, given, strict=True):
        assert (dialog.text, dialog.words) == (told["passage"], told["passage_tokens"])
        assert [[each.start, each.end] for each in dialog.tokens] == told["token_offsets"]
        for at, asked in enumerate(dialog.asked):
            turn, answer = asked.turn, [told["gold_span_start"][at], told["gold_span_end"][at]]
            assert turn.qid == told["id"][at]
            assert turn.question == told["questions"][at]
            assert asked.words == told["question_tokens"][at]
            assert turn.references == told["answer_texts_after_handle_cannot"][at]
            assert batch.answer[row].tolist() == list(asked.answer) == answer
            assert acts["yesno"][asked.yesno] == told["yesno_ids"][at]
            assert acts["followup"][asked.followup] == told["followup_ids"][at]
            for d in range(k):
                marked = batch.marks[row, d, : len(dialog.tokens)].tolist()
                assert [tags[each] for each in marked] == told[f"p{d + 1}_answer_marker"][at]
            row += 1


def _metrics(learner: BidafLearner, dialogs: Sequence[Dialog]) -> dict[str, float]:
    """Return what the official code validates by: no answer is a word like others there.

    Our `score` is the official scorer's, where it is right exactly or not at all.
    """
    with torch.no_grad():
        scores = learner.model(learner.collate(dialogs))
    rows = iter(range(len(scores.start)))
    found: dict[str, list[float]] = defaultdict(list)
    for dialog, given in zip(dialogs, learner.answers(dialogs), strict=True):
        for asked, prediction in zip(dialog.asked, given, strict=True):
            f1 = [token_f1(prediction.span, each) for each in asked.turn.references]
            sets = [f1[:at] + f1[at + 1 :] or f1 for at in range(len(f1))]
            found["f1"].append(100 * fmean(map(max, sets)))
            row = next(rows)
            span = _span(learner, scores, row, len(dialog.tokens))
            # The best start and the best end, each by itself.
            first, last = int(scores.start[row].argmax()), int(scores.end[row].argmax())
            found["start_acc"].append(first == asked.answer[0])
            found["end_acc"].append(last == asked.answer[1])
            found["span_acc"].append(span == list(asked.answer))
            found["yesno"].append(prediction.yesno == YESNO[asked.yesno])
            found["followup"].append(prediction.followup == FOLLOWUP[asked.followup])
    return {name: fmean(values) for name, values in found.items()}


def _configuration(number: int) -> tuple[Any, BidafLearner, list[Dialog], list[Any]]:
    told = golden()["random"]["configs"][number]
    inputs = told["inputs"]
    if isinstance(inputs, str):
        inputs = golden()["random"]["configs"][told["num_context_answers"]]["inputs"]
    given = weights("readers_quac.npz", told["weights_prefix"])
    model = {**told["model_config"], "max_span_length": told["max_span_length"]}
    legacy = told["char_cnn"].startswith("legacy")
    learner = _learner(model, told["vocabulary"], given, legacy)
    return told, learner, _dialogs(golden()["random"]["raw_dialogs"]), inputs


@pytest.mark.parametrize("number", range(N_CONFIGURATIONS))
def test_every_score_and_answer_is_the_official_one(number: int) -> None:
    told, learner, dialogs, inputs = _configuration(number)
    _check_input(learner, dialogs, inputs, told["vocabulary"])
    expected = [each for dialog in told["expected"]["dialogs"] for each in dialog["questions"]]
    _check_scores(learner, dialogs, expected, told["vocabulary"])
    metrics = told["expected"]["metrics"]
    assert _metrics(learner, dialogs) == pytest.approx(metrics, rel=REL, abs=ABS)


@pytest.mark.parametrize("number", range(N_CONFIGURATIONS))
def test_loss_and_gradients_are_the_official_ones(number: int) -> None:
    told, learner, dialogs, _ = _configuration(number)
    loss = learner.loss(dialogs)
    assert math.isclose(float(loss.detach()), told["expected"]["loss"], rel_tol=REL)
    loss.backward()
    squares: dict[str, float] = {}
    for name, parameter in learner.model.named_parameters():
        module, _, last = name.rpartition(".")
        official = _official_name(module, last)
        squares[official] = squares.get(official, 0.0) + float(parameter.grad.square().sum())
    expected = told["expected"]["grad_l2"]
    # The official module of this one has two names.
    squares |= {
        f"_followup_lin.{last}": squares.pop(f"{MODULES['followup']}.{last}")
        for last in ("weight", "bias")
    }
    assert squares.keys() == expected.keys()
    for name, square in squares.items():
        assert math.isclose(math.sqrt(square), expected[name], rel_tol=REL, abs_tol=ABS), name


def _published(legacy: bool = False) -> BidafLearner:
    told = golden()["fixture"]
    given = weights("readers_quac.npz", "fixture/")
    return _learner(told["model_config"], told["vocabulary"], given, legacy)


def _published_dialogs() -> list[Dialog]:
    """Return two dialogs that are the same, of which the file tells the first."""
    path = Path(os.environ["COLLECTOR_DATA"], "official", "quac", "allennlp_quac_sample.json")
    return _dialogs(json.loads(path.read_text("utf-8")))


@pytest.mark.parametrize("legacy", [False, True])
def test_the_published_weights_say_of_a_real_dialog_what_they_said(legacy: bool) -> None:
    told = golden()["fixture"]
    dialogs = _published_dialogs()
    learner = _published(legacy)
    assert learner.model.sizes.turns == told["num_context_answers"]
    expected = told["legacy_char_cnn_expected"] if legacy else told["expected"]
    _check_input(learner, dialogs[:1], [told["input"]], told["vocabulary"])
    assert math.isclose(float(learner.loss(dialogs).detach()), expected["loss"], rel_tol=REL)
    if legacy:
        scores = learner.model(learner.collate(dialogs))
        first = expected["first_question"]
        _close(scores.start[0].detach(), first["start_logits"])
        _close(scores.end[0].detach(), first["end_logits"])
        answers = learner.answers(dialogs)[0]
        spans = [_span(learner, scores, row, len(dialogs[0].tokens)) for row in range(len(answers))]
        assert spans == expected["best_spans"]
        assert [each.yesno for each in answers] == expected["yesno"]
        assert [each.followup for each in answers] == expected["followup"]
        assert [each.span for each in answers] == [dialogs[0].span(*span) for span in spans]
        return
    _check_scores(learner, dialogs, expected["questions"], told["vocabulary"])
    assert _metrics(learner, dialogs) == pytest.approx(expected["metrics"], rel=REL, abs=ABS)


def test_letters_are_numbered_as_there() -> None:
    told = golden()["fixture"]
    batch = _published().collate(_published_dialogs())
    assert batch.question.characters[0].tolist() == told["char_ids_of_first_question"]


def test_half_as_many_digits_change_nothing_that_is_answered() -> None:
    told = golden()["fixture"]
    dialogs, exact = _published_dialogs(), _published()
    torch.set_default_dtype(torch.float32)
    learner = _published()
    learner.model.float()
    assert math.isclose(float(learner.loss(dialogs).detach()), told["float32"]["loss"], rel_tol=REL)
    assert (learner.answers(dialogs) == exact.answers(dialogs)) is told["float32"][
        "same_best_spans"
    ]
    with torch.no_grad():
        batch = learner.collate(dialogs)
        ours, precise = learner.model(batch), exact.model(batch)
    places = slice(len(dialogs[0].asked)), slice(len(dialogs[0].tokens))
    for one, other in zip(ours, precise, strict=True):
        # The official code's own are as near.
        assert (one.double() - other)[places].abs().max() < ABS
    assert told["float32"]["max_abs_logit_difference_to_float64"] < ABS


def test_what_happens_inside_is_what_happens_there() -> None:
    told, learner, dialogs, _ = _configuration(2)
    seen: dict[str, list[Tensor]] = defaultdict(list)
    for name, module in learner.model.named_children():
        module.register_forward_hook(lambda _, __, found, name=name: seen[name].append(found))
    with torch.no_grad():
        learner.model(learner.collate(dialogs))
    of_question, of_section = range(2)
    row = sum(len(dialog.asked) for dialog in dialogs[:2])
    expected = told["expected_intermediate"]
    ours = {
        "embedded_question_dialog0_question0": seen["characters"][of_question][0],
        "embedded_passage_dialog2": seen["characters"][of_section][2],
        "phrase_layer_question_dialog0_question0": seen["phrase"][of_question][0],
        "phrase_layer_passage_dialog2_question0": seen["phrase"][of_section][row],
        "residual_encoder_dialog2_question0": seen["residual"][0][row],
    }
    assert ours.keys() == expected.keys()
    for name, found in ours.items():
        _close(found[: len(expected[name])], expected[name])


def test_the_published_decoder_finds_what_it_found_and_ours_the_best() -> None:
    cases = golden()["span_decoding"]["cases"]
    missed = 0
    for case in cases:
        start, end, longest = case["start_logits"], case["end_logits"], case["max_span_length"]
        first, last = published_span(start, end, longest)
        acts = [
            max(range(3), key=case[f"{act}_logits"][last].__getitem__)
            for act in ("yesno", "followup")
        ]
        assert [first, last, *acts] == case["expected"]
        # Its limit is one token more than it says.
        best = best_span(torch.tensor(start), torch.tensor(end), longest + 1, alone=False)
        assert list(best) == case["exhaustive_best_within_limit"]
        missed += [first, last] != list(best)
    assert missed == golden()["span_decoding"]["differs"] > 0


def test_characters_become_tokens_as_the_official_reader_has_it() -> None:
    for offsets, (start, end), expected in golden()["char_span_to_token_span"]:
        (first, last), inexact = token_span([tuple(each) for each in offsets], start, end)
        assert [[first, last], inexact] == expected


def test_no_answer_is_what_as_many_say_as_have_one() -> None:
    for texts, expected in golden()["handle_cannot"]:
        assert counted(texts) == expected
