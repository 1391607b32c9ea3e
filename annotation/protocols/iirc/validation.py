"""Decides whether a question is kept: compares the answers and their units of measurement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from annotation.agreement.decision import Decision, Outcome, largest_group
from annotation.metrics.drop import answer_strings, exact_match
from annotation.metrics.token_overlap import answer_tokens
from annotation.protocols.iirc.official_files import drop_answer

if TYPE_CHECKING:
    from annotation.protocols.iirc.parameters import Parameters


# Other names of whole units, looked up before punctuation is dropped: signs would be lost.
WHOLE = {
    "%": "percent",
    "per cent": "percent",
    "°": "degree",
    "°c": "degree celsius",
    "°f": "degree fahrenheit",
    "percentage": "percent",
    "$": "dollar",
    "us$": "dollar",
    "usd": "dollar",
    "us dollar": "dollar",
    "us dollars": "dollar",
    "u.s. dollar": "dollar",
    "u.s. dollars": "dollar",
    "£": "pound",
    "€": "euro",
    "km/h": "kilometer per hour",
    "kph": "kilometer per hour",
    "mph": "mile per hour",
    "mi/h": "mile per hour",
    "m/s": "meter per second",
    "years old": "year",
    "year old": "year",
    "years of age": "year",
}
# Other names of one word of a unit; a regular plural is looked up in the singular too.
WORDS = {
    "centimetre": "centimeter",
    "cm": "centimeter",
    "kilometre": "kilometer",
    "km": "kilometer",
    "m": "meter",
    "metre": "meter",
    "mi": "mile",
    "millimetre": "millimeter",
    "mm": "millimeter",
    "feet": "foot",
    "ft": "foot",
    "in": "inch",
    "yd": "yard",
    "ac": "acre",
    "ha": "hectare",
    "sq": "square",
    "g": "gram",
    "kg": "kilogram",
    "mg": "milligram",
    "lb": "pound",
    "oz": "ounce",
    "tonne": "ton",
    "l": "liter",
    "litre": "liter",
    "gal": "gallon",
    "h": "hour",
    "hr": "hour",
    "min": "minute",
    "sec": "second",
    "mo": "month",
    "mth": "month",
    "wk": "week",
    "yr": "year",
    "people": "person",
    "men": "man",
    "women": "woman",
    "children": "child",
}
POWERS = {"²": "square ", "2": "square ", "³": "cubic ", "3": "cubic "}
# Endings of words whose final s is not a plural, and of plurals that add "es".
NO_PLURAL = ("ss", "us", "is")
ADDS_ES = ("ches", "shes", "sses", "xes", "zes")


def same_unit(one: str, other: str) -> bool:
    """Return whether the units are the same; a blank unit agrees with every unit."""
    left, right = normalised(one), normalised(other)
    return not left or not right or left == right


@lru_cache(maxsize=4096)
def normalised(unit: str) -> str:
    """Return the unit written out, each word in the singular; blank for a blank unit."""
    text = " ".join(unit.lower().replace("-", " ").split())
    if text in WHOLE:
        return WHOLE[text]
    if text[-1:] in POWERS and text[:-1].rstrip("^") in WORDS:
        text = POWERS[text[-1]] + text[:-1].rstrip("^")
    return " ".join(_word(word) for word in answer_tokens(text))


def _word(word: str) -> str:
    one = _singular(word)
    return WORDS.get(word) or WORDS.get(one, one)


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(ADDS_ES):
        return word[:-2]
    # Two letters are a symbol: "ms" is not the plural of "m".
    if len(word) > 2 and word.endswith("s") and not word.endswith(NO_PLURAL):
        return word[:-1]
    return word


@dataclass(frozen=True)
class Vote:
    """One annotator's answer.

    type: span, value, binary, none or bad; spans: the texts of a span answer; value, unit: the
    number and its unit as typed; yes_no: "yes" or "no" of a binary answer.
    """

    type: str
    spans: tuple[str, ...] = ()
    value: str = ""
    unit: str = ""
    yes_no: str = ""

    @classmethod
    def of(cls, vote: "Vote | Mapping[str, object]") -> "Vote":
        """Return `vote` as a Vote; a mapping may have any of the fields by name."""
        if isinstance(vote, Vote):
            return vote
        given: Any = {
            key: vote[key] for key in cls.__dataclass_fields__ if vote.get(key) is not None
        }
        return cls(**{**given, "spans": tuple(given.get("spans", ()))})

    def strings(self) -> tuple[str, ...]:
        """Return the answer as the official scorer sees it.

        Raises ValueError for a bad question, LayoutError for an unknown type.
        """
        answer = drop_answer(
            {
                "type": self.type,
                "answer_spans": [{"text": span} for span in self.spans],
                "answer_value": self.yes_no if self.type == "binary" else self.value,
            }
        )
        if answer is None:
            raise ValueError("A bad question has no answer: leave such votes out first.")
        return answer_strings(answer)[0]


def verdict(
    votes: Sequence[Vote | Mapping[str, object]], parameters: "Parameters", fold: str
) -> Decision:
    """Return whether a question is kept, and which vote is released.

    votes: one per annotator, in submission order. parameters: it uses answer.redundancy.<fold>,
    agreement.min_agreeing and agreement.max_bad. If a question has more votes than its fold asks
    for, all of them count. A single vote agrees with itself, and a single *bad* vote drops the
    question (IIRC 2.3; the rule for bad votes is ours).
    """
    redundancy = getattr(parameters.answer.redundancy, fold)
    if len(votes) < redundancy:
        return _waiting(len(votes), redundancy)
    cast = [Vote.of(vote) for vote in votes]
    answered = [index for index, vote in enumerate(cast) if vote.type != "bad"]
    n_bad = len(cast) - len(answered)
    if n_bad > min(parameters.agreement.max_bad, len(cast) - 1):
        return _bad(n_bad, len(cast))
    same = largest_group([cast[index] for index in answered], agree)
    agreeing = tuple(answered[index] for index in same)
    if len(agreeing) < min(parameters.agreement.min_agreeing, len(cast)):
        return _disagreement(n_bad, len(cast))
    return _agreed(agreeing, len(cast))


def agree(one: Vote, other: Vote) -> bool:
    """Return whether two answers are the same: type, official exact match, unit of a value.

    A blank unit agrees with every unit, so agreement is not transitive: "3" agrees with "3 km" and
    with "3 miles", which differ.
    """
    if one.type != other.type:
        return False
    if one.type == "value" and not same_unit(one.unit, other.unit):
        return False
    return exact_match(one.strings(), other.strings()) == 1.0


def _waiting(n_votes: int, redundancy: int) -> Decision:
    """Return the verdict on a question that still waits for votes."""
    sentence = f"{n_votes} of {redundancy} annotators have answered so far."
    return Decision(Outcome.WAITING, "waiting_for_votes", sentence)


def _bad(n_bad: int, n_votes: int) -> Decision:
    """Return the verdict on a question that too many annotators called bad."""
    sentence = f"{n_bad} of {n_votes} annotators marked the question as bad."
    return Decision(Outcome.DROPPED, "marked_bad", sentence)


def _disagreement(n_bad: int, n_votes: int) -> Decision:
    """Return the verdict on a question without enough equal answers."""
    if n_bad:
        sentence = (
            f"{n_bad} of {n_votes} annotators marked the question as bad, "
            "and the others did not agree on an answer."
        )
        return Decision(Outcome.DROPPED, "no_agreement_beside_bad", sentence)
    sentence = f"The {n_votes} annotators did not agree on an answer."
    return Decision(Outcome.DROPPED, "no_agreement", sentence)


def _agreed(agreeing: tuple[int, ...], n_votes: int) -> Decision:
    """Return the verdict that releases the first submitted of the agreeing answers."""
    if n_votes == 1:
        sentence = "The only annotator asked answered it."
        return Decision(Outcome.KEPT, "single_annotator", sentence, agreeing[0], agreeing)
    sentence = (
        f"{len(agreeing)} of {n_votes} annotators gave the same answer; "
        "the one submitted first is released."
    )
    return Decision(Outcome.KEPT, "agreed", sentence, agreeing[0], agreeing)


def vote(type: str, payload: Mapping[str, object]) -> Vote:
    """Return a stored answer as a vote."""
    spans: Any = payload.get("spans") or ()
    typed = {name: str(payload.get(name) or "") for name in ("value", "unit", "yes_no")}
    return Vote(type=type, spans=tuple(span["text"] for span in spans), **typed)
