"""The turns of dialogs with all their answers, and the scores that compare these answers."""

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from annotation.metrics.result import ScoreError, read_file
from annotation.metrics.summation import plain_sum
from annotation.metrics.token_overlap import token_f1
from annotation.protocols.quac.export import identified, seed_text
from annotation.protocols.quac.file_format import (
    AFFIRMATION,
    CANNOT_ANSWER,
    CONTINUATION,
    LayoutError,
    read,
    seed_record,
)
from annotation.records.schema import (
    IMPORTED,
    QuestionRecord,
    SeedRecord,
    VoteRecord,
    chosen_vote,
    is_kept,
    is_simulated,
    released_votes,
)

ACTS = {"yes/no": ("affirmation", AFFIRMATION), "followup": ("continuation", CONTINUATION)}
Labels = dict[str, list[str]]


def counted(texts: Sequence[str]) -> list[str]:
    """Return the references a question is scored against (QuAC 4.1, as the official script does).

    If at least half of `texts` are CANNOTANSWER, it is the only reference. Otherwise every span is
    a reference, with repetitions.
    """
    spans = [text for text in texts if text != CANNOT_ANSWER]
    return spans if len(spans) * 2 > len(texts) else [CANNOT_ANSWER]


def f1(prediction: str, reference: str) -> float:
    """Return the word F1; for the reference CANNOTANSWER, 1.0 if both are equal, else 0.0."""
    if reference == CANNOT_ANSWER:
        return float(prediction == reference)
    return token_f1(prediction, reference)


def human_f1(references: Sequence[str]) -> float:
    """Return the mean of each reference's best F1 against the others; 1.0 for one reference."""
    best = [_held_out(at, references) for at in range(len(references))]
    return plain_sum(best) / len(best)


def person_f1(at: int, texts: Sequence[str]) -> float:
    """Return the F1 of one person's answer against the others, scored as a system (QuAC 5.2).

    texts: the answers of all people. at: the index of this person's answer. The references are
    those of the question. So a person who disagrees with the majority about whether there is an
    answer gets 0, as a system would.
    """
    references = counted(texts)
    if (texts[at] == CANNOT_ANSWER) != (references == [CANNOT_ANSWER]):
        return 0.0
    # If texts are equal, it does not matter which of them is held out.
    return _held_out(references.index(texts[at]), references)


def _held_out(left_out: int, references: Sequence[str]) -> float:
    """Return the best F1 of a reference against the others; 1.0 if there are no others."""
    if len(references) == 1:
        return 1.0
    return max(
        f1(references[left_out], other) for at, other in enumerate(references) if at != left_out
    )


def system_f1(prediction: str, references: Sequence[str]) -> float:
    """Return the prediction's best F1, averaged over the sets with one reference left out.

    So a system is compared with as many references as a person is (QuAC 4.1).
    """
    scores = [f1(prediction, reference) for reference in references]
    if len(scores) == 1:
        return scores[0]
    best = [max(scores[:left_out] + scores[left_out + 1 :]) for left_out in range(len(scores))]
    return plain_sum(best) / len(best)


def read_labels(path: Path) -> dict[str, Labels]:
    """Return the labels that people gave, by dialog act and question id, without simulated votes.

    path: votes.parquet of a release. Raises ScoreError with a message of one line.
    """
    from pyarrow import ArrowException, parquet

    try:
        columns = parquet.read_table(path, columns=["question_id", "answer_more", "synthetic"])
    except (OSError, ArrowException) as error:
        reason = str(error).partition("\n")[0]
        raise ScoreError(
            f"{path}: it is not a release's votes.parquet ({reason}); give that file."
        ) from None
    found: dict[str, Labels] = {act: {} for act in ACTS}
    for row in columns.to_pylist():
        if row["synthetic"]:
            continue
        said = json.loads(row["answer_more"] or "{}")
        for act, (name, letters) in ACTS.items():
            if said.get(name) in letters:
                found[act].setdefault(row["question_id"], []).append(said[name])
    return found


def majority(labels: Sequence[str], rng: random.Random) -> str:
    """Return the most frequent label; `rng` draws one of equally frequent labels."""
    counts = Counter(labels)
    most = max(counts.values())
    return rng.choice(sorted(label for label, number in counts.items() if number == most))


def accuracies(
    kept: Iterable[str], predicted: Mapping[str, Mapping[str, str]], labels: Mapping[str, Labels]
) -> dict[str, float]:
    """Return, in percent, how often a system and how often people agree with the majority.

    kept: the ids of the questions that are scored. predicted: by act and question id, in the
    letters of the official files; a question without a prediction is a miss. A person is compared
    with the majority of the others, so only questions with several labels count for people. Ties
    are broken at random, with the question's id as the random seed.
    """
    questions = list(kept)
    result: dict[str, float] = {}
    for act, given in labels.items():
        asked = [(qid, given[qid]) for qid in questions if given.get(qid)]
        system = [
            float(predicted[act].get(qid) == ACTS[act][1][majority(said, random.Random(qid))])
            for qid, said in asked
        ]
        people = [agreement(qid, said) for qid, said in asked if len(said) > 1]
        result |= _percent(f"{act}, majority", system) | _percent(f"{act}, people", people)
    return result


