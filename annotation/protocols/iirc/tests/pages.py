"""Pages of random texts, as workers get them."""

import random
from typing import Any

from hypothesis import strategies as st

LIMITS = {
    "questions": 10,
    "multi_link_questions": 2,
    "multi_link_min_links": 2,
    "max_question_characters": 400,
}
ALPHABETS = ("abcdefg ABC 1987 .,;()", "äöüßéè 漢字 ｶﾞ أب.،", "x\U0001f600 e\u0301 .\n'’“”-–")
STORY = (
    "Ada Byrne (3 May 1811 – 4 June 1880) was an engineer from Hollin. Born at Garrow in 1811, "
    "she built the Long Bridge in 1844. It is 212 metres long and was designed by Grace Holt."
)

QUESTIONS = (
    "In what year was Ada Byrne born?",
    "Which is older, Ada Byrne or Hollin?",
    "How many years lie between the beginnings of Ada Byrne and Hollin?",
    "Do Ada Byrne and Hollin date from the same century?",
    "How old was Ada Byrne in 1844?",
    "How long or how high is Hollin?",
    "how many inhabitants does Hollin have",
    "Where was she born?",
    "漢字 x?",
)


@st.composite
def texts(draw: st.DrawFn, least: int = 8) -> str:
    """Return words of several scripts, sometimes ones in which facts can be found."""
    if draw(st.booleans()):
        return STORY
    alphabet = draw(st.sampled_from(ALPHABETS))
    text = draw(st.text(st.sampled_from(alphabet), min_size=least, max_size=120))
    return text if text.strip() else f"{text}x1"


@st.composite
def passages(draw: st.DrawFn, number: str, least_links: int = 0) -> dict[str, Any]:
    """Return a paragraph as a page has it; sentences may leave out parts of it."""
    text = draw(texts(least=12))
    ends = sorted(draw(st.sets(st.integers(1, len(text)), max_size=4)) | {len(text)})
    starts = [0, *ends[:-1]]
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), min_size=2 * least_links, max_size=12)))
    links = [
        {"start": start, "end": end, "title": draw(st.sampled_from(("Garrow", "Long Bridge", "9")))}
        for start, end in zip(cuts[::2], cuts[1::2], strict=False)
    ]
    for title, link in zip(("Ada Byrne", "Hollin"), links[:least_links], strict=False):
        link["title"] = title
    sentences = [list(pair) for pair in zip(starts, ends, strict=True)]
    return {
        "id": number,
        "title": draw(st.sampled_from(("Hollin", "A" * 300, "ｶﾞ (band)"))),
        "section": "",
        "text": text,
        "links": links,
        "sentences": draw(st.sampled_from((sentences, []))),
    }


@st.composite
def question_pages(draw: st.DrawFn) -> dict[str, Any]:
    """Return a question page on which the work can be done at all."""
    first = draw(passages("0", least_links=3))
    # Spans of white space alone are no links anybody could see.
    first["text"] = "".join("x" if letter.isspace() else letter for letter in first["text"])
    others = [draw(passages(str(number))) for number in range(1, draw(st.integers(1, 3)))]
    return {"kind": "question", "limits": LIMITS, "items": [first, *others]}


@st.composite
def answer_pages(draw: st.DrawFn) -> dict[str, Any]:
    """Return an answer page on questions that anybody may have written."""
    items = []
    for number in range(draw(st.integers(1, 4))):
        passage = draw(passages(str(number), least_links=2))
        titles = sorted({link["title"] for link in passage["links"]})
        question = draw(st.sampled_from(QUESTIONS))
        items.append(
            {
                "id": str(number),
                "question": question,
                "passage": passage,
                "writer_context": [{"document": "main", "start": 0, "end": 5, "text": ""}]
                if passage["text"][:5].strip()
                else [],
                "writer_links": titles[: draw(st.integers(0, 3))],
            }
        )
    return {"kind": "answer", "limits": {"questions": len(items)}, "items": items}


@st.composite
def opened_articles(draw: st.DrawFn) -> dict[str, dict[str, Any]]:
    """Return articles by title as the page gets them; some are missing."""
    found = {}
    for title in ("Ada Byrne", "Hollin", "Garrow", "Long Bridge"):
        if draw(st.booleans()):
            text = draw(texts())
            middle = draw(st.integers(0, len(text)))
            sentences = [[0, middle], [middle, len(text)]]
            paragraph = {"start": 0, "text": text, "kind": "paragraph", "sentences": sentences}
            section = {"heading": "", "level": 0, "paragraphs": [paragraph]}
            found[title] = {"title": title, "sections": [section]}
    return found


def seeded(number: int) -> random.Random:
    """Return a worker's own source of choices."""
    return random.Random(number)
