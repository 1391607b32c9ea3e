"""The paper's tables: sizes, first words, kinds of answers, pairs, labels given by hand."""

import heapq
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from annotation.metrics.summation import plain_sum
from annotation.metrics.supporting_facts import Reply, Score, against, totals, upper_bound
from annotation.protocols.hotpotqa.contexts import COMPARED, compared
from annotation.protocols.hotpotqa.file_format import SPLITS, sentences_of
from annotation.protocols.hotpotqa.scoring import Gold, Predictions, read_predictions, score_all
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
from annotation.tables.labels import cell_of, labels_of
from annotation.tables.table import NO_QUESTION, Cell, Table, share
from collector.ingest.segmentation import n_tokens as count_of_tokens
from collector.protocols.stage_tables import read_scheme

if TYPE_CHECKING:
    from annotation.protocols.hotpotqa.parameters import Parameters


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


ALL = "all"
TYPES = ("bridge", "comparison")
# Records do not tell their language; for a count of tokens that of the paper will do.
LANGUAGE = "en"
# Ours: how wide a class of question lengths is, and from where on they are one class.
LENGTH_STEP, LONGEST = 5, 56
DESCRIPTIONS = {
    "train-easy": "single-hop",
    "train-medium": "multi-hop",
    "train-hard": "hard multi-hop",
    "dev": "hard multi-hop",
    "test-distractor": "hard multi-hop",
    "test-fullwiki": "hard multi-hop",
}


class Size:
    """The sums of one type."""

    def __init__(self) -> None:
        self.examples = self.yes_no = self.spans = 0
        self.question_tokens = self.answer_tokens = 0
        self.facts = self.sentences = self.pair_tokens = self.paragraphs = 0

    def add(self, example: Example) -> None:
        """Count one example."""
        self.examples += 1
        self.question_tokens += n_tokens(example.question)
        self.facts += len(example.reply.facts)
        if example.is_yes_no:
            self.yes_no += 1
        else:
            self.spans += 1
            self.answer_tokens += n_tokens(example.reply.answer)
        for passage in example.pair:
            self.paragraphs += 1
            self.sentences += len(passage.get("sentences") or ())
            self.pair_tokens += n_tokens(passage["text"])


class Sizes:
    """Counts Table 1, the lengths, and Figure 5."""

    def __init__(self) -> None:
        self.splits: Counter[str] = Counter()
        self.lengths: Counter[int] = Counter()
        self.sizes = {name: Size() for name in (ALL, *TYPES)}

    def add(self, example: Example) -> None:
        """Count one example."""
        self.splits[example.split] += 1
        self.lengths[_class(n_tokens(example.question))] += 1
        for name in (ALL, example.type):
            if name in self.sizes:
                self.sizes[name].add(example)

    def tables(self) -> list[Table]:
        """Return the splits, the lengths by type, and the distribution of question lengths."""
        return [self._splits(), self._sizes(), self._lengths()]

    def _splits(self) -> Table:
        whole = self.splits.total()
        rows: list[list[Cell]] = [
            [split, DESCRIPTIONS[split], self.splits[split], share(self.splits[split], whole)]
            for split in SPLITS
        ]
        if self.splits[""]:
            rows.append(["not split yet", "", self.splits[""], share(self.splits[""], whole)])
        note = "In the paper 16 % are easy, 50 % medium and 34 % hard, of these three are held out."
        columns = ["split", "examples are", "examples", "share"]
        return Table("splits", "Data split (Table 1 of the HotpotQA paper)", columns, rows, note)

    def _sizes(self) -> Table:
        measures = {
            "examples": lambda size: size.examples,
            "answered by yes or no": lambda size: size.yes_no,
            "tokens per question": lambda size: share(size.question_tokens, size.examples),
            "tokens per answer that is no yes or no": lambda size: share(
                size.answer_tokens, size.spans
            ),
            "supporting facts per example": lambda size: share(size.facts, size.examples),
            "sentences per gold paragraph": lambda size: share(size.sentences, size.paragraphs),
            "tokens per gold paragraph": lambda size: share(size.pair_tokens, size.paragraphs),
        }
        rows = [
            [name, *(of(size) for size in self.sizes.values())] for name, of in measures.items()
        ]
        return Table("size", "Lengths by type of question", ["measure", *self.sizes], rows)

    def _lengths(self) -> Table:
        whole = self.lengths.total()
        rows: list[list[Cell]] = [
            [_class_name(first), self.lengths[first], share(self.lengths[first], whole)]
            for first in range(1, max(self.lengths, default=0) + 1, LENGTH_STEP)
        ]
        columns = ["tokens", "questions", "share"]
        return Table(
            "question_lengths",
            "Lengths of questions (Figure 5 of the HotpotQA paper)",
            columns,
            rows,
            "" if rows else NO_QUESTION,
        )


