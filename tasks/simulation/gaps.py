"""What can be asked of a text without understanding it: what stands between two pieces of it."""

import random
from collections.abc import Mapping
from typing import Any, NamedTuple

from tasks.work.widgets import spans

# Words that stand in no passage: what is asked about them has no answer there.
INVENTED = ("of Mirabel Ostrander", "in the Vale of Tarn", "under Quillon the Third")
# They would end a quotation.
QUOTES = "“”\n"


class Gap(NamedTuple):
    """Some words by their offsets, what stands before and behind them, and the offsets of all."""

    left: str
    words: tuple[int, int]
    right: str
    around: tuple[int, int]


def gap(passage: Mapping[str, Any], rng: random.Random, around: int) -> Gap:
    """Return one or two words of a passage with its tokens, and the tokens `around` them.

    Where the passage has no such place there are fewer of them, or none.
    """
    tokens, text = passage["tokens"], passage["text"]
    words = [at for at, (*_, is_word) in enumerate(tokens) if is_word]
    quotes = {at for at, (start, *_) in enumerate(tokens) if text[start] in QUOTES}
    inner = [
        at
        for at in words
        if around <= at < len(tokens) - around - 1
        and quotes.isdisjoint(range(at - around, at + around + 2))
    ]
    at = rng.choice(inner or words)
    chosen = at, min(at + rng.randrange(2), len(tokens) - 1)
    first, last = spans.whole(text, tokens, *chosen) or chosen
    before, behind = tokens[max(0, first - around) : first], tokens[last + 1 : last + 1 + around]
    left = text[before[0][0] : before[-1][1]] if before else ""
    right = text[behind[0][0] : behind[-1][1]] if behind else ""
    start, end = tokens[first][0], tokens[last][1]
    whole = (before[0][0] if before else start), (behind[-1][1] if behind else end)
    return Gap(left, (start, end), right, whole)
