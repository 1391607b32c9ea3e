"""Fusion-in-decoder against the golden vectors, and what writing models have in common."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    T5Config,
    T5ForConditionalGeneration,
)

from annotation.metrics.tests.golden import vectors
from readers.learners.seq2seq import (
    EncoderDecoder,
    Limits,
    Passage,
    PublishedT5,
    fusion_texts,
    load_writer,
)
from readers.tests.tiny_writers import tiny_writer

pytestmark = pytest.mark.pure
LIMITS = Limits(read=64, written=10)
BIAS = "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"
WITH, WITHOUT = (f"{each}_cross_attention_position_bias" for each in ("with", "without"))


def weights(prefix: str) -> dict[str, torch.Tensor]:
    """Return the given weights by the names that transformers has for them."""
    path = Path(os.environ["COLLECTOR_DATA"]).parent / "vectors" / "readers_fid.npz"
    with numpy.load(path) as found:
        return {
            name.removeprefix(prefix): torch.from_numpy(found[name])
            for name in found.files
            if name.startswith(prefix)
        }


def t5(golden: Any, mode: str) -> EncoderDecoder:
    config = T5Config(**golden["t5"]["config"], feed_forward_proj="relu", dropout_rate=0)
    model = T5ForConditionalGeneration(config)
    kind = PublishedT5 if mode == WITH else EncoderDecoder
    made = kind(model, None, LIMITS)
    given = weights("t5/")
    if mode == WITHOUT:
        del given[BIAS]
    missing, unexpected = model.load_state_dict(given, strict=False)
    assert not unexpected
    assert all("embed_tokens" in name or name == "lm_head.weight" for name in missing)
    model.tie_weights()
    return made.eval()


def bart(golden: Any) -> EncoderDecoder:
    model = BartForConditionalGeneration(BartConfig(**golden["bart"]["config"], dropout=0))
    missing, unexpected = model.load_state_dict(weights("bart/"), strict=False)
    assert not unexpected
    assert all("embed_tokens" in name or name == "lm_head.weight" for name in missing)
    model.tie_weights()
    return EncoderDecoder(model, None, LIMITS).double().eval()


def check_parameters(made: EncoderDecoder, told: Any, prefix: str) -> None:
    """Assert that every official parameter is one of ours, of the same shape."""
    ours = {name: list(value.shape) for name, value in made.model.state_dict().items()}
    assert ours.items() >= dict(told["parameters"]).items()
    assert dict(told["parameters"]).keys() == weights(prefix).keys()


def inputs(case: Any) -> Iterator[torch.Tensor]:
    for name in ("input_ids", "attention_mask", "labels"):
        yield torch.tensor(case[name])


def check_states(made: EncoderDecoder, case: Any, tolerance: float) -> None:
    ids, mask, _ = inputs(case)
    states, of_states = made.encoded(ids, mask)
    wanted = [state for texts in case["encoder_output"] for text in texts for state in text]
    found = states[of_states.bool()]
    given = torch.tensor(wanted, dtype=states.dtype)
    assert torch.allclose(found, given, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("mode", [WITHOUT, WITH])
@torch.no_grad()
def test_t5_over_several_texts_is_the_official_one(mode: str) -> None:
    golden = vectors("readers_fid.json")
    made = t5(golden, mode)
    assert golden["t5"]["cross_attention_position_bias_parameters"] == [BIAS]
    if mode == WITH:
        check_parameters(made, golden["t5"], "t5/")
    agreed = golden["t5"]["agreement_with_transformers_5.23.0"]
    assert (agreed["compared_with"], agreed["same_greedy_ids"]) == (WITHOUT, True)
    differences = []
    for case in golden["t5"]["cases"]:
        ids, mask, labels = inputs(case)
        (loss, found), wanted = made(ids, mask, labels), case[mode]
        assert float(loss) == pytest.approx(wanted["loss"], rel=1e-4, abs=1e-4)
        logits = torch.tensor(wanted["logits"])
        assert torch.allclose(found, logits, rtol=1e-4, atol=1e-4)
        differences.append(float((found - logits).abs().max()))
        assert made.greedy(ids, mask, 10).tolist() == wanted["generated_ids"]
        check_states(made, case, 1e-4)
    if mode == WITHOUT:
        assert max(differences) < 2 * agreed["max_abs_difference_logits_and_loss"]


@torch.no_grad()
def test_bart_over_several_texts_is_the_papers() -> None:
    golden = vectors("readers_fid.json")
    made = bart(golden)
    check_parameters(made, golden["bart"], "bart/")
    read: list[Any] = []
    made.model.get_decoder().register_forward_pre_hook(
        lambda _, __, options: read.append(options["input_ids"].tolist()), with_kwargs=True
    )
    for case in golden["bart"]["cases"]:
        ids, mask, labels = inputs(case)
        read.clear()
        loss, found = made(ids, mask, labels)
        assert read == [case["decoder_input_ids_used"]]
        assert float(loss) == pytest.approx(case["loss"], rel=1e-6, abs=1e-6)
        logits = torch.tensor(case["logits"], dtype=torch.float64)
        assert torch.allclose(found, logits, rtol=1e-6, atol=1e-6)
        wanted = case["greedy_ids_no_forced_eos"]
        longest = max(map(len, wanted))
        assert made.greedy(ids, mask, longest).tolist() == wanted
        check_states(made, case, 1e-6)


def test_the_texts_to_read_are_worded_as_the_official_ones() -> None:
    golden = vectors("readers_fid.json")["text"]
    for case in golden["cases"]:
        raw = golden["raw"][case["index"]]
        passages = [
            Passage(each["text"], each["title"], float(each["score"])) for each in raw["ctxs"]
        ]
        found = fusion_texts(raw["question"], passages, case["n_context"])
        assert found == case["model_inputs"]
        (asked,) = fusion_texts(raw["question"], passages, None)
        assert asked == case["question"]
        if case["passages"] is not None:
            assert [text.removeprefix(f"{asked} ") for text in found] == case["passages"]


@pytest.mark.parametrize("kind", ["t5", "bart", "gpt2"])
def test_what_is_written_does_not_depend_on_the_others_of_the_batch(
    kind: str, tmp_path: Path
) -> None:
    made = load_writer(tiny_writer(kind, ["where is the cat", "on a mat"], tmp_path), LIMITS).eval()
    items = [[("where is the cat", "on a mat")], [("where", "a cat is on the mat where a cat is")]]
    alone = [made.write([item])[0] for item in items]
    assert made.write(items) == alone
    losses = [made.loss([item], ["a mat"]).item() for item in items]
    assert made.loss(items, ["a mat"] * 2).item() == pytest.approx(sum(losses) / 2, rel=1e-4)
    # Two words and the end, which BART's beginning stands before.
    n_tokens = 4 if kind == "bart" else 3
    likely = made.log_likelihoods(items, ["a mat"] * 2).tolist()
    assert likely == pytest.approx([-loss * n_tokens for loss in losses], rel=1e-4)


@pytest.mark.parametrize("kind", ["t5", "bart"])
def test_fewer_texts_than_the_others_have_change_nothing(kind: str, tmp_path: Path) -> None:
    made = load_writer(tiny_writer(kind, ["where is the cat", "on a mat"], tmp_path), LIMITS).eval()
    one, three = [("where", "a cat")], [("is", "a"), ("the cat", "on a mat"), ("is", "on")]
    losses = [made.loss([item], ["mat"]).item() for item in (one, three)]
    assert made.loss([one, three], ["mat"] * 2).item() == pytest.approx(sum(losses) / 2, rel=1e-4)


@pytest.mark.parametrize("kind", ["t5", "bart", "gpt2"])
def test_an_answer_that_is_learnt_by_heart_is_written(kind: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    texts = ["where is the cat", "on a mat", "in the house", "where is the dog"]
    made = load_writer(tiny_writer(kind, texts, tmp_path), LIMITS)
    items = [[("where is the cat", "cat on mat")], [("where is the dog", "dog in house")]]
    targets = ["on a mat", "in the house"]
    optimizer = torch.optim.Adam(made.parameters(), 5e-3)
    for _ in range(40):
        optimizer.zero_grad()
        made.loss(items, targets).backward()
        optimizer.step()
    assert made.eval().write(items) == targets
