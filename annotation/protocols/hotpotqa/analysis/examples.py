"""The kept questions as the analyses read them: with their pair, their answer and its proof."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from annotation.protocols.hotpotqa.file_format import sentences_of
from annotation.protocols.hotpotqa.measures import Reply
from annotation.records.schema import (
    PassageRecord,
    QuestionRecord,
    RanksRecord,
    SeedRecord,
    VoteRecord,
    chosen_vote,
    is_kept,
    is_simulated,
    peoples_votes,
)

# The stage in which new workers answer decided questions again.
HUMAN_PERFORMANCE = "human_performance"
YES_NO = ("yes", "no")


@dataclass(frozen=True)
class Example:
    """One kept question. `reply`: the writer's; `others`: of new people, in order.

    There are no others where a simulated worker wrote the question or its answer.
    `set`: the list or the candidate set that its pair is of, blank in published files.
    """

    id: str
    key: str
    split: str
    type: str
    set: str
    question: str
    reply: Reply
    others: tuple[Reply, ...]
    pair: tuple[PassageRecord, ...]
    ranks: RanksRecord | None

    @property
    def is_yes_no(self) -> bool:
        """Return whether the answer is yes or no instead of words of a paragraph."""
        return self.reply.answer in YES_NO

    def facts(self) -> Iterator[str]:
        """Yield the sentences that prove the answer, as far as they are known."""
        for paragraph, sentence in self.reply.facts:
            passage = self.pair[paragraph]
            sentences = sentences_of(passage) if passage.get("sentences") else []
            yield sentences[sentence].strip() if sentence < len(sentences) else ""


def examples_of(seeds: Iterable[SeedRecord]) -> Iterator[Example]:
    """Yield every kept question."""
    for seed in seeds:
        for question in seed["questions"]:
            released = chosen_vote(question)
            if is_kept(question) and released is not None:
                yield _example(seed, question, released)


def _example(seed: SeedRecord, question: QuestionRecord, released: VoteRecord) -> Example:
    people = [] if is_simulated(question) else peoples_votes(question)
    again = [vote for vote in people if vote["stage"] == HUMAN_PERFORMANCE]
    proof = question["payload"].get("facts")
    return Example(
        id=question["id"],
        key=question["key"],
        split=question["split"] or "",
        type=question["payload"].get("type", ""),
        set=seed["payload"].get("set", ""),
        question=question["text"],
        reply=_reply(released, proof),
        others=tuple(_reply(vote) for vote in again if vote is not released),
        pair=tuple(seed["passages"]),
        ranks=question.get("ranks"),
    )


def _reply(vote: VoteRecord, facts: list[list[int]] | None = None) -> Reply:
    spans = vote["payload"].get("spans") or ()
    words = vote["type"] if vote["type"] in YES_NO else "".join(span["text"] for span in spans)
    proof = vote["payload"].get("facts", []) if facts is None else facts
    return Reply(words, tuple((paragraph, sentence) for paragraph, sentence in proof))
