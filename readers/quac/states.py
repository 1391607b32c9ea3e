"""A pretrained encoder's states in the place of ELMo's: read as they are, not trained further."""

from bisect import bisect_right
from collections.abc import Sequence

import torch
from torch import Tensor

from readers.learners.encoder import Encoder, Window
from readers.learners.tokens import Token


class States:
    """Gives each token the last layer's state of its first word piece.

    Long texts are read in windows of `size` positions, `stride` pieces apart; what stands in
    several of them is taken from where it has most on both sides. windows: how many are read at
    once.
    """

    def __init__(
        self, encoder: Encoder, size: int, stride: int, device: torch.device, windows: int = 16
    ) -> None:
        self.encoder = encoder.eval().requires_grad_(False).to(device)
        self.size, self.stride, self.windows = min(size, encoder.longest), stride, windows

    @property
    def width(self) -> int:
        """Return the number of features of a state."""
        return self.encoder.width

    def of(self, texts: Sequence[str], tokens: Sequence[Sequence[Token]]) -> Tensor:
        """Return (texts, tokens, width); zeros where there is no token, or no piece of it."""
        device = next(self.encoder.parameters()).device
        longest = max(len(each) for each in tokens)
        windows: list[Window] = []
        places: list[tuple[int, int, int, int]] = []
        for row, (text, found) in enumerate(zip(texts, tokens, strict=True)):
            pieces = self.encoder.pieces(text)
            first = len(windows)
            windows += self.encoder.windows(None, pieces, self.size, self.stride)
            ends = [end for _, end in pieces.offsets]
            for column, token in enumerate(found):
                piece = bisect_right(ends, token.start)
                if piece < len(pieces) and pieces.offsets[piece][0] < token.end:
                    window, position = _most_central(windows[first:], piece)
                    places.append((row, column, first + window, position))
        states = torch.zeros(len(texts), longest, self.width, device=device)
        if places:
            rows, columns, window_of, position_of = torch.tensor(places, device=device).unbind(-1)
            states[rows, columns] = self._read(windows)[window_of, position_of]
        return states

    @torch.no_grad()
    def _read(self, windows: Sequence[Window]) -> Tensor:
        """Return the states of all windows, (windows, longest, width)."""
        longest = max(len(window.ids) for window in windows)
        found = []
        for at in range(0, len(windows), self.windows):
            states = self.encoder(windows[at : at + self.windows]).float()
            short = longest - states.shape[1]
            found.append(torch.nn.functional.pad(states, (0, 0, 0, short)))
        return torch.cat(found)


def _most_central(windows: Sequence[Window], piece: int) -> tuple[int, int]:
    """Return which window has most on both sides of a piece of the text, and where it is there."""

    def around(window: Window) -> int:
        return min(piece - window.first, window.first + len(window.offsets) - 1 - piece)

    best = max(range(len(windows)), key=lambda at: around(windows[at]))
    return best, windows[best].begin + piece - windows[best].first
