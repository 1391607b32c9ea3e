"""What a worker answered, in one line of words."""

from tasks.models import Answer, Question

# The type of an answer in free words; the words stand in its fields.
WORDS = "words"
TYPES = {
    "span": "Words from a text",
    "value": "Number",
    "binary": "Yes or no",
    "none": "No answer",
    "answer": "An answer with evidence",
    "bad": "Bad question",
    WORDS: "In free words",
}


def type_words(name: str) -> str:
    """Return what to call a type of answer."""
    return TYPES.get(name, name.replace("_", " ").capitalize())


def written_beside(question: Question) -> list[tuple[str, str]]:
    """Return what the question's writer filled in beside it, by the name of the field."""
    given = (question.payload.get("fields") or {}).items()
    return [(name.replace("_", " ").capitalize(), str(words)) for name, words in given if words]


def answer_text(answer: Answer) -> str:
    """Return the answer in one line."""
    payload = answer.payload
    if answer.type == "span":
        return "; ".join(span["text"] for span in payload.get("spans") or ())
    if answer.type == "value":
        return f"{payload.get('value', '')} {payload.get('unit') or ''}".strip()
    if answer.type == "binary":
        return str(payload.get("yes_no") or "").capitalize()
    if answer.type == "none" and payload.get("plausible"):
        words = "; ".join(span["text"] for span in payload["plausible"])
        return f"None, though it looks like “{words}”"
    if answer.type == "answer":
        return " – ".join(words for name in ("short", "full") if (words := payload.get(name)))
    if answer.type == "bad":
        return str(payload.get("reason") or "")
    given = {name: value for name, value in (payload.get("fields") or {}).items() if value}
    if answer.type == WORDS and len(given) == 1:
        # They are the answer itself, not something beside it.
        return str(*given.values())
    return "; ".join(f"{name.replace('_', ' ')}: {value}" for name, value in given.items())
