"""With the same random weights the network says, loses and learns what the official code does."""

import os
from pathlib import Path

import numpy
import pytest
import torch

from annotation.metrics.tests.golden import vectors
from readers.hotpotqa.network import (
    AS_PUBLISHED,
    IGNORED,
    Limits,
    Network,
    Sizes,
    answered,
    best_spans,
    collate,
    loss,
    losses,
)
from readers.hotpotqa.preprocessing import instances, tokenizer
from readers.learners.layers import Trilinear
from readers.learners.vocabulary import Vocabulary

FILE = "readers_hotpotqa.json"
RNNS = {
    "rnn": "encoder",
    "rnn_2": "self_encoder",
    "rnn_sp": "support_encoder",
    "rnn_start": "start_encoder",
    "rnn_end": "end_encoder",
    "rnn_type": "kind_encoder",
}
MODULES = {
    "word_emb": "words",
    "char_emb": "characters.embedding",
    "char_cnn": "characters.convolution",
    "linear_1": "merged",
    "linear_2": "self_merged",
    "linear_sp": "support",
    "linear_start": "start",
    "linear_end": "end",
    "linear_type": "kind",
}
ATTENTIONS = {"qc_att": "attention", "self_att": "self_attention"}
WEIGHTS = {
    "dot_scale": "product",
    "input_linear.weight": "first",
    "memory_linear.weight": "second",
}


def ours(name):
    """Return our name of an official parameter."""
    module, _, rest = name.partition(".")
    if module in MODULES:
        return f"{MODULES[module]}.{rest}"
    if module in ATTENTIONS:
        return f"{ATTENTIONS[module]}.similarity.{WEIGHTS[rest]}"
    rest = rest.replace("rnns.0.", "gru.").replace("init_hidden.0", "start")
    return f"{RNNS[module]}.{rest}"


@pytest.fixture(scope="module")
def golden():
    return vectors(FILE)


@pytest.fixture(scope="module")
def given(golden):
    """Return the official weights by our names, in float64."""
    path = Path(os.environ["COLLECTOR_DATA"]).parent / "vectors" / "readers_hotpotqa.npz"
    with numpy.load(path) as arrays:
        found = {ours(name): torch.tensor(arrays[name]).double() for name in arrays}
    for name in found:
        if name.endswith((".first", ".second")):
            found[name] = found[name].flatten()
    return found


@pytest.fixture(scope="module")
def network(golden, given):
    config = golden["config"]
    sizes = Sizes(config["hidden"], config["char_dim"], config["char_hidden"], 0.0)
    made = Network(given["words.weight"], len(golden["char2idx"]), sizes, AS_PUBLISHED).double()
    made.load_state_dict(given)
    return made.eval()


@pytest.fixture(scope="module")
def questions(golden):
    return {each.id: each for each in instances(golden["articles"], tokenizer())}


def vocabulary(ids, **options):
    """Return a vocabulary with these ids, whose first two are of no word."""
    return Vocabulary(sorted(ids, key=ids.get)[2:], **options)


def batch_of(golden, questions, ids):
    config = golden["config"]
    return collate(
        [questions[each] for each in ids],
        vocabulary(golden["word2idx"], any_case=True),
        vocabulary(golden["char2idx"]),
        Limits(config["char_limit"], config["sent_limit"]),
        titles_as_facts=True,
        absent_is_start=True,
    )


@pytest.fixture(scope="module", params=[0, 1])
def case(request, golden, questions):
    """Return a batch of the official iterator's, longest context first, and what came of it."""
    found = golden["batches"][request.param]
    return batch_of(golden, questions, found["inputs"]["ids"]), found


def close(found, wanted):
    wanted, found = torch.tensor(wanted, dtype=torch.float64), found.detach()
    torch.testing.assert_close(found, wanted, rtol=1e-6, atol=1e-7)


def test_batches_are_the_official_iterators(case):
    batch, found = case
    given = found["inputs"]
    same = {
        "context_idxs": batch.words,
        "ques_idxs": batch.question_words,
        "context_char_idxs": batch.characters,
        "ques_char_idxs": batch.question_characters,
        "context_lens": batch.lengths,
        "y1": batch.start,
        "y2": batch.end,
        "q_type": batch.kind,
        "is_support": batch.facts,
    }
    for name, tensor in same.items():
        assert tensor.tolist() == given[name], name
        assert list(tensor.shape) == found["shapes"][name], name
    # Official matrices say the same as our numbers: of each token its sentence, and of each
    # sentence its first and its last token.
    per_sentence = [*batch.sentence_of.shape, batch.first.shape[1]]
    for name in ("start_mapping", "end_mapping", "all_mapping"):
        assert per_sentence == found["shapes"][name]


