"""Recurrent encoders: what stands at a place, read from both sides."""

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class VariationalDropout(nn.Module):
    """Drops the same features at every place of a text (Gal and Ghahramani 2016)."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def forward(self, states: Tensor) -> Tensor:
        """Return (texts, places, features) with features left out, in training alone."""
        if not self.training or not self.share:
            return states
        kept = torch.ones_like(states[:, :1])
        return states * dropout(kept, self.share, training=True)


class GRUEncoder(nn.Module):
    """A GRU in both directions: forward states first, then backward ones.

    learned_start: the states it starts from are weights; else zeros.
    """

    def __init__(self, width: int, hidden: int, *, learned_start: bool = False) -> None:
        super().__init__()
        self.gru = nn.GRU(width, hidden, batch_first=True, bidirectional=True)
        self.start = nn.Parameter(torch.zeros(2, 1, hidden)) if learned_start else None

    @property
    def width(self) -> int:
        """Return the number of features of a state."""
        return 2 * self.gru.hidden_size

    def forward(self, inputs: Tensor, lengths: Tensor | None) -> Tensor:
        """Return the states, (texts, places, width).

        inputs: (texts, places, features). lengths: of each text, at least 1; behind its end states
        are zero. None: padding is read like text, so that states depend on the longest text.
        """
        start = None
        if self.start is not None:
            start = self.start.expand(-1, len(inputs), -1).contiguous()
        if lengths is None:
            states: Tensor = self.gru(inputs, start)[0]
            return states
        if not inputs.is_cuda:
            return self._unpacked(inputs, lengths, start)
        packed = pack_padded_sequence(inputs, lengths.cpu(), batch_first=True, enforce_sorted=False)
        return pad_packed_sequence(
            self.gru(packed, start)[0], batch_first=True, total_length=inputs.shape[1]
        )[0]

    def _unpacked(self, inputs: Tensor, lengths: Tensor, start: Tensor | None) -> Tensor:
        """Return the same without packing.

        On a processor the gradient of each place of a packed text is a tensor of all places: twice
        the text takes four times as long.
        """
        if start is None:
            start = inputs.new_zeros(2, len(inputs), self.gru.hidden_size)
        lengths = lengths.to(inputs.device)[:, None]
        places = torch.arange(inputs.shape[1], device=inputs.device)[None]
        there = places < lengths
        turned = torch.where(there, lengths - 1 - places, places)[..., None]
        forwards = self._one_way(inputs, start[:1], "")
        backwards = self._one_way(_turned(inputs, turned), start[1:], "_reverse")
        return torch.cat([forwards, _turned(backwards, turned)], -1) * there[..., None]

    def _one_way(self, inputs: Tensor, start: Tensor, way: str) -> Tensor:
        names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
        weights = [getattr(self.gru, name + way) for name in names]
        states: Tensor = torch.gru(
            inputs, start.contiguous(), weights, True, 1, 0.0, self.training, False, True
        )[0]
        return states


def _turned(states: Tensor, order: Tensor) -> Tensor:
    """Return the states of each text in an order of its own, (texts, places, 1)."""
    return states.gather(1, order.expand(-1, -1, states.shape[-1]))
