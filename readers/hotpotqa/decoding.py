"""What the network's numbers say: the kind of answer, its words, and the supporting facts."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from readers.hotpotqa.network import Logits
from readers.hotpotqa.preprocessing import NO, SPAN, TITLE, YES, Instance
from readers.hotpotqa.quirks import NONE, Quirks

# Of a span, from its first token to its last.
MOST_TOKENS_ON = 15
WORDS = {YES: "yes", NO: "no"}


def best_spans(start: Tensor, end: Tensor) -> tuple[Tensor, Tensor]:
    """Return the first and last token of the best span of each row, at most MOST_TOKENS_ON apart.

    start, end: B × C logits. The official code takes the row and the column of the best by
    themselves: where spans are equally good these are of a best one too.
    """
    n_tokens = start.shape[1]
    allowed = torch.ones(n_tokens, n_tokens, dtype=torch.bool, device=start.device)
    allowed = allowed.triu().tril(MOST_TOKENS_ON)
    both = (start[:, :, None] + end[:, None]).masked_fill(~allowed, -torch.inf)
    return both.amax(2).argmax(1), both.amax(1).argmax(1)


@dataclass(frozen=True)
class Answered:
    """What the network says of one question.

    facts: [title, sentence] pairs; loss: the sum of the cross-entropies of what it answers, by
    which answers are told that it is sure of.
    """

    id: str
    answer: str
    facts: tuple[tuple[str, int], ...]
    loss: float


def answered(
    logits: Logits, items: Sequence[Instance], threshold: float, quirks: Quirks = NONE
) -> list[Answered]:
    """Return what the logits of one batch say, in the order of its items.

    threshold: a sentence that is likelier than that to be a supporting fact is one.
    """
    firsts, lasts = best_spans(logits.start, logits.end)
    starts, ends = (-each.log_softmax(-1) for each in (logits.start, logits.end))
    kinds, likely = -logits.kind.log_softmax(-1), logits.support.sigmoid() > threshold
    found = []
    for row, item in enumerate(items):
        kind, first, last = (int(each) for each in (kinds[row].argmin(), firsts[row], lasts[row]))
        loss = float(kinds[row, kind])
        if kind == SPAN:
            loss += float(starts[row, first] + ends[row, last])
        facts = tuple(
            (sentence.title, sentence.number)
            for sentence, is_fact in zip(item.sentences, likely[row].tolist(), strict=False)
            if is_fact and (sentence.number != TITLE or quirks.titles_as_facts)
        )
        found.append(Answered(item.id, words_of(item, kind, first, last), facts, loss))
    return found


def words_of(instance: Instance, kind: int, first: int, last: int) -> str:
    """Return an answer as it stands in the context, or yes or no."""
    if kind != SPAN:
        return WORDS[kind]
    return instance.text[instance.starts[first] : instance.ends[last]]
