"""Recurrent encoders: what padding does to them, and what is dropped."""

import torch

from readers.learners.layers import GRUEncoder, VariationalDropout


def test_states_do_not_depend_on_the_longest_text() -> None:
    torch.manual_seed(0)
    encoder, inputs = GRUEncoder(3, 2), torch.randn(2, 5, 3)
    states = encoder(inputs, torch.tensor([2, 5]))
    assert torch.allclose(states[:1, :2], encoder(inputs[:1, :2], torch.tensor([2])), atol=1e-6)
    assert states[0, 2:].abs().max() == 0
    assert states.shape == (2, 5, encoder.width)


def test_without_lengths_padding_is_read_like_text() -> None:
    torch.manual_seed(0)
    encoder, inputs = GRUEncoder(3, 2), torch.randn(1, 2, 3)
    padded = torch.cat([inputs, torch.zeros(1, 3, 3)], 1)
    forward, backward = (encoder(padded, None)[:, :2] - encoder(inputs, None)).abs().chunk(2, -1)
    assert forward.max() < 1e-6
    assert backward.min() > 1e-3


def test_the_states_it_starts_from_can_be_learned() -> None:
    torch.manual_seed(0)
    encoder, inputs = GRUEncoder(3, 2, learned_start=True), torch.randn(2, 4, 3)
    before = encoder(inputs, torch.tensor([4, 1]))
    before.sum().backward()
    assert encoder.start is not None
    assert encoder.start.grad.abs().min() > 0
    with torch.no_grad():
        encoder.start += 1
    assert (encoder(inputs, torch.tensor([4, 1]))[:, 0] - before[:, 0]).abs().min() > 1e-3


def test_the_same_features_are_dropped_at_every_place_and_none_when_it_is_used() -> None:
    torch.manual_seed(0)
    layer, states = VariationalDropout(0.5), torch.ones(4, 6, 8)
    dropped = layer(states)
    assert set(dropped.unique().tolist()) == {0.0, 2.0}
    assert torch.equal(dropped, dropped[:, :1].expand_as(dropped))
    assert not torch.equal(dropped[0], dropped[1])
    assert torch.equal(layer.eval()(states), states)


def test_on_a_processor_states_and_gradients_are_those_of_packed_texts() -> None:
    encoder = GRUEncoder(3, 4, learned_start=True).double()
    torch.nn.init.normal_(encoder.start)
    inputs, lengths = torch.randn(3, 6, 3).double(), torch.tensor([2, 6, 1])
    packed = torch.nn.utils.rnn.pack_padded_sequence(
        inputs, lengths, batch_first=True, enforce_sorted=False
    )
    begun = encoder.start.expand(-1, 3, -1).contiguous()
    wanted = torch.nn.utils.rnn.pad_packed_sequence(encoder.gru(packed, begun)[0], batch_first=True)
    states = encoder(inputs, lengths)
    torch.testing.assert_close(states, wanted[0])
    given = torch.randn_like(states)
    weights = list(encoder.parameters())
    for one, other in zip(
        torch.autograd.grad(states, weights, given),
        torch.autograd.grad(wanted[0], weights, given),
        strict=True,
    ):
        torch.testing.assert_close(one, other)
