"""Links picked in a passage, by the titles they lead to."""

from collections.abc import Collection

from tasks.work.widgets.problems import Problem


def clean(
    raw: object, titles: Collection[str], *, field: str = "links"
) -> tuple[list[str], list[Problem]]:
    """Return the picked titles, each once, in the order of picking, and what is wrong.

    titles: where the passage's links lead.
    """
    if raw is None:
        return [], []
    if not isinstance(raw, list):
        return [], [Problem("The links could not be read: pick them again.", field=field)]
    picked = [title for title in raw if isinstance(title, str) and title in titles]
    problems = []
    if len(picked) < len(raw):
        sentence = "A picked link is not in this paragraph: drop it and pick another."
        problems.append(Problem(sentence, field=field))
    return list(dict.fromkeys(picked)), problems
