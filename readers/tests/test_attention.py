"""Attention between texts and of a text to itself: what is seen, and that padding is not."""

import torch
from torch import Tensor

from readers.learners.layers import (
    BiAttention,
    SelfAttention,
    Trilinear,
    masked_softmax,
)

WIDTH = 3


def _texts(*lengths: int) -> tuple[Tensor, Tensor]:
    """Return random texts of these lengths, zeros behind them, and their mask."""
    torch.manual_seed(sum(lengths))
    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    return torch.randn(len(lengths), max(lengths), WIDTH) * mask[..., None], mask


def test_similarity_is_linear_in_both_texts_and_in_their_product() -> None:
    (x, _), (y, _) = _texts(2), _texts(4)
    similarity = Trilinear(WIDTH)
    expected = (
        similarity.first @ x[0, 1]
        + similarity.second @ y[0, 2]
        + similarity.product @ (x[0, 1] * y[0, 2])
        + similarity.bias[0]
    )
    assert torch.isclose(similarity(x, y)[0, 1, 2], expected)


def test_the_published_weights_of_the_product_are_positive() -> None:
    product = Trilinear(WIDTH, bias=False, published_product=True).product
    assert all(WIDTH**-0.5 <= weight < 1 for weight in product.tolist())


def test_where_nothing_is_left_to_see_nothing_is_seen() -> None:
    nothing = torch.zeros(1, 2, dtype=torch.bool)
    assert masked_softmax(torch.randn(1, 2), nothing).tolist() == [[0.0, 0.0]]


def test_what_is_behind_a_text_changes_nothing() -> None:
    layer = BiAttention(WIDTH)
    (x, x_mask), (y, y_mask) = _texts(3, 5), _texts(2, 4)
    alone = layer(x[:1, :3], y[:1, :2], x_mask[:1, :3], y_mask[:1, :2])
    assert torch.allclose(layer(x, y, x_mask, y_mask)[:1, :3], alone, atol=1e-6)


def test_as_published_for_hotpotqa_padding_takes_part_in_what_matters_to_the_question() -> None:
    layer = BiAttention(WIDTH, by_attended=True)
    (x, _), (y, y_mask) = _texts(3, 5), _texts(2, 4)
    alone = layer(x[:1, :3], y[:1, :2], None, y_mask[:1, :2])
    together = layer(x, y, None, y_mask)[:1, :3]
    assert torch.allclose(together[..., : 3 * WIDTH], alone[..., : 3 * WIDTH], atol=1e-6)
    assert not torch.allclose(together[..., 3 * WIDTH :], alone[..., 3 * WIDTH :], atol=1e-3)


def test_the_last_part_is_the_product_with_the_text_or_with_what_it_sees() -> None:
    (x, x_mask), (y, y_mask) = _texts(3), _texts(2)
    ours = BiAttention(WIDTH)
    clark = BiAttention(WIDTH, by_attended=True)
    clark.load_state_dict(ours.state_dict())
    text, seen, _, product = ours(x, y, x_mask, y_mask).split(WIDTH, -1)
    other = clark(x, y, x_mask, y_mask)[..., 3 * WIDTH :]
    assert torch.allclose(product / text, other / seen, atol=1e-4)


def test_a_place_does_not_see_itself_unless_it_is_told_to() -> None:
    x, mask = _texts(1)
    assert SelfAttention(WIDTH)(x, mask)[..., :WIDTH].abs().max() == 0
    assert torch.equal(SelfAttention(WIDTH, diagonal=True)(x, mask)[..., :WIDTH], x)


def test_a_text_of_several_places_sees_the_others_alone() -> None:
    x, mask = _texts(2, 4)
    seen, text, product = SelfAttention(WIDTH)(x, mask)[:1, :2].split(WIDTH, -1)
    assert torch.allclose(seen, x[:1, :2].flip(1))
    assert torch.equal(text, x[:1, :2])
    assert torch.equal(product, seen * text)
