"""The paragraphs of both settings: two gold ones among distractors, or what a search finds."""

import hashlib
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from annotation.models import Context
from annotation.protocols.hotpotqa.file_format import DISTRACTOR, FULL_WIKI, settings_of
from collector.retrieval.index import Index
from tasks.models import Question

if TYPE_CHECKING:
    from annotation.protocols.hotpotqa.parameters import Parameters

# Of whose questions a sample is searched for in the full wiki, too.
COMPARED = "train-medium"


def wanted(splits: Mapping[str, str], parameters: "Parameters") -> dict[str, list[str]]:
    """Return the settings of each question by its key: those of its split (HotpotQA 3, C.2)."""
    settings = {key: settings_of(split) for key, split in splits.items()}
    keys = [key for key, split in splits.items() if split == COMPARED]
    for key in compared(keys, parameters.contexts.compared_questions):
        settings[key] = [*settings[key], FULL_WIKI]
    return settings


def context(
    index: Index, setting: str, question: Question, parameters: "Parameters", rng: random.Random
) -> Context:
    """Return the question's context in a setting, not saved.

    distractor: the paragraphs of the pair with the best others, shuffled (HotpotQA 3). fullwiki:
    the best of those that Algorithm 2 leaves, exactly as they were found (HotpotQA 5.2, C.1).
    """
    gold = [each.paragraph_id for each in question.seed.seed_paragraphs.all()]
    find = {DISTRACTOR: _among_distractors, FULL_WIKI: _searched}[setting]
    return find(index, question, gold, parameters, rng)


def _among_distractors(
    index: Index,
    question: Question,
    gold: list[int],
    parameters: "Parameters",
    rng: random.Random,
) -> Context:
    n_distractors = parameters.contexts.distractors
    found = index.search(question.text, n_distractors + len(gold))
    others = [each for each in _ids(index, found) if each not in gold]
    paragraphs = gold + others[:n_distractors]
    rng.shuffle(paragraphs)
    return Context(question=question, setting=DISTRACTOR, paragraphs=paragraphs)


def _searched(
    index: Index,
    question: Question,
    gold: list[int],
    parameters: "Parameters",
    rng: random.Random,
) -> Context:
    candidates = index.filter(question.text, parameters.contexts.candidates)
    ranked = _ids(index, index.rank(question.text, candidates))
    rank_of = {paragraph: rank for rank, paragraph in enumerate(ranked, 1)}
    ranks = [rank_of.get(paragraph, len(ranked) + 1) for paragraph in gold]
    chosen = question.verdict.chosen
    spans = chosen.payload.get("spans") if chosen else None
    return Context(
        question=question,
        setting=FULL_WIKI,
        paragraphs=ranked[: parameters.contexts.full_wiki],
        pool=len(ranked),
        gold_ranks=ranks,
        answer_rank=ranks[spans[0]["document"]] if spans else None,
    )


def _ids(index: Index, found: Sequence[Any]) -> list[int]:
    return [int(index.ids[each.text]) for each in found]


def compared(keys: Iterable[str], number: int) -> list[str]:
    """Return `number` of the keys of one split, or all: those whose hashes come first.

    One question more takes the place of at most one other, so that a sample of what was searched
    for before grows by few.
    """
    return sorted(keys, key=_drawn)[:number]


def _drawn(key: str) -> bytes:
    return hashlib.blake2b(key.encode(), key=COMPARED.encode()).digest()