def _class(number: int) -> int:
    """Return the first length of the class that a length is in."""
    return min((max(number, 1) - 1) // LENGTH_STEP * LENGTH_STEP + 1, LONGEST)


def _class_name(first: int) -> str:
    return f"{first}+" if first == LONGEST else f"{first}–{first + LENGTH_STEP - 1}"


@lru_cache(maxsize=1024)
def n_tokens(text: str) -> int:
    """Return the number of tokens of the text."""
    return count_of_tokens(text, LANGUAGE)


WORD = re.compile(r"\w+(?:['’]\w+)?")
WH_WORDS = frozenset("what which who whom whose when where why how".split())
COPULAS = frozenset("is are was were am".split())
AUXILIARIES = frozenset("do does did has have had can could will would should may might".split())
QUESTION_WORDS = WH_WORDS | COPULAS | AUXILIARIES
# Relative clauses begin with question words too; the one that asks stands at the beginning of a
# question, or after all of them.
FIRST_TOKENS = 3
PREPOSITIONS = frozenset("in on at by of for from to with under through during".split())
N_RIGHT = 2
# Ours: what is rarer is the tail.
RAREST_WORD, RAREST_TYPE = 0.01, 0.005
NONE = "none"


def question_type(question: str) -> tuple[str, str]:
    """Return the central question word, and the type: the word with its neighbours.

    Neighbours are two words to the right, and a preposition to the left. A question without any
    question word has the type of its first words.
    """
    words = [match.group().lower() for match in WORD.finditer(question)]
    places = [at for at, word in enumerate(words) if word in QUESTION_WORDS]
    if not places:
        return NONE, " ".join(words[: 1 + N_RIGHT])
    early = [at for at in places if at < FIRST_TOKENS]
    at = early[0] if early else places[-1]
    start = at - 1 if at and words[at - 1] in PREPOSITIONS else at
    return words[at], " ".join(words[start : at + 1 + N_RIGHT])


class QuestionWords:
    """Counts central question words, and the types around each."""

    def __init__(self) -> None:
        self.words: Counter[str] = Counter()
        self.types: Counter[tuple[str, str]] = Counter()

    def add(self, example: Example) -> None:
        """Count one question."""
        word, kind = question_type(example.question)
        self.words[word] += 1
        self.types[word, kind] += 1

    def tables(self) -> list[Table]:
        """Return Figure 2 as a tree: a word, below it its types, the most frequent first."""
        whole = self.words.total()
        rows: list[list[Cell]] = []
        for word, number in _ordered(self.words):
            if number < RAREST_WORD * whole:
                continue
            rows.append([word, "", number, share(number, whole)])
            types = Counter({kind: n for (of, kind), n in self.types.items() if of == word})
            rows += [
                [word, kind, n, share(n, whole)]
                for kind, n in _ordered(types)
                if n >= RAREST_TYPE * whole and n > 1
            ]
        note = (
            f"{len(self.types):,} different types in {whole:,} questions." if whole else NO_QUESTION
        )
        columns = ["central question word", "with its neighbours", "questions", "share"]
        return [
            Table(
                "question_types",
                "Types of questions (Figure 2 of the HotpotQA paper)",
                columns,
                rows,
                note,
            )
        ]


def _ordered(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
DATE = re.compile(rf"\b(?:{MONTHS})\b.*\d|\d.*\b(?:{MONTHS})\b|^(?:1\d|20)\d\d(?:s|[-–]\d+)?$")
NUMBER_WORDS = frozenset(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety "
    "hundred thousand million billion first second third once twice".split()
)
KINDS = ("yes or no", "date", "number", "proper name", "other words")


def answer_type(answer: str) -> str:
    """Return one of KINDS: what the words look like, not what they mean."""
    words = answer.lower().split()
    if answer in YES_NO:
        return "yes or no"
    if DATE.search(answer.lower()):
        return "date"
    if words and (re.match(r"[^\w]*\d", words[0]) or words[0] in NUMBER_WORDS):
        return "number"
    if any(word[0].isupper() for word in re.findall(r"\w+", answer)):
        return "proper name"
    return "other words"


class AnswerTypes:
    """Counts answers by their form."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def add(self, example: Example) -> None:
        """Count one answer."""
        self.counts[answer_type(example.reply.answer)] += 1

    def tables(self) -> list[Table]:
        """Return the share of each form."""
        whole = self.counts.total()
        rows: list[list[Cell]] = [
            [kind, self.counts[kind], share(self.counts[kind], whole)] for kind in KINDS
        ]
        note = (
            "By the form of the words alone. The paper's finer types, where 30 % are persons, are "
            "of its sample labelled by hand: see --sample."
        )
        columns = ["type", "answers", "share"]
        return [Table("answer_types", "Types of answers", columns, rows, note)]


# Ours: a collection may draw from hundreds of sets; those that are skipped most come first.
MOST_SETS = 25


class PairsBySet:
    """Counts pairs that were handed in, by set."""

    def __init__(self) -> None:
        self.by_set: dict[tuple[str, str], list[int]] = {}

    def add(self, seed: SeedRecord) -> None:
        """Count one pair, if anybody wrote about it or skipped it."""
        skips, kept = seed.get("skips", 0), sum(is_kept(each) for each in seed["questions"])
        if not skips and not seed["questions"]:
            return
        payload = seed["payload"]
        counts = self.by_set.setdefault((payload.get("type", ""), payload.get("set", "")), [0] * 4)
        for at, number in enumerate((1, skips, len(seed["questions"]), kept)):
            counts[at] += number

    def tables(self) -> list[Table]:
        """Return the pairs by set; nothing where no pair tells its set, as in published files."""
        named = {key: counts for key, counts in self.by_set.items() if key[1]}
        if not named:
            return []
        ordered = sorted(
            named.items(), key=lambda item: (-_share_skipped(item[1]), -item[1][0], item[0])
        )
        rows: list[list[Cell]] = [
            [name, kind, *counts, _share_skipped(counts)]
            for (kind, name), counts in ordered[:MOST_SETS]
        ]
        left = len(ordered) - len(rows)
        note = "Drop a set whose pairs are skipped often." + (
            f" {left} more sets are skipped less." if left else ""
        )
        columns = ["set", "type", "pairs", "skips", "questions", "kept", "skipped share"]
        return [Table("pairs", "Pairs by the set they are of (A.2)", columns, rows, note)]


def _share_skipped(counts: list[int]) -> float:
    """Return how many of the hands that had a pair of the set skipped it."""
    _, skips, questions, _ = counts
    return share(skips, skips + questions) or 0.0


HELD_OUT, TRAIN = "dev and test", "train-medium and train-hard"
GROUPS = {
    "dev": HELD_OUT,
    "test-distractor": HELD_OUT,
    "test-fullwiki": HELD_OUT,
    "train-medium": TRAIN,
    "train-hard": TRAIN,
}
# The paper looks at these two on their own, so each has a sample of its own (3).
CHECKED = {"train-medium": (0.933, 0.32), "dev": (0.92, 0.15)}
CHECK = "check"
SCHEME = read_scheme(Path(__file__).parent / "labels/questions.toml")
REASONING = SCHEME.facet("reasoning")
ANSWERS = [choice.value for choice in SCHEME.facet("answer_type").choices]
NOT_MULTI_HOP = [each.value for each in REASONING.choices if each.group != "multi-hop"]
LABELS = tuple(facet.name for facet in SCHEME.facets())
# The paper's per cent in both groups.
PAPER_LABELS = {
    "I": (42, 38),
    "II": (15, 29),
    "III": (6, 2),
    "comparison": (27, 20),
    "other": (2, 7),
    "single-hop": (6, 2),
    "unanswerable": (2, 2),
}


def drawn(examples: Iterable[Example], wanted: int, rng: random.Random) -> list[dict[str, str]]:
    """Return `wanted` examples of each group and of each of CHECKED with blank labels.

    The draw depends on the ids and `rng` alone, not on the order of the examples.
    """
    salt = rng.getrandbits(64)
    best: dict[str, list[tuple[int, int, dict[str, str]]]] = {
        name: [] for name in (HELD_OUT, TRAIN, *CHECKED)
    }
    for number, example in enumerate(examples):
        if example.split not in GROUPS:
            continue
        # A heap's least comes first: the largest places fall out.
        place = -int(sha256(f"{salt}/{example.id}".encode()).hexdigest(), 16)
        for name in {GROUPS[example.split], example.split} & best.keys():
            if len(best[name]) < wanted:
                heapq.heappush(best[name], (place, -number, _row_to_label(example)))
            elif place > best[name][0][0]:
                heapq.heapreplace(best[name], (place, -number, _row_to_label(example)))
    rows: dict[str, dict[str, str]] = {}
    for name, heap in best.items():
        for _, _, row in sorted(heap, reverse=True):
            # Drawn for a group first; for the check alone it counts in no group.
            rows.setdefault(row["id"], row | ({"sample": CHECK} if name in CHECKED else {}))
    return list(rows.values())


def counted(rows: Iterable[Mapping[str, str]]) -> list[Table]:
    """Return Tables 3 and 2, and how train-medium and dev compare; a row without labels waits.

    Raises ScoreError naming the row for a label that is none of the scheme's.
    """
    found: dict[str, Counter[tuple[str, str]]] = {name: Counter() for name in LABELS}
    whole: Counter[str] = Counter()
    checked: Counter[tuple[str, str]] = Counter()
    waiting = 0
    for number, row in enumerate(rows, 1):
        group, split = cell_of(row, "sample", number), cell_of(row, "split", number)
        labels = labels_of(row, number, SCHEME.facets())
        if labels is None:
            waiting += 1
            continue
        whole[group] += 1
        for name, label in labels.items():
            found[name][group, label] += 1
        checked[split, labels["reasoning"]] += 1
    note = f"{whole.total()} examples are labelled, {waiting} wait."
    return [
        _reasoning(found["reasoning"], whole, note),
        _answers(found["answer_type"], whole),
        _check(checked),
    ]


def _reasoning(found: Counter[tuple[str, str]], whole: Counter[str], note: str) -> Table:
    rows: list[list[Cell]] = [
        [
            f"{choice.value}: {choice.hint}",
            found[HELD_OUT, choice.value],
            share(found[HELD_OUT, choice.value], whole[HELD_OUT]),
            PAPER_LABELS[choice.value][0] / 100,
            found[TRAIN, choice.value],
            share(found[TRAIN, choice.value], whole[TRAIN]),
            PAPER_LABELS[choice.value][1] / 100,
        ]
        for choice in REASONING.choices
    ]
    columns = ["reasoning"]
    for group in (HELD_OUT, TRAIN):
        columns += [group, f"{group} share", f"{group} paper's share"]
    return Table(
        "reasoning",
        "Reasoning, labelled by hand (Table 3 of the HotpotQA paper)",
        columns,
        rows,
        note,
    )


def _check(checked: Counter[tuple[str, str]]) -> Table:
    rows: list[list[Cell]] = []
    for split, (multi_hop, second) in CHECKED.items():
        whole = sum(number for (of, _), number in checked.items() if of == split)
        others = sum(checked[split, label] for label in NOT_MULTI_HOP)
        shares = share(whole - others, whole), share(checked[split, "II"], whole)
        rows.append([split, whole, shares[0], multi_hop, shares[1], second])
    columns = ["split", "labelled", "multi-hop share", "paper's multi-hop share"]
    columns += ["type II share", "paper's type II share"]
    note = "Whether what a model answers is as hard to reason about as what it does not."
    return Table("checked", "Labelled by hand, by split (3)", columns, rows, note)


def _answers(found: Counter[tuple[str, str]], whole: Counter[str]) -> Table:
    counts = Counter({label: found[HELD_OUT, label] for label in ANSWERS})
    rows: list[list[Cell]] = [
        [label, counts[label], share(counts[label], whole[HELD_OUT])] for label in ANSWERS
    ]
    columns = ["answer", HELD_OUT, "share"]
    title = "Answers, labelled by hand (Table 2 of the HotpotQA paper)"
    return Table("answers_by_hand", title, columns, rows)


def _row_to_label(example: Example) -> dict[str, str]:
    paragraphs = {
        f"paragraph_{letter}": f"{passage['title']}: {passage['text']}"
        for letter, passage in zip("ab", example.pair, strict=False)
    }
    return {
        "id": example.id,
        "sample": GROUPS[example.split],
        "split": example.split,
        "paragraph_a": "",
        "paragraph_b": "",
        **paragraphs,
        "question": example.question,
        "answer": example.reply.answer,
        "facts": "\n".join(example.facts()),
        **dict.fromkeys(LABELS, ""),
    }


RANK_COLUMNS = ("set", "questions", "MAP %", "mean rank", "Hits@2 %", "Hits@10 %", "CorAns rank")
PAPER_RANKS = "In the paper dev has MAP 43.93, mean rank 314.71, Hits 39.43 and 56.06. "
PAPER_SAMPLED = "In the paper CorAns rank is 82.76 in train-medium and 97.93 in dev. "
RANKS = (
    "A paragraph that was not found has the rank after the last one found; CorAns leaves out yes "
    "and no."
)
NONE_YET = "No contexts were searched for in the whole corpus yet; a release searches for them."


class Ranks:
    """Collects the ranks of gold paragraphs by split: of all, and of samples of one size."""

    def __init__(self, n_compared: int) -> None:
        self.n_compared = n_compared
        self.by_split: dict[str, dict[str, RanksRecord | None]] = {}

    def add(self, example: Example) -> None:
        """Count one example, if its paragraphs were searched for."""
        ranks = example.ranks if example.ranks is not None and example.ranks["gold"] else None
        # Of COMPARED a sample alone is searched for, whatever was before.
        if ranks is not None or example.split == COMPARED:
            self.by_split.setdefault(example.split, {})[example.key] = ranks

    def tables(self) -> list[Table]:
        """Return Table 5, of all that was searched for, and Table 9, of as many of each split."""
        whole = {
            split: list(ranks.values())
            for split, ranks in self.by_split.items()
            if split != COMPARED
        }
        sampled = {
            split: [ranks[key] for key in compared(ranks, self.n_compared)]
            for split, ranks in self.by_split.items()
        }
        size = f"{self.n_compared:,} questions of each split, or all there are. "
        return [
            _table("retrieval", "(Table 5 of the HotpotQA paper)", whole, PAPER_RANKS),
            _table(
                "retrieval_compared",
                "by split (Table 9 of the HotpotQA paper)",
                sampled,
                size + PAPER_SAMPLED,
            ),
        ]


def average_precision(gold: list[int]) -> float:
    """Return the mean of the precision at each gold rank."""
    return plain_sum(n / rank for n, rank in enumerate(sorted(gold), 1)) / len(gold)


def hits(gold: list[int], within: int) -> float:
    """Return the share of gold ranks among the first `within`."""
    return sum(rank <= within for rank in gold) / len(gold)


def _table(name: str, which: str, found: dict[str, list[RanksRecord | None]], note: str) -> Table:
    searched = {split: [one for one in ranks if one] for split, ranks in found.items()}
    rows = [_ranks_row(split, ranks) for split, ranks in sorted(searched.items()) if ranks]
    title = f"Retrieval in the full wiki setting {which}"
    return Table(name, title, RANK_COLUMNS, rows, note + RANKS if rows else NONE_YET)


def _ranks_row(split: str, found: list[RanksRecord]) -> list[Cell]:
    gold = [ranks["gold"] for ranks in found]
    answers = [float(ranks["answer"]) for ranks in found if ranks["answer"] is not None]
    return [
        split or "not split yet",
        len(found),
        100 * _mean([average_precision(ranks) for ranks in gold]),
        _mean([_mean([float(rank) for rank in ranks]) for ranks in gold]),
        100 * _mean([hits(ranks, 2) for ranks in gold]),
        100 * _mean([hits(ranks, 10) for ranks in gold]),
        _mean(answers) if answers else None,
    ]


def _mean(values: list[float]) -> float:
    return plain_sum(values) / len(values)


SCORE_COLUMNS = (
    "setting",
    "questions",
    "answer EM %",
    "answer F1 %",
    "facts EM %",
    "facts F1 %",
    "joint EM %",
    "joint F1 %",
)
SHOWN = ("em", "f1", "sp_em", "sp_f1", "joint_em", "joint_f1")
PAPER_PEOPLE = (
    "In the paper, on 1,000 examples: human 83.60, 91.40, 61.50, 90.04, 52.30 and 82.55, its upper "
    "bound 96.80, 98.77, 87.40, 97.56, 84.60 and 96.37."
)
NOBODY = (
    "Nobody has answered questions of dev and test again yet: once they are there, publish the "
    "stage human_performance."
)


class Systems:
    """Scores the questions of every split for which anything was predicted."""

    def __init__(self, given: Predictions) -> None:
        self.given = given
        self.told = given.answers.keys() | given.facts.keys()
        self.touched: set[str] = set()
        self.scores: dict[tuple[str, str], list[Score]] = {}

    def add(self, example: Example) -> None:
        """Score one question."""
        if example.id in self.told:
            self.touched.add(example.split)
        (score,) = score_all([_gold(example)], self.given)
        for kind in (ALL, example.type):
            self.scores.setdefault((example.split, kind), []).append(score)

    def tables(self) -> list[Table]:
        """Return a row for each split and type; questions without prediction count 0."""
        rows: list[list[Cell]] = [
            score_row(split if kind == ALL else f"{split}, {kind}", self.scores[split, kind])
            for split in SPLITS
            if split in self.touched
            for kind in (ALL, *TYPES)
            if (split, kind) in self.scores
        ]
        note = (
            "In the paper dev has answer F1 58.28 and joint F1 40.86 with distractors, 34.36 and "
            "17.73 in the full wiki setting."
            if rows
            else "None of the predicted ids is a question of this collection: use a release's ids."
        )
        title = "Scores of these predictions (Tables 4 and 6 of the HotpotQA paper)"
        return [Table("scores", title, ("split", *SCORE_COLUMNS[1:]), rows, note)]


def _gold(example: Example) -> Gold:
    facts = tuple(
        (example.pair[paragraph]["title"], sentence) for paragraph, sentence in example.reply.facts
    )
    return Gold(example.id, example.reply.answer, facts, example.type, "")


class People:
    """Compares the writer with those who answered again, and all of them with each other."""

    def __init__(self) -> None:
        self.writers: list[Score] = []
        self.bounds: list[Score] = []

    def add(self, example: Example) -> None:
        """Count one example, if anybody answered it again."""
        if example.others:
            self.writers.append(against(example.reply, example.others))
            self.bounds.append(upper_bound([example.reply, *example.others]))

    def tables(self) -> list[Table]:
        """Return the people's rows of Table 8."""
        rows = [
            score_row(name, scores)
            for name, scores in (("human", self.writers), ("human upper bound", self.bounds))
            if scores
        ]
        note = PAPER_PEOPLE if rows else NOBODY
        title = "Human performance (Table 8 of the HotpotQA paper)"
        return [Table("human_performance", title, SCORE_COLUMNS, rows, note, of_people=True)]


def score_row(name: str, scores: list[Score]) -> list[Cell]:
    """Return one line of SCORE_COLUMNS, scores in per cent."""
    means = totals(scores)
    return [name, len(scores), *(100 * means[key] for key in SHOWN)]


class Analysis(Protocol):
    """Counts while the examples pass."""

    def add(self, example: Example) -> None:
        """Count one example."""

    def tables(self) -> list[Table]:
        """Return what was counted."""


def tables(seeds: Iterable[SeedRecord], parameters: "Parameters") -> list[Table]:
    """Return Tables 1, 5, 8 and 9, Figures 2 and 5, lengths, answers and skips; one pass."""
    drawn = PairsBySet()
    ranks = Ranks(parameters.contexts.compared_questions)
    parts = (Sizes(), QuestionWords(), AnswerTypes(), ranks, People())
    return [*_counted(_watched(seeds, drawn), parts), *drawn.tables()]


def predicted(
    seeds: Iterable[SeedRecord], parameters: "Parameters", predictions: Path
) -> list[Table]:
    """Return the scores of official predictions by split and type (Tables 4 and 6).

    Raises ScoreError naming the file.
    """
    return _counted(seeds, (Systems(read_predictions(predictions)),))


def sample(
    seeds: Iterable[SeedRecord], parameters: "Parameters", rng: random.Random
) -> list[dict[str, str]]:
    """Return the examples that Tables 2 and 3 want labelled by hand."""
    return drawn(examples_of(seeds), parameters.report.hand_labels, rng)


def labelled(rows: Iterable[Mapping[str, str]], parameters: "Parameters") -> list[Table]:
    """Return Tables 3 and 2 of the sample with its labels; raises ScoreError naming a row."""
    return counted(rows)


def _watched(seeds: Iterable[SeedRecord], drawn: PairsBySet) -> Iterator[SeedRecord]:
    for seed in seeds:
        drawn.add(seed)
        yield seed


def _counted(seeds: Iterable[SeedRecord], parts: Iterable[Analysis]) -> list[Table]:
    for example in examples_of(seeds):
        for part in parts:
            part.add(example)
    return [table for part in parts for table in part.tables()]
