"""Reads the official layout as work to be done again."""

from annotation.protocols.iirc import layout
from annotation.protocols.iirc.reading import read_passages
from annotation.protocols.iirc.simulation.worked import Answer, Passage, Question, Quotation

KNOWN_TYPES = ("span", "value", "binary", "none")


def passages_of(name: str, content: bytes) -> tuple[Passage, ...]:
    """Return the passages that have questions; raises LayoutError naming file and question."""
    found = tuple(
        Passage(
            title=passage.title,
            # The official text ends in a newline, which no paragraph of a corpus has.
            text=passage.text.rstrip(),
            links=tuple((link.start, link.end, link.target) for link in passage.links),
            questions=tuple(_question(question, name) for question in passage.questions),
        )
        for passage in read_passages(name, content)
        if passage.questions
    )
    if not found:
        raise layout.LayoutError(f"{name}: there are no questions in it.")
    return found


def _question(question: layout.Question, name: str) -> Question:
    if question.answer.type not in KNOWN_TYPES:
        raise layout.LayoutError(
            f"{name}: question {question.qid} has the answer type {question.answer.type!r}; "
            f"known: {', '.join(KNOWN_TYPES)}."
        )
    evidence = tuple(_quotation(span) for span in question.evidence)
    return Question(
        text=question.text,
        links=question.question_links,
        answer=Answer(
            type=question.answer.type,
            spans=tuple(_quotation(span) for span in question.answer.spans),
            value=question.answer.value,
            unit=question.answer.unit,
            evidence=evidence,
        ),
        context=tuple(
            (span.start, span.end)
            for span in question.evidence
            if span.passage == layout.MAIN and 0 <= span.start < span.end
        ),
    )


def _quotation(span: layout.Span) -> Quotation:
    return Quotation(span.passage, span.text, span.start, span.end)
