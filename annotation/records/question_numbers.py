"""Numbers questions that are the same in all that their released ids follow from."""

from annotation.records.schema import QuestionRecord


def number(
    question: QuestionRecord, content: str, taken: set[tuple[str, int]], *, of_seed: bool
) -> int:
    """Return the number of a question among those of equal content, and add it to `taken`.

    It is how many were handed in before it, so that no verdict, no later question and nobody who
    withdraws changes it. content: all else that the id follows from. of_seed: whether that tells
    the seed, so that questions about others do not count. Of a record that is of no row, and where
    two seeds are the same, it is the first that is free.
    """
    about_seed, about_any = question.get("asked_before", (0, 0))
    found = about_seed if of_seed else about_any
    while (content, found) in taken:
        found += 1
    taken.add((content, found))
    return found
