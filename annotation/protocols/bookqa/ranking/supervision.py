"""Labels of passages from a question and its answers alone: distant supervision (Book QA 4.2)."""

import random
from dataclasses import dataclass

from annotation.protocols.bookqa.parameters import RankingTable
from annotation.protocols.bookqa.ranking.coverage import held
from annotation.protocols.bookqa.ranking.rankings import Ranked


@dataclass(frozen=True)
class Labelled:
    """Passages of the question's book by position: in order, those to learn as right and wrong.

    left_out: of what was drawn as right and as wrong, what the filter by ROUGE-L has left out.
    """

    question: str
    document: str
    positives: list[int]
    negatives: list[int]
    left_out: tuple[list[int], list[int]]


def label(one: Ranked, numbers: RankingTable, rng: random.Random) -> Labelled:
    """Return the labels of one question.

    Right may be what is retrieved by the question and also by question and answers, wrong the rest
    of what either retrieves. So many wrong ones are drawn that there are `sigma` right ones to
    each. Of those the right ones stay whose best span of the answer's length has ROUGE-L above
    `alpha`, the wrong ones with less than `beta`.
    """
    by_question, by_both = set(one.bm25[: numbers.depth]), set(one.oracle[: numbers.depth])
    right = sorted(by_question & by_both)
    rest = sorted(by_question ^ by_both)
    wrong = rng.sample(rest, min(len(rest), round(len(right) / numbers.sigma)))

    def similarity(passage: int) -> float:
        return held(one.book.words[passage], one.question.answer_words).rouge_l

    positives = [passage for passage in right if similarity(passage) > numbers.alpha]
    negatives = sorted(passage for passage in wrong if similarity(passage) < numbers.beta)
    left_out = sorted({*right} - {*positives}), sorted({*wrong} - {*negatives})
    return Labelled(one.question.id, one.book.document, positives, negatives, left_out)
