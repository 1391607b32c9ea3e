"""The split of each example, by how hard it is: none is planned with its pair (HotpotQA 3)."""

import hashlib
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from annotation.protocols.hotpotqa.parameters import Parameters

EASY, MEDIUM = "train-easy", "train-medium"
# In the order in which a tie of remainders is decided.
HARD = ("train-hard", "dev", "test-distractor", "test-fullwiki")
RULE = (
    "Questions were placed by how hard they are: as easy where most sampled questions of their "
    "writer need one paragraph, as medium where a model that had not seen them was right and "
    "surest; the hard ones were drawn. What is placed is a question, not its paragraphs: these may "
    "be in several splits."
)
Example = Mapping[str, Any]


def assign(
    examples: Iterable[Example], parameters: "Parameters", rng: random.Random
) -> Iterator[tuple[Example, str, str]]:
    """Yield (example, split, reason), each example once.

    examples: mappings with `key`; `worker`; `single_hop`, whether a requester decided that the
    worker's questions are; `correct` and `loss`, the answer that a model gave which had not seen
    the example, None where it was not judged; `published`, whether a release has told its answer
    already, so that it tests nobody any more. A worker's questions are all easy or none is; a
    wrongly answered one is never medium. Raises ValueError for one that was not judged.
    """
    listed = sorted(examples, key=lambda example: str(example["key"]))
    easy = {example["worker"] for example in listed if example["single_hop"]} - {None}
    rest = []
    for example in listed:
        if example["single_hop"] or example["worker"] in easy:
            yield example, EASY, "Most sampled questions of its writer need one paragraph."
        elif example["correct"] is None or example["loss"] is None:
            raise ValueError(f"The difficulty of {example['key']} is not judged: judge it first.")
        else:
            rest.append(example)
    medium = _medium(rest, parameters.difficulty.medium_share)
    limit = medium[-1]["loss"] if medium else 0.0
    taken = {example["key"] for example in medium}
    for example in medium:
        yield example, MEDIUM, f"Answered right out of fold, loss {_loss(example)} ≤ {limit:.4f}."
    hard = [example for example in rest if example["key"] not in taken]
    for example in (each for each in hard if each.get("published")):
        yield example, HARD[0], "Hard, and in the open since an earlier release."
    hidden = [each for each in hard if not each.get("published")]
    for example, split in _dealt(hidden, parameters, rng):
        right = f"right out of fold, but loss {_loss(example)} is too high"
        judged = right if example["correct"] else "wrong out of fold"
        yield example, split, f"Answered {judged}; drawn from the hard ones."


def _medium(examples: Sequence[Example], share: float) -> list[Example]:
    """Return the right answers of least loss: `share` of the examples, or all that are right."""
    right = [example for example in examples if example["correct"]]
    right.sort(key=lambda example: (example["loss"], str(example["key"])))
    return right[: round(Fraction(str(share)) * len(examples))]


def _dealt(
    examples: Sequence[Example], parameters: "Parameters", rng: random.Random
) -> Iterator[tuple[Example, str]]:
    """Yield each with its split, drawn so that one example less moves few of the others.

    The sizes follow the weights by largest remainders.
    """
    table = parameters.splits
    weights = [table.train_hard, table.dev, table.test_distractor, table.test_fullwiki]
    quotas = [Fraction(len(examples) * weight, sum(weights)) for weight in weights]
    sizes = [int(quota) for quota in quotas]
    by_remainder = sorted(range(len(HARD)), key=lambda at: sizes[at] - quotas[at])
    for at in by_remainder[: len(examples) - sum(sizes)]:
        sizes[at] += 1
    salt = rng.getrandbits(64).to_bytes(8, "big")
    drawn = iter(sorted(examples, key=lambda example: _drawn(salt, str(example["key"]))))
    for split, size in zip(HARD, sizes, strict=True):
        for _ in range(size):
            yield next(drawn), split


def _drawn(salt: bytes, key: str) -> bytes:
    return hashlib.blake2b(key.encode(), key=salt).digest()


def _loss(example: Example) -> str:
    return f"{example['loss']:.4f}"
