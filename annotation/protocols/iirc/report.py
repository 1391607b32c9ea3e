"""The paper's tables: agreement, human performance, first words, systems, labels by hand."""

import heapq
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annotation.agreement.decision import largest_group
from annotation.agreement.kappa import fleiss_kappa
from annotation.metrics.drop import Answer, Score, answer_strings, global_scores, score_question
from annotation.metrics.result import ScoreError
from annotation.protocols.iirc.official_files import (
    NONE,
    QUESTION,
    LayoutError,
    drop_answer,
    n_linked_documents,
)
from annotation.protocols.iirc.scoring import (
    links_group,
    precision_recall,
    read_predictions,
    says_none,
)
from annotation.protocols.iirc.validation import Vote, agree, vote
from annotation.records.schema import (
    QuestionRecord,
    SeedRecord,
    VoteRecord,
    chosen_vote,
    is_kept,
    is_simulated,
    peoples_votes,
)
from annotation.tables.labels import labels_of
from annotation.tables.table import Cell, Table, share, share_of_items
from collector.protocols.parameters import FOLDS
from collector.protocols.stage_tables import read_scheme
from tasks.work.kinds.voting import type_words

if TYPE_CHECKING:
    from annotation.protocols.iirc.parameters import Parameters


def _gold_of(question: QuestionRecord) -> Mapping[str, Any] | None:
    """Return the released answer in DROP style; None where nothing is released."""
    released = chosen_vote(question)
    if released is None or released["type"] == "bad":
        return None
    return {"answer": drop_answer(_official(vote(released["type"], released["payload"])))}


def needed_documents(question: QuestionRecord) -> int:
    """Return how many documents but the passage the question needs, by its released answer."""
    released = chosen_vote(question)
    context = released["payload"].get("context") or () if released else ()
    documents = {span["document"] for span in context} - {QUESTION}
    return n_linked_documents(
        {
            "answer": {"type": released["type"] if released else ""},
            "question_links": question["payload"].get("links") or (),
            "context": [{"passage": document} for document in documents],
        }
    )


def _official(cast: Vote) -> dict[str, object]:
    return {
        "type": cast.type,
        "answer_spans": [{"text": span} for span in cast.spans],
        "answer_value": cast.yes_no if cast.type == "binary" else cast.value,
    }


ANSWER_TYPES = ("span", "value", "binary", "none", "bad")
VOTING = "answer"
HUMAN_PERFORMANCE = "human_performance"


