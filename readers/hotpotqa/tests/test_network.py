"""Without its quirks the network says the same in any batch; each switch changes what it says."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from readers.hotpotqa.network import IGNORED, NONE, best_spans
from readers.hotpotqa.preprocessing import TITLE
from readers.hotpotqa.tests.making import items, reader, recipe


@pytest.fixture
def questions():
    """Return a short question and a long one about a longer context."""
    short, other = items(2)
    long = {
        **other,
        "question": "When was it, if anybody knows at all, that that leader was born?",
        "context": [*other["context"], ["Fleam", ["Fleam is a town.", " It has a church."]]],
    }
    return [short, long]


@pytest.fixture
def made(questions):
    found, read = reader(questions)
    found.model.double().eval()
    return found, read


def with_quirks(found, **on):
    """Return the same weights with these quirks."""
    found.quirks = replace(NONE, **on)
    found.model.quirks = found.quirks
    return found


def logits(found, read):
    with torch.no_grad():
        return found.model(found._batch(read))


def test_a_question_is_answered_the_same_in_any_batch(made):
    found, (short, long) = made
    alone, both = logits(found, [short]), logits(found, [long, short])
    n_tokens, n_sentences = len(short.tokens), len(short.sentences)
    torch.testing.assert_close(both.start[1, :n_tokens], alone.start[0])
    torch.testing.assert_close(both.end[1, :n_tokens], alone.end[0])
    torch.testing.assert_close(both.kind[1], alone.kind[0])
    torch.testing.assert_close(both.support[1, :n_sentences], alone.support[0])


@pytest.mark.parametrize("name", ["attend_padding", "pad_questions", "pad_kinds"])
def test_as_published_an_answer_depends_on_what_else_is_in_the_batch(made, name):
    found, (short, long) = made
    with_quirks(found, **{name: True})
    alone, both = logits(found, [short]), logits(found, [long, short])
    gap = max(
        float((both.kind[1] - alone.kind[0]).abs().max()),
        float((both.start[1, : len(short.tokens)] - alone.start[0]).abs().max()),
    )
    assert gap > 1e-6


def test_as_published_a_place_attends_to_itself(made):
    found, read = made
    before = logits(found, read).start
    assert not torch.allclose(before, logits(with_quirks(found, see_itself=True), read).start)


def test_as_published_titles_are_learned_and_told_as_facts(made):
    found, read = made
    found.threshold = -1.0
    with torch.no_grad():
        plain = found.answers(read)
        with_quirks(found, titles_as_facts=True)
        published = found.answers(read)
    assert int(found._batch(read).facts[0, 0]) == 0
    with_quirks(found)
    assert all(number != TITLE for one in plain for _, number in one.facts)
    assert int(found._batch(read).facts[0, 0]) == IGNORED
    titles = {title for title, number in published[0].facts if number == TITLE}
    assert titles == {each.title for each in read[0].sentences}


def test_as_published_two_tokens_are_learned_where_the_answer_is_missing(made):
    found, read = made
    lost = [replace(each, span=None) for each in read[1:]]
    assert found._batch(lost).start.tolist() == [IGNORED]
    batch = with_quirks(found, absent_is_start=True)._batch(lost)
    assert (batch.start.tolist(), batch.end.tolist()) == ([0], [1])


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=24))
def test_the_ends_of_the_best_are_of_one_span_though_many_are_as_good(pairs):
    start, end = (torch.tensor([each], dtype=torch.float) for each in zip(*pairs, strict=True))
    first, last = (int(each) for each in best_spans(start, end))
    best = max(
        pairs[at][0] + pairs[to][1]
        for at in range(len(pairs))
        for to in range(at, min(len(pairs), at + 16))
    )
    assert 0 <= last - first <= 15
    assert pairs[first][0] + pairs[last][1] == best


def test_as_published_products_weigh_much_at_first(questions):
    plain, _ = reader(questions)
    published, _ = reader(questions, recipe(wide_products=True))
    weights = published.model.attention.similarity.product
    assert float(weights.detach().min()) >= weights.numel() ** -0.5
    assert float(plain.model.attention.similarity.product.detach().min()) < 0


def test_a_span_is_at_most_sixteen_tokens_long():
    start, end = torch.full((1, 30), -9.0), torch.full((1, 30), -9.0)
    start[0, 0] = end[0, 20] = 9.0
    start[0, 8] = 1.0
    assert [int(each) for each in best_spans(start, end)] == [8, 20]


@pytest.mark.parametrize("left_out", ["self_attention", "characters"])
def test_an_ablated_network_has_no_weights_of_what_is_left_out(questions, left_out):
    found, read = reader(questions, **{left_out: False})
    assert not any(name.startswith(left_out) for name, _ in found.model.named_parameters())
    with torch.no_grad():
        assert len(found.answers(read)) == 2


def test_without_supervision_facts_teach_nothing(questions):
    found, read = reader(questions, facts=False)
    found.loss(read).backward()
    assert float(found.model.support.weight.grad.abs().sum()) == 0


def test_a_token_may_be_of_no_sentence_that_counts(questions):
    found, read = reader(questions, recipe(max_sentences=2))
    batch = found._batch(read)
    assert batch.facts.shape[1] == 2
    assert int(batch.sentence_of.min()) == -1
    assert float(found.loss(read).detach()) > 0


def test_a_context_of_one_paragraph_without_facts_can_be_learned_from():
    [item] = items(1)
    bare = {**item, "context": [["Fleam", []]], "supporting_facts": []}
    found, read = reader([bare])
    assert float(found.loss(read).detach()) > 0
