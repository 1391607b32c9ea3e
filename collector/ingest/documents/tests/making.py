"""Documents that tests make, in every format that is read."""

import zipfile
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

SENTENCES = (
    "The lighthouse of Quarn was built in 1871 by Ada Mill and her two brothers.",
    "It stands on a rock that is cut off from the shore at every high tide.",
    "Keepers were relieved each fortnight, and paid by the parish until 1930.",
    "Nobody has lived there since the lamp was made to light itself.",
)
GERMAN = (
    "Der Leuchtturm wurde vor vielen Jahren von einer Müllerin und ihren Brüdern gebaut. "
    "Er steht auf einem Felsen, der bei jeder Flut vom Ufer abgeschnitten wird. "
    "Die Wärter wurden alle vierzehn Tage abgelöst und von der Gemeinde bezahlt. "
    "Seitdem die Lampe von selbst leuchtet, hat dort niemand mehr gewohnt. "
    "Im Sommer kommen viele Besucher mit kleinen Booten, um die Aussicht zu genießen."
)
ARABIC = (
    "المنارة بناها أخوان قبل سنوات طويلة على صخرة عالية قرب الشاطئ. "
    "تنقطع الصخرة عن اليابسة كلما ارتفع المد في البحر. "
    "كان الحراس يتبدلون كل أسبوعين وتدفع لهم القرية أجورهم. "
    "لم يسكن فيها أحد منذ أن صار المصباح يضيء وحده كل ليلة. "
    "في الصيف يأتي إليها زوار كثيرون في قوارب صغيرة لمشاهدة المنظر الجميل."
)


def prose(n: int = 8, about: str = "") -> str:
    """Return running text of n sentences, none of them twice."""
    told = (f"{SENTENCES[number % 4][:-1]}, as {about}note {number} says." for number in range(n))
    return " ".join(told)


def write(path: Path, content: str | bytes) -> Path:
    """Write a file, its folders made, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def pdf(path: Path, story: Iterable[tuple[str, str]], **how: Any) -> Path:
    """Write a PDF of (style, text) with reportlab; the style `table` has rows by line and bar.

    how: `head` stands on every page, `note` at the foot of the first; `empty` pages have a picture
    alone; with `packed` False one reads in the file what it says.
    """
    from reportlab.lib import colors
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Table

    styles, parts = getSampleStyleSheet(), []
    for style, text in story:
        if style == "table":
            cells = [line.split("|") for line in text.split("\n")]
            parts.append(Table(cells, style=[("GRID", (0, 0), (-1, -1), 0.5, colors.black)]))
        else:
            parts.append(PageBreak() if style == "page" else Paragraph(text, styles[style]))

    def around(canvas: Any, document: Any) -> None:
        canvas.setFont("Times-Roman", 8)
        canvas.drawString(72, 800, how.get("head", ""))
        canvas.drawString(290, 30, str(document.page))
        if document.page == 1 and how.get("note"):
            canvas.drawString(80, 80, how["note"])

    path.parent.mkdir(parents=True, exist_ok=True)
    sheet = {"pagesize": (595, 842), "pageCompression": how.get("packed", True)}
    SimpleDocTemplate(str(path), **sheet).build(parts, around, around)
    return path


def scanned_pdf(path: Path, n_pages: int = 1) -> Path:
    """Write a PDF whose pages have lines drawn, and no letter."""
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(path), pageCompression=1)
    for _ in range(n_pages):
        canvas.line(72, 72, 300, 300)
        canvas.showPage()
    canvas.save()
    return path


def pdf_that_draws_itself_twice() -> bytes:
    """Return a PDF of some 600 bytes, whose form draws itself twice, and so on."""
    resources = b"/Resources<</XObject<</F 5 0 R>>>>"
    return _raw_pdf(resources, b"/F Do", b"/Type/XObject/Subtype/Form" + resources, b"/F Do /F Do")


def pdf_packed_twice() -> bytes:
    """Return a PDF of some 4 KB, whose page is 8 million letters, packed and packed again."""
    page = b"BT /F 9 Tf (a) Tj ET " * 8_000_000
    return _raw_pdf(
        b"/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>",
        zlib.compress(zlib.compress(page, 9), 9),
        *(b"", b""),
        filters=b"/Filter[/FlateDecode/FlateDecode]",
    )


def _raw_pdf(
    resources: bytes, page: bytes, form: bytes, drawn: bytes, filters: bytes = b""
) -> bytes:
    """Return a PDF of one page and one form, as pdfium reads it without a table of places."""
    objects = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R" + resources + b">>",
        b"<<%s/Length %d>>stream\n%s\nendstream" % (filters, len(page), page),
        b"<<%s/BBox[0 0 9 9]/Length %d>>stream\n%s\nendstream" % (form, len(drawn), drawn),
    )
    whole = b"%PDF-1.4\n"
    for number, each in enumerate(objects, start=1):
        whole += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    return whole + b"trailer\n<</Size 6/Root 1 0 R>>\n%%EOF"


def docx_of_runs(path: Path, runs: Iterable[str | tuple[str, str]]) -> Path:
    """Write a docx of one paragraph; of a pair the second stands raised (`up`) or lowered."""
    from docx import Document

    document = Document()
    paragraph = document.add_paragraph()
    for each in runs:
        if isinstance(each, str):
            paragraph.add_run(each)
        else:
            font = paragraph.add_run(each[1]).font
            setattr(font, "superscript" if each[0] == "up" else "subscript", True)
    document.save(str(path))
    return path


def docx(path: Path, story: Iterable[tuple[str, str]], title: str = "") -> Path:
    """Write a docx of (style, text); the style `table` makes a table of the text's lines."""
    from docx import Document

    document = Document()
    document.core_properties.title = title
    for style, text in story:
        if style == "table":
            lines = [line.split("|") for line in text.split("\n")]
            table = document.add_table(len(lines), len(lines[0]))
            for row, cells in zip(table.rows, lines, strict=True):
                for cell, words in zip(row.cells, cells, strict=True):
                    cell.text = words
        else:
            document.add_paragraph(text, style=style)
    document.save(str(path))
    return path


def docx_of(path: Path, body: str, styles: str = "") -> Path:
    """Write a docx whose body, and whose styles beside usual ones, are these elements of XML."""
    from docx import Document
    from docx.oxml import parse_xml

    names = " ".join(
        f'xmlns:{short}="http://schemas.openxmlformats.org/{long}"'
        for short, long in (
            ("w", "wordprocessingml/2006/main"),
            ("mc", "markup-compatibility/2006"),
        )
    )
    document = Document()
    for parent, content in ((document.element.body, body), (document.styles.element, styles)):
        for number, each in enumerate(parse_xml(f"<w:body {names}>{content}</w:body>")):
            parent.insert(number, each)
    document.save(str(path))
    return path


def archive(path: Path, members: Mapping[str, str | bytes]) -> Path:
    """Write a zip archive."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return path
