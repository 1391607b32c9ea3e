"""Books that tests make, as Project Gutenberg wraps and NarrativeQA lists them."""

import csv
from pathlib import Path

WORDS = (
    "The miller's daughter crossed the ford at dusk, and nobody in the village saw her go. "
    "She carried a lantern, two loaves and the letter that her brother had never answered."
)


def story(n_sentences: int = 40, first: str = "") -> str:
    """Return running text that never says the same twice, in paragraphs of two sentences."""
    paragraphs = [f"{WORDS} It was day {number}." for number in range(n_sentences // 2)]
    return "\n\n".join([first, *paragraphs] if first else paragraphs)


def gutenberg(
    text: str, number: int = 7, title: str = "The Ford", language: str = "English"
) -> str:
    """Return a file of Project Gutenberg around a text."""
    return (
        f"The Project Gutenberg EBook of {title}, by Ada Mill\n\nThis eBook is for the use of "
        f"anyone anywhere at no cost\n\n\nTitle: {title}\n\nAuthor: Ada Mill\n\n"
        f"Release Date: May 3, 2001 [EBook #{number}]\n\nLanguage: {language}\n\n"
        f"*** START OF THIS PROJECT GUTENBERG EBOOK {title.upper()} ***\n\n\n\n"
        f"Produced by Grace Miller\n\n\n\n{text}\n\n\n\n"
        f"End of the Project Gutenberg EBook of {title}, by Ada Mill\n\n"
        f"*** END OF THIS PROJECT GUTENBERG EBOOK {title.upper()} ***\n\n"
        "*** START: FULL LICENSE ***\n\nTHE FULL PROJECT GUTENBERG LICENSE\n"
    )


def write(path: Path, text: str, encoding: str = "utf-8") -> Path:
    """Write a file and return its path."""
    path.write_bytes(text.encode(encoding))
    return path


def table(path: Path, *rows: dict[str, str]) -> Path:
    """Write rows as a CSV whose columns are the first row's."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def document(name: str, **more: str) -> dict[str, str]:
    """Return a row of documents.csv."""
    row = {
        "document_id": name,
        "set": "valid",
        "kind": "gutenberg",
        "story_url": "http://www.gutenberg.org/ebooks/7.txt.utf-8",
        "story_file_size": "1",
        "wiki_url": "",
        "wiki_title": "The Ford",
        "story_word_count": "1",
        "story_start": "Produced by Grace",
        "story_end": "new eBooks .",
    }
    return row | more


def pair(name: str, question: str = "Who crossed the ford?") -> dict[str, str]:
    """Return a row of qaps.csv."""
    return {
        "document_id": name,
        "set": "valid",
        "question": question,
        "answer1": "The miller's daughter.",
        "answer2": "a girl",
    }
