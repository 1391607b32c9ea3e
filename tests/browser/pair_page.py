"""A HIT about pairs of paragraphs under the mouse."""

from typing import Any

from tests.browser.person import Person

QUESTIONS = (
    "What stands in both of these texts, and where does it stand?",
    "Which of the two was known to more people, the first or the second?",
    "Were the first and the second known to the same people?",
)


def words_of(item: dict[str, Any], document: str) -> str:
    """Return the second and the third word of a paragraph."""
    [paragraph] = [one for one in item["paragraphs"] if one["document"] == document]
    return " ".join(paragraph["text"].split()[1:3])


def write(ada: Person, number: int) -> None:
    """Type a question into the open pair, and pick the first sentence of both by mouse."""
    ada.click("#field-text")
    ada.type(QUESTIONS[number])
    ada.click("[data-widget=paragraphs] .document:first-child .sentence:first-child .fact")
    ada.click("[data-widget=paragraphs] .document:last-child .sentence:first-child .fact")
