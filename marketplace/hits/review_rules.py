"""The two documented review policies: their parameters read, known answers and agreement. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

KNOWN_ANSWERS = "ScoreMyKnownAnswers/2011-09-01"
PLURALITY = "SimplePlurality/2011-09-01"
NAMES = {"Assignment": KNOWN_ANSWERS, "HIT": PLURALITY}
EXTENSION = {"ExtendMaximumAssignments", "ExtendMinimumTimeInSeconds"}
NUMBERS = {
    "Assignment": EXTENSION
    | {
        "ApproveIfKnownAnswerScoreIsAtLeast",
        "RejectIfKnownAnswerScoreIsLessThan",
        "ExtendIfKnownAnswerScoreIsLessThan",
    },
    "HIT": EXTENSION
    | {
        "QuestionAgreementThreshold",
        "DisregardAssignmentIfKnownAnswerScoreIsLessThan",
        "ExtendIfHITAgreementScoreIsLessThan",
        "ApproveIfWorkerAgreementScoreIsAtLeast",
        "RejectIfWorkerAgreementScoreIsLessThan",
    },
}
TEXTS = {"Assignment": {"ApproveReason", "RejectReason"}, "HIT": {"RejectReason"}}
BOUNDS = {"ExtendMinimumTimeInSeconds": (3600, 365 * 24 * 3600)}
MOST = 1_000_000
LONGEST_COMPARED = 256


class PolicyError(ValueError):
    """The policy cannot be applied; the message says what to change."""


def read_policy(level: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a policy by name, numbers as such; raises PolicyError."""
    if given["PolicyName"] != NAMES[level]:
        raise PolicyError(f"The {level}ReviewPolicy has to be {NAMES[level]}.")
    read: dict[str, Any] = {}
    for one in given.get("Parameters", []):
        name = {"QuestionIDs": "QuestionIds"}.get(one.get("Key", ""), one.get("Key", ""))
        if name in read:
            raise PolicyError(f"The parameter {name} is given twice.")
        read[name] = _parameter(level, name, one)
    needed = {"Assignment": {"AnswerKey"}, "HIT": {"QuestionIds", "QuestionAgreementThreshold"}}
    if missing := {name for name in needed[level] if not read.get(name) and read.get(name) != 0}:
        raise PolicyError(f"{NAMES[level]} needs the parameter {min(missing)}.")
    return read


def _parameter(level: str, name: str, given: Mapping[str, Any]) -> Any:
    values = [str(value).strip() for value in given.get("Values", [])]
    if level == "Assignment" and name == "AnswerKey":
        entries = given.get("MapEntries", [])
        return {entry.get("Key", ""): entry.get("Values", []) for entry in entries}
    if level == "HIT" and name == "QuestionIds":
        return [one.strip() for value in values for one in value.split(",") if one.strip()]
    value = values[0] if len(values) == 1 else ""
    if level == "HIT" and name == "DisregardAssignmentIfRejected":
        if value.lower() not in ("t", "true", "f", "false"):
            raise PolicyError(f"{name} is T or F.")
        return value.lower().startswith("t")
    if name in TEXTS[level]:
        return value[:1024]
    if name not in NUMBERS[level]:
        raise PolicyError(f"{NAMES[level]} has no parameter {name}.")
    least, most = BOUNDS.get(name, (0, MOST))
    if not (value.isascii() and value.isdigit() and len(value) < 10):
        raise PolicyError(f"{name} has to be one whole number.")
    if not least <= int(value) <= most:
        raise PolicyError(f"{name} has to be from {least} to {most}.")
    return int(value)


def known_answers(
    key: Mapping[str, Iterable[str]], answers: Mapping[str, str]
) -> tuple[dict[str, bool], int]:
    """Return for each question of the key whether its answer is right, and the score in percent.

    Of several values all have to be there and no others; case and punctuation count.
    """
    right = {
        name: _values(answers.get(name, "")) == frozenset(value.strip() for value in values)
        for name, values in key.items()
    }
    return right, 100 * sum(right.values()) // len(right)


def _values(answer: str) -> frozenset[str]:
    """Return the values of an answer, which come in joined by bars."""
    return frozenset(value.strip() for value in answer.split("|") if value.strip())


@dataclass(frozen=True)
class Agreement:
    """What several workers' answers have in common; all scores are percentages."""

    # Of questions with an agreed answer: that answer, and how many gave it.
    agreed: dict[str, str] = field(default_factory=dict)
    levels: dict[str, int] = field(default_factory=dict)
    # Whether each assignment agrees, by its id and question; and how far, where anything is agreed.
    agreeing: dict[str, dict[str, bool]] = field(default_factory=dict)
    worker_scores: dict[str, int] = field(default_factory=dict)
    hit_score: int = 0


def agreement(
    questions: Iterable[str], threshold: int, answers: Mapping[str, Mapping[str, str]]
) -> Agreement:
    """Return how far answers, by assignment and question, agree.

    An answer is agreed upon when more than `threshold` percent gave it, or all, and no other one
    as often. Those longer than 256 characters are left out.
    """
    names = list(dict.fromkeys(questions))
    agreed, levels = {}, {}
    for name in names:
        given = [one[name].strip() for one in answers.values() if one.get(name, "").strip()]
        counts = Counter(_values(one) for one in given if len(one) <= LONGEST_COMPARED)
        ranked = counts.most_common(2)
        if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
            continue
        values, n_same = ranked[0]
        if 100 * n_same > threshold * len(answers) or n_same == len(answers):
            agreed[name] = "|".join(sorted(values))
            levels[name] = 100 * n_same // len(answers)
    agreeing = {
        key: {name: _values(one.get(name, "")) == _values(agreed[name]) for name in agreed}
        for key, one in answers.items()
    }
    scores = {key: 100 * sum(one.values()) // len(one) for key, one in agreeing.items() if one}
    return Agreement(agreed, levels, agreeing, scores, 100 * len(agreed) // len(names))
