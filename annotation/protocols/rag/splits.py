"""The fold of each set, fixed when it is drawn, and the split of each question, by its evidence.

Documents that are connected or nearly the same share a fold. What proves an answer is often found
elsewhere: no passage that a question rests on is in two splits.
"""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from annotation.protocols.folds import plan_by_group
from annotation.protocols.rag.entries import NATURAL
from collector.protocols.parameters import FOLDS
from collector.retrieval.terms import Groups
from collector.seeds.candidate import PLANNED

if TYPE_CHECKING:
    from annotation.protocols.rag.parameters import Parameters

RULE = (
    "The split of a set of passages was fixed when it was drawn: sets whose documents are "
    "connected or nearly the same share one. A question is in the split of the documents that it "
    "rests on, those shown to its writer and those that prove its answer, and questions that rest "
    "on one passage, or have eight words in a row in common, are in one."
)
MOVED = "It is in the split of the passages that it rests on."
Example = Mapping[str, Any]
plan = plan_by_group


def rests_on(
    stage: str, shown: Iterable[tuple[str, int]], answers: Iterable[Mapping[str, object]]
) -> Iterator[tuple[str, int]]:
    """Yield the passages that a question rests on, also those that only seem to prove its answer.

    Who asks naturally has read nothing of what is `shown`.
    """
    if stage != NATURAL:
        yield from shown
    for payload in answers:
        for kind in ("evidence", "plausible"):
            marks: Any = payload.get(kind) or ()
            for one in marks:
                yield one["document"], one["paragraph"]


def assign(
    examples: Iterable[Example], parameters: "Parameters", rng: random.Random
) -> Iterator[tuple[Example, str, str]]:
    """Yield (example, split, reason), each example once; what rests on one thing is in one split.

    examples: mappings with `key`, the planned `fold`, and `rests_on`, what it rests on by name with
    the planned fold of its document, blank where it has none. Of the folds planned for documents
    the most frequent is taken, but none for which a question had to have more answers than it had.
    """
    listed = sorted(examples, key=lambda example: str(example["key"]))
    groups, first = Groups(len(listed)), dict[str, int]()
    for number, example in enumerate(listed):
        for name in example["rests_on"]:
            groups.unite(first.setdefault(name, number), number)
    together: dict[int, list[Example]] = {}
    for number, example in enumerate(listed):
        together.setdefault(groups.of(number), []).append(example)
    for some in together.values():
        split = _split_of(some, parameters)
        for example in some:
            yield example, split, PLANNED if split == example["fold"] else MOVED


def _split_of(examples: list[Example], parameters: "Parameters") -> str:
    """Return the split of questions that belong together."""
    votes: Counter[str] = Counter({example["fold"]: 0 for example in examples})
    for example in examples:
        planned = [fold for fold in example["rests_on"].values() if fold]
        votes.update(planned or [example["fold"]])
    asked = [parameters.find.redundancy, parameters.reading.redundancy]
    enough = [
        fold
        for fold in votes
        if all(one.of(fold) <= one.of(example["fold"]) for one in asked for example in examples)
    ]
    # Where two are as frequent, the last one is mostly the smaller.
    return max(enough or votes, key=lambda fold: (votes[fold], FOLDS.index(fold)))
