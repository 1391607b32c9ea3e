"""Scores a qualification test by its AnswerKey, as the key says."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from marketplace.hits.questions.answers import GivenAnswer
from marketplace.hits.questions.xml_tree import SCHEMAS, Node, XMLError, read_xml

NAMESPACE = SCHEMAS + "2005-10-01/AnswerKey.xsd"
MOST = 2**31 - 1


class AnswerKeyError(ValueError):
    """The key cannot be used; the message says what to change."""


@dataclass(frozen=True)
class KeyedQuestion:
    """The score of each set of selections, and of everything else."""

    scores: dict[frozenset[str], int]
    default: int


@dataclass(frozen=True)
class AnswerKey:
    """Scores by question, and how their sum becomes the qualification's value."""

    questions: dict[str, KeyedQuestion]
    value_of: Callable[[int], int]


def score(given: Iterable[GivenAnswer], key: AnswerKey) -> int:
    """Return the qualification's value for these answers."""
    chosen = {one.identifier: frozenset(one.selections) for one in given}
    total = sum(
        question.scores.get(chosen.get(identifier, frozenset()), question.default)
        for identifier, question in key.questions.items()
    )
    return max(-MOST, min(MOST, key.value_of(total)))


def read_key(xml: str) -> AnswerKey:
    """Return the key; raises AnswerKeyError."""
    try:
        root = read_xml(xml, "AnswerKey")
        if (root.namespace, root.name) != (NAMESPACE, "AnswerKey"):
            raise AnswerKeyError(f'Begin the AnswerKey with <AnswerKey xmlns="{NAMESPACE}">.')
        questions = {
            one.text_of("QuestionIdentifier"): _question(one) for one in root.all("Question")
        }
        if not questions or "" in questions:
            raise AnswerKeyError("Each Question of the AnswerKey needs a QuestionIdentifier.")
        mapping = root.first("QualificationValueMapping")
        return AnswerKey(questions, _mapping(mapping) if mapping else lambda total: total)
    except XMLError as error:
        raise AnswerKeyError(str(error)) from None


def _question(node: Node) -> KeyedQuestion:
    scores = {}
    for option in node.all("AnswerOption"):
        chosen = frozenset(one.text.strip() for one in option.all("SelectionIdentifier"))
        scores[chosen] = _whole(option, "AnswerScore")
    return KeyedQuestion(scores, _whole(node, "DefaultScore", 0))


def _mapping(node: Node) -> Callable[[int], int]:
    if percentage := node.first("PercentageMapping"):
        most = _whole(percentage, "MaximumSummedScore")
        if most < 1:
            raise AnswerKeyError("MaximumSummedScore has to be 1 or more.")
        return lambda total: 100 * total // most
    if scale := node.first("ScaleMapping"):
        factor = _number(scale, "SummedScoreMultiplier")
        return lambda total: int(total * factor)
    if ranges := node.first("RangeMapping"):
        return _ranges(ranges)
    raise AnswerKeyError(
        "QualificationValueMapping holds PercentageMapping, ScaleMapping or RangeMapping."
    )


def _ranges(node: Node) -> Callable[[int], int]:
    found = [
        (
            _whole(one, "InclusiveLowerBound"),
            _whole(one, "InclusiveUpperBound"),
            _whole(one, "QualificationValue"),
        )
        for one in node.all("SummedScoreRange")
    ]
    outside = _whole(node, "OutOfRangeQualificationValue")

    def value_of(total: int) -> int:
        return next((value for low, high, value in found if low <= total <= high), outside)

    return value_of


def _whole(node: Node, name: str, default: int | None = None) -> int:
    if default is not None and node.first(name) is None:
        return default
    number = _number(node, name)
    if number != int(number):
        raise AnswerKeyError(f"{name} in {node.name} has to be a whole number.")
    return int(number)


def _number(node: Node, name: str) -> float:
    try:
        number = float(node.text_of(name))
    except ValueError:
        raise AnswerKeyError(f"{node.name} needs {name}, a number.") from None
    if not abs(number) <= MOST:
        raise AnswerKeyError(f"{name} in {node.name} is too large.")
    return number
