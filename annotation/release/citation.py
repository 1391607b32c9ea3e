"""How a dataset is cited: an entry for BibTeX, and what else names it."""

from collections.abc import Sequence
from datetime import date

from collector.models import Collection

# What BibTeX or LaTeX would read as more than a character.
SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
ESCAPES = str.maketrans(SPECIAL)


def bibtex(
    collection: Collection, published: date, authors: Sequence[str] = (), url: str = ""
) -> str:
    """Return the entry; without authors the requester's name stands for them."""
    name = collection.requester_name.translate(ESCAPES)
    who = " and ".join(author.translate(ESCAPES) for author in authors)
    fields = {
        "title": "{" + collection.title.translate(ESCAPES) + "}",
        "author": who or ("{" + name + "}" if name else ""),
        "year": f"{published:%Y}",
        "note": note(collection).translate(ESCAPES),
        "url": url,
    }
    lines = [f"  {field} = {{{value}}}" for field, value in fields.items() if value]
    return f"@misc{{{collection.slug},\n" + ",\n".join(lines) + "\n}"


def note(collection: Collection) -> str:
    """Return what the dataset is of, in half a sentence."""
    return (
        f"Questions and answers about {collection.corpus.name}, collected with the protocol "
        f"{collection.protocol}, version {collection.protocol_version}"
    )