def test_every_official_parameter_is_one_of_ours(golden, network):
    shapes = {name: list(value.shape) for name, value in network.state_dict().items()}
    theirs = {ours(name): shape for name, shape in golden["parameters"]}
    for name in theirs:
        if name.endswith((".first", ".second")):
            theirs[name] = theirs[name][1:]
    assert shapes == theirs


def test_products_weigh_at_first_what_they_do_there(golden):
    low, high = golden["dot_scale_initial_range_observed"]
    width = 2 * golden["config"]["hidden"]
    drawn = torch.cat([Trilinear(width, published_product=True).product for _ in range(100)])
    assert width**-0.5 <= drawn.min() < low < high < drawn.max() < 1


def test_logits_are_the_official_codes(case, network):
    batch, found = case
    wanted = found["expected"]
    with torch.no_grad():
        logits = network(batch)
    for row, n_tokens in enumerate(batch.lengths.tolist()):
        close(logits.start[row, :n_tokens], wanted["logit1"][row])
        close(logits.end[row, :n_tokens], wanted["logit2"][row])
    close(logits.kind, wanted["predict_type"])
    close(logits.support, wanted["predict_support_logit"])


def test_losses_and_gradients_are_the_official_codes(case, network, golden):
    batch, found = case
    wanted = found["expected"]
    network.zero_grad()
    logits = network(batch)
    parts = losses(logits, batch)
    for name, official in {
        "kind": "type_sum",
        "start": "start_sum",
        "end": "end_sum",
        "support": "support_mean",
    }.items():
        close(parts[name], wanted["loss_parts"][official])
    whole = loss(logits, batch, golden["config"]["sp_lambda"])
    close(whole, wanted["loss"])
    whole.backward()
    parameters = dict(network.named_parameters())
    assert {ours(name) for name in wanted["grad_l2"]} == parameters.keys()
    for name, norm in wanted["grad_l2"].items():
        gradient = parameters[ours(name)].grad
        if norm is None:
            assert gradient is None, "word vectors are frozen"
        else:
            close(gradient.norm(), norm)


def test_answers_and_facts_are_the_official_codes(case, network, questions, golden):
    batch, found = case
    wanted = found["expected"]
    with torch.no_grad():
        logits = network(batch)
    firsts, lasts = best_spans(logits.start, logits.end)
    assert (firsts.tolist(), lasts.tolist()) == (wanted["yp1"], wanted["yp2"])
    asked = [questions[each] for each in found["inputs"]["ids"]]
    answers = answered(logits, asked, golden["config"]["sp_threshold"], AS_PUBLISHED)
    assert {one.id: one.answer for one in answers} == wanted["answer_dict"]
    told = {one.id: [list(fact) for fact in one.facts] for one in answers}
    assert told == wanted["sp_dict"]


def test_what_happens_inside_is_what_happens_there(case, network):
    batch, found = case
    wanted = found["expected"].get("intermediate_example0") or found["intermediate_example0"]
    seen = {}
    hooks = [
        module.register_forward_hook(
            lambda _, __, output, name=name: seen.setdefault(name, []).append(output)
        )
        for name, module in network.named_children()
    ]
    with torch.no_grad():
        network(batch)
    for hook in hooks:
        hook.remove()
    n_tokens = int(batch.lengths[0])
    close(seen["encoder"][0][0, :n_tokens], wanted["rnn_context"][:n_tokens])
    close(seen["encoder"][1][0], wanted["rnn_question"])
    close(seen["attention"][0][0, :3], wanted["qc_att_first_3"])
    close(seen["merged"][0][0, :3], wanted["linear_1_first_3"])
    close(seen["self_merged"][0][0, :3], wanted["linear_2_first_3"])
    close(seen["support_encoder"][0][0, :3], wanted["rnn_sp_first_3"])
    close(seen["start_encoder"][0][0, :3], wanted["rnn_start_first_3"])
    close(seen["end_encoder"][0][0, :3], wanted["rnn_end_first_3"])
    close(seen["kind_encoder"][0][0].amax(0), wanted["rnn_type_max"])
    windows = torch.tensor(wanted["char_cnn_first_context_token_all_windows"]).double()
    close(seen["characters"][0][0, 0], windows.amax(-1).tolist())


def test_spans_are_decoded_as_there(golden):
    for start, end, wanted in golden["span_decoding"]["cases"]:
        rows = torch.tensor([start]).double(), torch.tensor([end]).double()
        assert [int(each) for each in best_spans(*rows)] == wanted


def test_what_is_ignored_is_told_by_one_number(case):
    batch, _ = case
    assert int(batch.facts.min()) >= IGNORED
