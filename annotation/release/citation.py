"""How a dataset is cited: an entry for BibTeX, and what else names it."""

from annotation.models import About
from annotation.release.facts import Facts
from annotation.release.statements import authors_of
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


def citation(facts: Facts) -> str:
    """Return the entry for BibTeX; without authors the requester's name stands for them."""
    collection = facts.collection
    name = collection.requester_name.translate(ESCAPES)
    who = " and ".join(author.translate(ESCAPES) for author in authors_of(facts.said))
    fields = {
        "title": "{" + collection.title.translate(ESCAPES) + "}",
        "author": who or ("{" + name + "}" if name else ""),
        "year": f"{facts.dates.published:%Y}",
        "note": _note(collection).translate(ESCAPES),
        "url": facts.said.get(About.PAGE, ""),
    }
    lines = [f"  {field} = {{{value}}}" for field, value in fields.items() if value]
    return f"@misc{{{collection.slug},\n" + ",\n".join(lines) + "\n}"


def _note(collection: Collection) -> str:
    """Return what the dataset is of, in half a sentence."""
    return (
        f"Questions and answers about {collection.corpus.name}, collected with the protocol "
        f"{collection.protocol}, version {collection.protocol_version}"
    )
