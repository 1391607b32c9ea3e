"""What a worker answered, in one line of words."""

from tasks.models import Answer

TYPES = {
    "span": "Words from a text",
    "value": "Number",
    "binary": "Yes or no",
    "none": "No answer",
    "bad": "Bad question",
}


def type_words(name: str) -> str:
    """Return what to call a type of answer."""
    return TYPES.get(name, name.replace("_", " ").capitalize())


def answer_text(answer: Answer) -> str:
    """Return the answer in one line."""
    payload = answer.payload
    if answer.type == "span":
        return "; ".join(span["text"] for span in payload.get("spans") or ())
    if answer.type == "value":
        return f"{payload.get('value', '')} {payload.get('unit') or ''}".strip()
    if answer.type == "binary":
        return str(payload.get("yes_no") or "").capitalize()
    if answer.type == "bad":
        return str(payload.get("reason") or "")
    given = (payload.get("fields") or {}).items()
    return "; ".join(f"{name.replace('_', ' ')}: {value}" for name, value in given if value)
