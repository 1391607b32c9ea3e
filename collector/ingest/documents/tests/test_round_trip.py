"""Every word of a file is stored, or was left out by a rule that has counted it."""

from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from collector.ingest.documents.files import DocumentFile
from collector.ingest.documents.reading import FoundDocument, read_files
from collector.ingest.documents.tests import making
from collector.ingest.documents.tests.making import GERMAN, prose, write
from collector.ingest.documents.tests.round_trip import Trip, trips

PLAIN = "\n\n".join(
    [
        "The Lighthouse",
        f"See [1] and 3 m². {prose(3)}",
        "year   keeper\n1871   Ada",
        "- one\n- two",
        "-----",
        "* three",
        "-----",
        "[1] A note.",
    ]
)
MARKDOWN = f"""---
title: Quarn
---
# The Lighthouse

[The *Tower*](../tower.md "a tower")s[^1] {prose(3)}

1. one
2. two

|year|keeper|
|-|-|
|1871|Ada|

## Nothing

## End

```python
print(1871)
```

[^1]: A note.
"""
PAGE = f"""<title>Quarn: The Lighthouse</title><body><form><header>Our site</header><nav>Home</nav>
<h1>The <i>Light</i>house</h1><a href=b><p>{prose(3)}</p></a>Text <sup><a href=#n>[1]</a></sup>
<table><tr><td>1871<td>Ada</table><figure>A picture</figure><label>Search</label><p hidden>Unseen.
<h2><button>Who lived there</button></h2><p>{GERMAN}<p class=footnotes>A note.
<footer>Imprint</footer>
"""


def taken(path: Path) -> list[Trip]:
    (read,) = read_files([DocumentFile(path.name, path)], 1, {})
    found = [each for each in read if isinstance(each, FoundDocument)]
    assert len(found) == len(read)
    return trips(path, found)


def pdf(path: Path) -> Path:
    story = [
        ("Title", "The Lighthouse"),
        ("BodyText", prose(9)),
        ("table", "year|keeper\n1871|Ada"),
    ]
    more = [("page", ""), ("BodyText", GERMAN)]
    return making.pdf(path, [*story, *more], head="Annals of Quarn", note="1 A note, set small.")


def docx(path: Path) -> Path:
    hidden = "<w:r><w:rPr><w:vanish/></w:rPr><w:t>Unseen.</w:t></w:r>"
    box = "<w:txbxContent><w:p><w:r><w:t>In a box.</w:t></w:r></w:p></w:txbxContent>"
    drawn = f"<mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback>"
    return making.docx_of(
        path,
        f"<w:sdt><w:sdtContent><w:p><w:r><w:t>{prose(3)}</w:t></w:r>{hidden}<w:r>"
        f"<mc:AlternateContent>{drawn}</mc:AlternateContent></w:r></w:p></w:sdtContent></w:sdt>"
        "<w:p><w:moveFrom><w:r><w:t>Moved.</w:t></w:r></w:moveFrom><w:moveTo><w:r><w:t>Moved."
        "</w:t></w:r></w:moveTo></w:p><w:tbl><w:tr><w:tc><w:p><w:r><w:t>1871</w:t></w:r></w:p></w:tc>"
        "</w:tr></w:tbl>",
    )


@pytest.mark.parametrize(
    ("name", "make", "rules"),
    [
        ("a.txt", lambda to: write(to, PLAIN), {"marks of items", "notes", "tables"}),
        (
            *("a.md", lambda to: write(to, MARKDOWN)),
            {"a head in YAML", "headings without text", "notes", "tables"},
        ),
        (
            *("a.html", lambda to: write(to, PAGE)),
            {"forms", "hidden text", "notes", "parts of the site", "pictures", "tables"},
        ),
        ("a.pdf", pdf, {"notes", "running heads", "tables"}),
        ("a.docx", docx, {"hidden text", "tables"}),
        (
            *("a.jsonl", lambda to: write(to, orjson.dumps({"id": 1, "text": PLAIN}))),
            {"marks of items", "notes", "tables"},
        ),
        (
            *("a.csv", lambda to: write(to, f'id,text\n1,"{PLAIN}"\n2,"{prose(2)}"\n')),
            {"marks of items", "notes", "tables"},
        ),
    ],
)
def test_what_is_not_stored_of_a_file_was_counted_by_a_rule(
    tmp_path: Path, name: str, make: Callable[[Path], Path], rules: set[str]
) -> None:
    first, *_ = made = taken(make(tmp_path / name))
    assert {rule for rule, number in first.left_out.items() if number} == rules
    for each in made:
        assert each.unexplained == 0, each.lost
        assert not each.added


@pytest.mark.data
def test_real_books_and_pages_are_stored_but_for_what_was_counted(
    tmp_path: Path, data: Path
) -> None:
    lines = (data / "wiki/html/wme_articles.ndjson").read_text("utf-8").splitlines()
    pages = [
        write(tmp_path / f"{number}.html", orjson.loads(line)["article_body"]["html"])
        for number, line in enumerate(lines)
    ]
    for path in [*pages, *sorted((data / "books").glob("*.txt"))]:
        (made,) = taken(path)
        assert made.unexplained < 0.001, (path.name, made.lost)
        assert not made.added, path.name
