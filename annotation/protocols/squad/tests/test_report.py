"""The tables count what is kept, and how people who read a question again do."""

from typing import Any

from annotation.protocols.squad import report
from annotation.tables.table import NO_QUESTION
from collector.protocols.loading import get_protocol

PARAMETERS: Any = get_protocol("squad").parameters()
TEXT = "Lit in 1871, the older tower fell in 1880."
LIT, FELL = (7, 11), (37, 41)


def given(who: str, at: tuple[int, int] | None, **more: Any) -> dict[str, Any]:
    """Return somebody's answer: words of the text, or that there is none."""
    spans = [{"start": at[0], "end": at[1], "text": TEXT[slice(*at)]}] if at else []
    payload = {"spans": spans, "plausible": [], "reason": ""}
    kind = "span" if at else "none"
    own = {"worker": who, "type": kind, "payload": payload, "synthetic": False, "agrees": True}
    return {**own, "chosen": who == "ada", **more}


def question(text: str, *votes: dict[str, Any], outcome: str = "kept", **more: Any) -> Any:
    """Return a question by Ada."""
    own = {"text": text, "payload": {}, "worker": "ada", "synthetic": False, "votes": list(votes)}
    return {**own, "verdict": {"outcome": outcome}, **more}


def seed(fold: str, *questions: Any) -> Any:
    """Return the one passage with its questions."""
    return {"fold": fold, "passages": [{"title": "Tower", "text": TEXT}], "questions": questions}


def tables(*seeds: Any) -> dict[str, list[list[Any]]]:
    """Return the rows of every table by its name."""
    return {
        table.name: [list(row) for row in table.rows] for table in report.tables(seeds, PARAMETERS)
    }


def unanswerable(*others: dict[str, Any], **more: Any) -> Any:
    """Return a question of dev that only seems to be answered, with what others say."""
    own = given("ada", None)
    own["payload"]["plausible"] = [{"start": FELL[0], "end": FELL[1], "text": "1880"}]
    return question("When did the light fall?", own, *others, **more)


def test_size_counts_what_is_kept_by_split() -> None:
    lit = question("When was it lit?", given("ada", LIT))
    dropped = question("Why?", given("ada", LIT), outcome="dropped")
    rows = tables(seed("train", lit, dropped), seed("dev", unanswerable()))["size"]
    columns = {name: column for name, *column in rows}
    assert columns["questions"] == [2, 1, 1, 0]
    assert columns["of them not answered by their passage"] == [1, 0, 1, 0]
    assert columns["articles"] == [1, 1, 1, 0]
    assert columns["answers per answered question"] == [1.0, 1.0, None, None]
    assert columns["words per question"] == [4.5, 4.0, 5.0, None]
    assert columns["words per answer"][0] == 1.0


def test_agreement_and_people_are_counted_of_those_who_read_again() -> None:
    lit = question("When was it lit?", given("ada", LIT), given("ida", LIT), given("bea", None))
    looks = unanswerable(given("ida", FELL), given("bea", None))
    found = tables(seed("dev", lit, looks))
    [[split, n, same, kappa, taken_in]] = found["agreement"]
    assert (split, n, same, taken_in) == ("dev", 2, 0.5, 0.5)
    assert round(kappa, 4) == -0.3333
    # Ida finds the first answer, and is taken in by the second question.
    assert found["human_performance"] == [["dev", 2, 0.5, 0.5]]


def test_no_simulated_answer_tells_of_people() -> None:
    robot = given("bot", LIT, synthetic=True)
    asked = question("When was it lit?", given("ada", LIT), robot)
    simulated = {**asked, "synthetic": True}
    imported = {**asked, "votes": [given("ada", LIT, worker=None), given("ida", LIT, worker=None)]}
    found = tables(seed("dev", asked, simulated, imported))
    assert found["agreement"] == found["human_performance"] == []


def test_a_table_without_figures_says_so() -> None:
    size, *_ = report.tables([], PARAMETERS)
    assert size.note == NO_QUESTION


def test_words_of_somebody_who_is_not_released_are_no_reference() -> None:
    alone = given("ida", LIT, agrees=False)
    looks = unanswerable(given("bea", None), given("hedy", None), alone)
    found = tables(seed("dev", looks))["human_performance"]
    # Bea finds no answer, as is released, whatever Ida has marked.
    assert found == [["dev", 1, 1.0, 1.0]]
    lit = question("When was it lit?", given("ada", LIT), given("bea", FELL, agrees=False), alone)
    # Ida says what Bea says, and neither is released.
    alone["payload"]["spans"][0]["text"] = "1880"
    assert tables(seed("dev", lit))["human_performance"] == [["dev", 1, 0.0, 0.0]]
    # The only other answer is the one that is scored.
    chosen = given("bea", FELL, chosen=True)
    changed = question("When?", given("ada", LIT, agrees=False, chosen=False), chosen)
    assert tables(seed("dev", changed))["human_performance"] == [["dev", 0, None, None]]