class Agreement:
    """Counts the questions of the folds that several annotators answer."""

    def __init__(self, parameters: "Parameters") -> None:
        self.redundancy = {
            fold: parameters.answer.redundancy.most_of(fold)
            for fold in FOLDS
            if parameters.answer.redundancy.most_of(fold) > 1
        }
        self.min_agreeing = parameters.agreement.min_agreeing
        self.types: dict[str, list[list[int]]] = {fold: [] for fold in self.redundancy}
        self.agreeing: Counter[str] = Counter()
        # Of each question: how many pairs of its annotators are equal, and how many there are.
        self.pairs: dict[str, Counter[tuple[int, int]]] = {
            fold: Counter() for fold in self.redundancy
        }

    def add(self, fold: str, question: QuestionRecord) -> None:
        """Count one question of `fold`, if people have given all its votes."""
        cast = [one for one in peoples_votes(question) if one["stage"] == VOTING]
        if len(cast) != self.redundancy.get(fold):
            return
        votes = [vote(one["type"], one["payload"]) for one in cast]
        counts = Counter(one.type for one in votes)
        self.types[fold].append([counts[name] for name in ANSWER_TYPES])
        equal = sum(_equal(one, other) for one, other in combinations(votes, 2))
        self.pairs[fold][equal, len(votes) * (len(votes) - 1) // 2] += 1
        answered = [one for one in votes if one.type != "bad"]
        same = largest_group(answered, agree)
        self.agreeing[fold] += len(same) >= self.min_agreeing

    def table(self) -> Table:
        """Return the agreement by fold."""
        rows: list[list[Cell]] = []
        for fold, number in self.redundancy.items():
            items = self.types[fold]
            rows.append(
                [
                    fold,
                    number,
                    len(items),
                    share(self.agreeing[fold], len(items)),
                    share_of_items(self.pairs[fold]),
                    fleiss_kappa.or_none(items),
                ]
            )
        columns = ["split", "annotators", "questions", "agreed share", "equal pairs share", "kappa"]
        note = (
            f"Agreed: at least {self.min_agreeing} annotators gave the same answer. Equal pairs: "
            "of all pairs of annotators. Kappa: Fleiss', on the type of the answer, bad included."
        )
        return Table("agreement", "Agreement", columns, rows, note, of_people=True)


class HumanPerformance:
    """Scores new annotators' answers against the released ones with the official scorer."""

    def __init__(self, parameters: "Parameters") -> None:
        self.wanted = parameters.human_performance.sample_questions
        self.scores: list[Score] = []
        self.bad = 0
        self.is_simulated = False

    def add(self, question: QuestionRecord) -> None:
        """Score people's second readings of one question, if people's answer is released."""
        self.is_simulated |= any(
            one["stage"] == HUMAN_PERFORMANCE and one["synthetic"] for one in question["votes"]
        )
        gold = None if is_simulated(question) else _gold_of(question)
        if gold is None:
            return
        for one in peoples_votes(question):
            if one["stage"] == HUMAN_PERFORMANCE:
                self.bad += one["type"] == "bad"
                self.scores.append(score_question(gold, _prediction(one)))

    def table(self) -> Table:
        """Return exact match and F1, or that nothing has been collected yet."""
        columns = ["measure", "value"]
        title = "Human performance (Table 3 of the IIRC paper)"
        if not self.scores:
            note = f"Not collected yet: publish the stage {HUMAN_PERFORMANCE} once test is decided."
            if self.is_simulated:
                note = "Only simulated workers have done it yet, which says nothing of people."
            return Table("human_performance", title, columns, [], note, of_people=True)
        found = global_scores(self.scores)
        rows: list[list[Cell]] = [
            ["questions", len(self.scores)],
            ["exact match %", 100 * found["global_em"]],
            ["F1 %", 100 * found["global_f1"]],
        ]
        note = f"{self.wanted} questions are wanted; {self.bad} were called bad, which scores 0."
        return Table("human_performance", title, columns, rows, note, of_people=True)


def _equal(one: Vote, other: Vote) -> bool:
    """Return whether two votes are the same; two that call the question bad are."""
    if "bad" in (one.type, other.type):
        return one.type == other.type
    return agree(one, other)


def _prediction(given: VoteRecord) -> list[str] | None:
    """Return the answer as the official scorer is given it, None for a question called bad."""
    if given["type"] == "bad":
        return None
    return list(vote(given["type"], given["payload"]).strings())


SPAN = "years?|decades?|centur(?:y|ies)|months?|weeks?|days?|hours?|minutes?|seasons?"
MOMENT = "year|decade|century|month|day|date|time|season|era|period"
# The paper names "How old was" and "How long did"; the other openings are ours.
OPENINGS = {
    "how old": r"how (?:much )?(?:old|older|young|younger)\b",
    "how long": r"how (?:much )?(?:long|longer|soon|often|recently)\b",
    "how many years": rf"(?:(?:for|in|after|about) )?how many (?:\w+ )?(?:{SPAN})\b",
    "when": r"(?:since |until |by )?when\b",
    "what year": rf"(?:(?:in|on|by|during|for|from|since|until|at) )?(?:what|which) (?:{MOMENT})\b",
}
PATTERNS = {name: re.compile(pattern) for name, pattern in OPENINGS.items()}


def opening_of(question: str) -> str:
    """Return which of OPENINGS the question begins with; blank if it is not about time."""
    words = question.lower().lstrip("\"'“‘ ")
    return next((name for name, pattern in PATTERNS.items() if pattern.match(words)), "")


class Openings:
    """Counts questions by their first words."""

    def __init__(self) -> None:
        self.found: Counter[str] = Counter()

    def add(self, question: str) -> None:
        """Count one question."""
        self.found[opening_of(question)] += 1

    def table(self) -> Table:
        """Return the share of questions about time, and of each way to begin one."""
        whole = self.found.total()
        about_time = whole - self.found[""]
        rows: list[list[Cell]] = [["all about time", about_time, share(about_time, whole)]]
        rows += [[name, self.found[name], share(self.found[name], whole)] for name in OPENINGS]
        note = "By the first words, as a question that begins with “how old”. 15 % in the paper."
        columns = ["opening", "questions", "share"]
        return Table("time", "Questions about time (2.4)", columns, rows, note)


COLUMNS = ("questions", "exact match %", "F1 %")
PAPER = {
    "scores": "In the paper the baseline has an F1 of 31.1 and people one of 88.4.",
    "scores_by_links": "Counted as in the report's Table 4.",
    "scores_by_answer_type": "The paper's baseline does worst where the answer is a number.",
}
TITLES = {
    "scores": "Scores of these predictions (Table 3 of the IIRC paper)",
    "scores_by_links": "By linked documents needed (Table 4 of the IIRC paper)",
    "scores_by_answer_type": "By type of answer (Table 5 of the IIRC paper)",
}


class Systems:
    """Scores the questions of every split for which anything was predicted."""

    def __init__(self, predictions: Mapping[str, Answer], most_links: int) -> None:
        self.predictions, self.most_links = predictions, most_links
        self.rows: list[tuple[str, Score, int, str]] = []
        self.told: set[str] = set()
        self.none: list[tuple[str, bool, bool]] = []

    def add(self, fold: str, question: QuestionRecord) -> None:
        """Score one question, if it is kept; without a prediction it counts 0."""
        gold, released = _gold_of(question), chosen_vote(question)
        if gold is None or released is None or not is_kept(question):
            return
        given = self.predictions.get(question["id"])
        if given is not None:
            self.told.add(fold)
        score = score_question(gold, given)
        self.rows.append((fold, score, needed_documents(question), released["type"]))
        self.none.append((fold, released["type"] == NONE, says_none(given)))

    def tables(self) -> list[Table]:
        """Return Tables 3 to 6; questions of splits without any prediction are left out."""
        rows = [row for row in self.rows if row[0] in self.told]
        by_split = self._groups([(split, score) for split, score, _, _ in rows])
        by_links = self._groups(
            [(links_group(n, self.most_links), score) for _, score, n, _ in rows]
        )
        by_type = self._groups([(type_words(kind), score) for _, score, _, kind in rows])
        if rows:
            by_split = [["all", *_means([score for _, score, _, _ in rows])], *by_split]
        found = {"scores": by_split, "scores_by_links": by_links, "scores_by_answer_type": by_type}
        tables = [
            Table(
                name,
                TITLES[name],
                [name.partition("_by_")[2].replace("_", " ") or "split", *COLUMNS],
                lines,
                PAPER[name] if rows else self._nothing(),
            )
            for name, lines in found.items()
        ]
        return [*tables, self._unanswerable()]

    def _groups(self, scored: list[tuple[str, Score]]) -> list[list[Cell]]:
        names = sorted({name for name, _ in scored})
        return [[name, *_means([one for group, one in scored if group == name])] for name in names]

    def _unanswerable(self) -> Table:
        """Return precision, recall and F1 of saying that there is no answer (Table 6)."""
        told = [(gold, said) for fold, gold, said in self.none if fold in self.told]
        both = sum(gold and said for gold, said in told)
        said, gold = sum(said for _, said in told), sum(gold for gold, _ in told)
        found = {
            "these predictions": precision_recall(both, said, gold),
            "always no answer": precision_recall(gold, len(told), gold),
        }
        rows: list[list[Cell]] = [
            [name, *(100 * value for value in of.values())] for name, of in found.items()
        ]
        columns = ["detector", "precision %", "recall %", "F1 %"]
        title = "Saying that there is no answer (Table 6 of the IIRC paper)"
        return Table("unanswerable", title, columns, rows if told else [], "")

    @staticmethod
    def _nothing() -> str:
        return "None of the predicted ids is a question of this collection: use a release's ids."


def _means(scores: list[Score]) -> list[Cell]:
    means = global_scores(scores)
    return [len(scores), 100 * means["global_em"], 100 * means["global_f1"]]


SCHEME = read_scheme(Path(__file__).parent / "labels/questions.toml")
# Where the paper says it, the share of a label of a part.
PAPER_LABELS = {("reasoning", "discrete"): 0.39, ("answer_kind", "no answer"): 0.30}


def drawn(seeds: Iterable[SeedRecord], number: int, rng: random.Random) -> list[dict[str, str]]:
    """Return `number` kept questions with blank labels, in the order drawn.

    The draw depends on the questions' ids and `rng` alone, not on their order.
    """
    salt = rng.getrandbits(64)
    found = heapq.nsmallest(number, _placed(seeds, salt), key=lambda pair: pair[0])
    return [row for _, row in found]


def counted(rows: Iterable[Mapping[str, str]]) -> list[Table]:
    """Return Table 1 of the labels; a row without labels waits.

    Raises ScoreError naming the row for a label that is none of its part's.
    """
    found: Counter[tuple[str, str]] = Counter()
    whole = waiting = 0
    for number, row in enumerate(rows, 1):
        labels = labels_of(row, number, SCHEME.facets())
        if labels is None:
            waiting += 1
            continue
        whole += 1
        found.update(labels.items())
    lines: list[list[Cell]] = [
        [
            part.name.replace("_", " "),
            f"{choice.value}: {choice.hint}",
            found[part.name, choice.value],
            share(found[part.name, choice.value], whole),
            PAPER_LABELS.get((part.name, choice.value)),
        ]
        for part in SCHEME.facets()
        for choice in part.choices
    ]
    note = f"{whole} questions are labelled, {waiting} wait."
    columns = ["part", "label", "questions", "share", "paper's share"]
    return [
        Table(
            "labels", "Questions labelled by hand (Table 1 of the IIRC paper)", columns, lines, note
        )
    ]


def _placed(seeds: Iterable[SeedRecord], salt: int) -> Iterator[tuple[str, dict[str, str]]]:
    for seed in seeds:
        for question in seed["questions"]:
            if is_kept(question) and chosen_vote(question) is not None:
                place = sha256(f"{salt}/{question['id']}".encode()).hexdigest()
                yield place, _row(seed, question)


def _row(seed: SeedRecord, question: QuestionRecord) -> dict[str, str]:
    released, gold, passage = chosen_vote(question), _gold_of(question), seed["passages"][0]
    payload = released["payload"] if released else {}
    evidence = [f"{span['document']}: {span['text']}" for span in payload.get("context") or ()]
    words = answer_strings(gold["answer"])[0] if gold else ()
    return {
        "id": question["id"],
        "passage": f"{passage['title']}: {passage['text']}",
        "question": question["text"],
        "links": "\n".join(question["payload"].get("links") or ()),
        "evidence": "\n".join(evidence),
        "answer": " ".join([*words, payload.get("unit") or ""]).strip(),
        **{part.name: "" for part in SCHEME.facets()},
    }


ALL = "all"
TYPES = ("span", "value", "binary", NONE)


def tables(seeds: Iterable[SeedRecord], parameters: "Parameters") -> list[Table]:
    """Return the tables of sections 2.4 and 4.2; goes through the seeds once."""
    sizes = {fold: Size() for fold in (ALL, *FOLDS)}
    links: Counter[tuple[int, bool]] = Counter()
    types: Counter[str] = Counter()
    agreement, reading, openings = Agreement(parameters), HumanPerformance(parameters), Openings()
    for seed in seeds:
        kept = [question for question in seed["questions"] if is_kept(question)]
        for fold in (ALL, seed["fold"]):
            if kept and fold in sizes:
                sizes[fold].add(seed, kept)
        for question in kept:
            openings.add(question["text"])
            vote = chosen_vote(question)
            if vote is not None:
                types[vote["type"]] += 1
                links[needed_documents(question), vote["type"] == NONE] += 1
        for question in seed["questions"]:
            agreement.add(seed["fold"], question)
            reading.add(question)
    return [
        size_table(sizes),
        links_table(links, parameters.report.most_links),
        types_table(types),
        openings.table(),
        agreement.table(),
        reading.table(),
    ]


def predicted(
    seeds: Iterable[SeedRecord], parameters: "Parameters", predictions: Path
) -> list[Table]:
    """Return the scores of official predictions by split, links and type of answer, and Table 6.

    Raises ScoreError naming the file.
    """
    try:
        systems = Systems(read_predictions(predictions), parameters.report.most_links)
    except LayoutError as error:
        raise ScoreError(str(error)) from None
    for seed in seeds:
        for question in seed["questions"]:
            systems.add(seed["fold"], question)
    return systems.tables()


def sample(
    seeds: Iterable[SeedRecord], parameters: "Parameters", rng: random.Random
) -> list[dict[str, str]]:
    """Return the questions that Table 1 wants labelled by hand."""
    return drawn(seeds, parameters.report.hand_labels, rng)


def labelled(rows: Iterable[Mapping[str, str]], parameters: "Parameters") -> list[Table]:
    """Return Table 1 of the sample with its labels; raises ScoreError naming a row."""
    return counted(rows)


class Size:
    """The counts of Table 2 for one fold."""

    def __init__(self) -> None:
        self.passages = self.questions = self.links = self.words = 0
        self.vocabulary: set[str] = set()
        self.trigrams: set[tuple[str, ...]] = set()

    def add(self, seed: SeedRecord, questions: list[QuestionRecord]) -> None:
        """Count one passage with its kept questions."""
        self.passages += 1
        self.links += len(seed["passages"][0]["links"])
        for question in questions:
            words = [word.strip("?.,;:!\"'()").lower() for word in question["text"].split()]
            self.questions += 1
            self.words += len(words)
            self.vocabulary.update(words)
            self.trigrams.add(tuple(words[:3]))


def size_table(sizes: dict[str, Size]) -> Table:
    """Return Table 2 with the diversity of the questions, a column for each fold."""
    measures = {
        "questions": lambda size: size.questions,
        "passages": lambda size: size.passages,
        "links per passage": lambda size: share(size.links, size.passages),
        "questions per passage": lambda size: share(size.questions, size.passages),
        "words per question": lambda size: share(size.words, size.questions),
        "distinct words in questions": lambda size: len(size.vocabulary),
        "distinct initial trigrams": lambda size: len(size.trigrams),
    }
    rows = [[name, *(of(size) for size in sizes.values())] for name, of in measures.items()]
    note = "The paper has 13,441 questions over 5,698 passages with 14.5 links each on average."
    return Table("size", "Size (Table 2 of the IIRC paper)", ["measure", *sizes], rows, note)


def links_table(links: Counter[tuple[int, bool]], most: int) -> Table:
    """Return how many linked documents the questions need (Table 4).

    links: questions by that number and whether they have no answer. most: from this number on
    they are one group.
    """
    whole, found = links.total(), max((number for number, _ in links), default=0)
    rows: list[list[Cell]] = []
    for group in range(most + 1):
        counts = {
            none: sum(
                n for (k, is_none), n in links.items() if is_none == none and min(k, most) == group
            )
            for none in (False, True)
        }
        questions = sum(counts.values())
        name = links_group(group, most)
        rows.append([name, questions, share(questions, whole), share(counts[True], questions)])
    note = (
        "Counted by the evidence of the answer; where there is no answer, by the links that the "
        "writer picked. In the paper 30 % need two or more, and nearly half of 4+ "
        "have no answer."
    )
    if whole:
        note = f"{found} at most. {note}"
    columns = ["documents", "questions", "share", "no answer share"]
    return Table(
        "links", "Linked documents needed (Table 4 of the IIRC paper)", columns, rows, note
    )


def types_table(types: Counter[str]) -> Table:
    """Return the share of each type of answer (IIRC 2.4)."""
    names = [*TYPES, *sorted(types.keys() - set(TYPES))]
    whole = types.total()
    rows: list[list[Cell]] = [
        [type_words(name), types[name], share(types[name], whole)] for name in names
    ]
    note = "No answer: the linked articles do not tell; 30 % in the paper."
    return Table("types", "Types of answers", ["type", "questions", "share"], rows, note)
