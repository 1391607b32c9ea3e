"""A brief answer from what is read: words of a paragraph, or one of a few choices beside them."""

from collections.abc import Mapping, Sequence
from typing import Any

from tasks.work.widgets import choice, spans
from tasks.work.widgets.problems import Problem

# What a form of question is answered with.
FORMS = {
    "any": ("span", "yes", "no"),
    "span": ("span",),
    "yes_no": ("yes", "no"),
    "span_or_none": ("span", "none", "bad"),
}
REQUESTS = {
    "any": "Mark the answer in a paragraph, or choose yes or no.",
    "span": "Mark the answer in a paragraph.",
    "yes_no": "Choose yes or no.",
    "span_or_none": "Mark the answer, or say that the passage does not have it.",
}


def clean(
    raw: object,
    paragraphs: Sequence[Mapping[str, Any]],
    *,
    form: str,
    most_words: int,
    whole_words: bool = False,
) -> tuple[dict[str, Any], list[Problem]]:
    """Return {"type", "spans"} and what is wrong; nothing answered yet is the type None.

    paragraphs: each with "document", "text" and "tokens" (start, end, whether it is a word). A
    span begins and ends where a token does, with `whole_words` where a word does: that is not
    asked where official answers, which cut words now and then, are given again. form: a name of
    FORMS.
    """
    entry = raw if isinstance(raw, dict) else {}
    kind, problems = choice.clean(
        entry.get("type"), FORMS[form], field="answer", request=REQUESTS[form]
    )
    marked: list[dict[str, Any]] = []
    if kind == "span":
        texts = {paragraph["document"]: paragraph["text"] for paragraph in paragraphs}
        marked, found = spans.clean(entry.get("spans"), texts.get, field="answer", most=1)
        tokens = {paragraph["document"]: paragraph["tokens"] for paragraph in paragraphs}
        for span in marked:
            here = tokens[span["document"]]
            wrong = spans.unfit([span], here, most_words, field="answer")
            if whole_words and not wrong:
                wrong = spans.partial(span, texts[span["document"]], here, field="answer")
            found += wrong
        problems += found
        kind = kind if marked else None
    return {"type": kind, "spans": marked}, problems