def agreement(qid: str, said: Sequence[str]) -> float:
    """Return the share of people who gave the same label as the majority of the others."""
    rng = random.Random(qid)
    hits = [majority([*said[:at], *said[at + 1 :]], rng) == label for at, label in enumerate(said)]
    return sum(hits) / len(hits)


def _percent(name: str, values: Sequence[float]) -> dict[str, Any]:
    return {name: 100 * plain_sum(values) / len(values)} if values else {}


ENGLISH = "en"


@dataclass(frozen=True)
class MarkedAnswer:
    """One person's answer: a span of the section, or CANNOTANSWER with start and end None.

    start, end: code points into the section. affirmation: the letter of the official files, blank
    if none was given.
    """

    text: str
    start: int | None
    end: int | None
    affirmation: str = ""


@dataclass(frozen=True)
class Turn:
    """One question of a dialog with the teacher's answer and those of the validators.

    number: from 0. section: its text without the token CANNOTANSWER. continuation: the letter of
    the official files. language: the section's; published files do not name theirs, which is
    English. previous: the turn before it in the dialog. synthetic: a simulated worker asked the
    question or gave the released answer, so that the turn is no evidence about people.
    """

    qid: str
    dialog: str
    number: int
    question: str
    section: str
    teacher: MarkedAnswer
    validators: tuple[MarkedAnswer, ...]
    continuation: str
    fold: str = ""
    language: str = ENGLISH
    synthetic: bool = False
    previous: "Turn | None" = field(default=None, repr=False, compare=False)

    @property
    def references(self) -> list[str]:
        """Return the texts to score predictions against, the teacher's last as in the files."""
        return counted([each.text for each in (*self.validators, self.teacher)])

    @property
    def is_unanswerable(self) -> bool:
        """Return whether the references say that the section has no answer."""
        return self.references == [CANNOT_ANSWER]

    def history(self) -> Iterator["Turn"]:
        """Yield the turns before this one, the latest first."""
        turn = self.previous
        while turn is not None:
            yield turn
            turn = turn.previous


def turns_of(seeds: Iterable[SeedRecord]) -> Iterator[Turn]:
    """Yield the kept turns, dialog by dialog, in the order they were asked."""
    for seed in seeds:
        section = seed["passages"][0]["text"] if IMPORTED in seed["payload"] else seed_text(seed)
        language = seed["passages"][-1].get("language", ENGLISH)
        dialogs: dict[Any, list[QuestionRecord]] = {}
        for question in seed["questions"]:
            if is_kept(question):
                dialogs.setdefault(question["payload"]["dialog"], []).append(question)
        for dialog in dialogs.values():
            previous = None
            for question in sorted(dialog, key=lambda each: each["payload"]["turn"]):
                turn = _turn(question, section, previous)
                if turn is not None:
                    yield (previous := replace(turn, fold=seed["fold"], language=language))


def read_turns(path: Path) -> list[Turn]:
    """Return the turns of a v0.2 file; raises ScoreError naming it."""
    try:
        sections = read(str(path), read_file(path))
    except LayoutError as error:
        raise ScoreError(str(error)) from None
    seeds = (seed_record(section, "", str(at)) for at, section in enumerate(sections))
    found = list(turns_of(identified(seeds)))
    if not found:
        raise ScoreError(f"{path}: there is no question in it; give a file with dialogs.")
    return found


def _turn(question: QuestionRecord, section: str, previous: Turn | None) -> Turn | None:
    teacher = chosen_vote(question)
    if teacher is None:
        return None
    return Turn(
        qid=question["id"],
        dialog=question["id"].rpartition("_q#")[0],
        number=question["payload"]["turn"],
        question=question["text"],
        section=section,
        teacher=_marked(teacher),
        validators=tuple(_marked(vote) for vote in released_votes(question) if vote is not teacher),
        continuation=CONTINUATION.get(teacher["payload"].get("continuation", ""), ""),
        synthetic=is_simulated(question),
        previous=previous,
    )


def _marked(vote: VoteRecord) -> MarkedAnswer:
    payload = vote["payload"]
    affirmation = AFFIRMATION.get(payload.get("affirmation", ""), "")
    spans = payload.get("spans") or ()
    if vote["type"] != "span" or not spans:
        return MarkedAnswer(CANNOT_ANSWER, None, None, affirmation)
    return MarkedAnswer(spans[0]["text"], spans[0]["start"], spans[0]["end"], affirmation)
