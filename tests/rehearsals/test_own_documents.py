"""Two hundred documents of one's own become two released datasets, by pages and one command.

In English, and in German and Arabic as many as are at hand. They are real paragraphs of wikis in
every format that is read; who answers is simulated.
"""

import csv
import io
import json
import os
import re
from collections.abc import Callable, Iterator
from html import escape
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from collector.ingest.documents.tests import making
from collector.ingest.dump import Dump
from collector.ingest.records import PageReader, PageRecord
from tests import services
from tests.browser.conftest import ARGUMENTS
from tests.serving import Instance, serving

N_DOCUMENTS = 200


class Material(NamedTuple):
    """Where documents of a language are from, how many paragraphs each has, and how many seeds.

    A paragraph is as many of the wiki's of one section as have `characters` together.
    """

    dump: str
    letters: str
    characters: int
    paragraphs: int
    seeds: int


CORPORA = {
    "en": Material("enwiki-rappers-eastcoast-2023.xml.bz2", "[a-z]", 150, 3, 30),
    "de": Material("minidumps/de.xml.bz2", "[a-z]", 150, 3, 30),
    # One long article is at hand, with short paragraphs.
    "ar": Material("minidumps/ar.xml.bz2", "[\u0620-\u064a]", 520, 2, 10),
}
LONGEST = 2500
SECONDS = 1000
FORMATS = ("md", "txt", "html", "docx", "pdf", "jsonl", "csv")

# A title, and paragraphs, each with its heading.
Text = tuple[str, list[tuple[str, str]]]
Printer = Callable[[Path, str], None]


def texts(data: Path, material: Material) -> Iterator[Text]:
    """Yield documents of paragraphs that stand beside one another in an article."""
    dump = Dump(data / "wiki" / material.dump)
    reader = PageReader(dump.site)
    for xml in dump.pages():
        page = reader.read(xml)
        if isinstance(page, PageRecord):
            parts = list(_paragraphs(page, material))
            step = material.paragraphs
            for number, at in enumerate(range(0, len(parts) - step + 1, step), start=1):
                yield f"{page.title} {number}", parts[at : at + step]


def _paragraphs(page: PageRecord, material: Material) -> Iterator[tuple[str, str]]:
    waiting, begun = "", -1
    for section, kind, text, _ in page.paragraphs:
        if kind != "paragraph" or not re.search(material.letters, text):
            continue
        waiting = f"{waiting} {text}" if waiting and section == begun else text
        begun = section
        if material.characters < len(waiting) < LONGEST:
            yield page.sections[section][1], waiting
        if len(waiting) > material.characters:
            waiting = ""


def write_documents(folder: Path, data: Path, language: str, printed: Printer) -> Path:
    """Return a zip of documents in every format; those in tables are rows of one file each."""
    rows: list[dict[str, str]] = []
    found = islice(texts(data, CORPORA[language]), N_DOCUMENTS)
    for number, (title, parts) in enumerate(found):
        kind = FORMATS[number % len(FORMATS)]
        path = folder / "own" / f"{number:03}.{kind}"
        if kind == "md":
            making.write(path, f"# {title}\n\n" + "\n\n".join(_told(parts, "## ")))
        elif kind == "txt":
            making.write(path, f"{title}\n\n" + "\n\n".join(text for _, text in parts))
        elif kind == "html":
            making.write(path, _web_page(title, parts, language))
        elif kind == "docx":
            styles = [("Heading 1", title)]
            for heading, text in parts:
                styles += [("Heading 2", heading)] * bool(heading) + [("Normal", text)]
            making.docx(path, styles, title)
        elif kind == "pdf":
            printed(path, _web_page(title, parts, language))
        else:
            story = "\n\n".join(text for _, text in parts)
            rows.append({"id": f"row-{number}", "title": title, "text": story})
    assert rows
    half = len(rows) // 2
    lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows[:half])
    making.write(folder / "own" / "rows.jsonl", lines)
    table = io.StringIO()
    writer = csv.DictWriter(table, ["id", "title", "text"])
    writer.writeheader()
    writer.writerows(rows[half:])
    making.write(folder / "own" / "rows.csv", table.getvalue())
    members = {path.name: path.read_bytes() for path in sorted((folder / "own").iterdir())}
    return making.archive(folder / "documents.zip", members)


def _told(parts: list[tuple[str, str]], mark: str) -> Iterator[str]:
    for heading, text in parts:
        if heading:
            yield f"{mark}{heading}"
        yield text


def _web_page(title: str, parts: list[tuple[str, str]], language: str) -> str:
    body = "".join(
        f"<h2>{escape(heading)}</h2>" * bool(heading) + f"<p>{escape(text)}</p>"
        for heading, text in parts
    )
    side = "rtl" if language == "ar" else "ltr"
    return (
        f'<!doctype html><html lang="{language}" dir="{side}"><meta charset="utf-8">'
        f"<title>{escape(title)}</title><main><h1>{escape(title)}</h1>{body}</main>"
    )


@pytest.fixture
def rita(tmp_path: Path) -> Iterator[tuple[Instance, Page]]:
    """Return an instance of its own and the requester's browser."""
    (tmp_path / "home").mkdir()
    with serving(tmp_path / "home") as instance, sync_playwright() as playwright:
        path = os.environ.get("COLLECTOR_CHROMIUM") or services.chromium()
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        context = browser.new_context(base_url=instance.collector_url, locale="en-GB")
        page = context.new_page()
        page.set_default_timeout(60_000)
        yield instance, page
        browser.close()


def printer(page: Page) -> Printer:
    """Return what prints a web page to a PDF, as anybody's browser does."""

    def printed(path: Path, html: str) -> None:
        page.set_content(html)
        path.write_bytes(page.pdf(format="A4"))

    return printed


@pytest.mark.parametrize("language", CORPORA)
def test_documents_become_two_releases(
    language: str, rita: tuple[Instance, Page], data: Path, tmp_path: Path
) -> None:
    instance, page = rita
    upload(page, write_documents(tmp_path, data, language, printer(page)), language)
    for protocol in ("squad", "rag"):
        slug = f"{language}-{protocol}"
        create(page, slug, protocol)
        choose_seeds(page, slug, CORPORA[language].seeds)
        preview(page, slug, "rtl" if language == "ar" else "ltr")
        publish(page, slug)
        instance.run("simulate", slug, "--workers", "8", "--seed", "3")
        release(page, slug)
        check(page, slug)


def upload(page: Page, path: Path, language: str) -> None:
    page.goto("/")
    page.goto("/corpora/new/")
    page.get_by_label("Files").set_input_files(path)
    page.get_by_label("Name of the corpus").fill(f"Own {language}")
    page.get_by_role("button", name="Upload").click()
    page.wait_for_url(f"**/corpora/own-{language}/")
    expect(page.get_by_text(re.compile(r"\d+ new"))).to_be_visible(timeout=1000 * SECONDS)
    print(" · ".join(page.locator("main").inner_text().split("\n"))[:300])


def create(page: Page, slug: str, protocol: str) -> None:
    page.goto("/collections/new/")
    page.get_by_label("Name", exact=True).fill(slug)
    page.get_by_label("Protocol", exact=True).select_option(protocol)
    page.get_by_label("Budget").fill("2000")
    page.get_by_label("Your name or your team's").fill("The team")
    page.get_by_label("How workers reach you").fill("team@example.org")
    page.get_by_role("button", name="Create the collection").click()
    page.wait_for_url(f"**/collections/{slug}/**")


def choose_seeds(page: Page, slug: str, number: int) -> None:
    page.goto(f"/collections/{slug}/seeds/")
    page.locator("#count").fill(str(number))
    page.get_by_role("button", name="Choose", exact=True).click()
    expect(page.get_by_role("link", name="See what it costs")).to_be_visible(timeout=120_000)


def preview(page: Page, slug: str, side: str) -> None:
    """What is read and written stands on the side where the language's lines begin."""
    asked = page.goto(f"/collections/{slug}/preview/question/")
    assert asked is not None
    assert asked.ok
    work = page.frame_locator("iframe")
    beginnings = [work.locator(each).first for each in (".document-title", ".block")]
    beginnings.append(work.get_by_role("textbox", name="Your question"))
    for each in beginnings:
        expect(each).to_have_css("direction", side)


def publish(page: Page, slug: str) -> None:
    page.goto(f"/collections/{slug}/publish/")
    page.get_by_role("button", name="Publish", exact=True).click()
    page.wait_for_url(f"**/collections/{slug}/")


def release(page: Page, slug: str) -> None:
    page.goto(f"/collections/{slug}/releases/")
    page.get_by_role("button", name="Make a release").first.click()
    expect(page.get_by_role("link", name="Release 1")).to_be_visible(timeout=1000 * SECONDS)


def check(page: Page, slug: str) -> None:
    """What was released is there to be taken, and says that nobody has answered."""
    page.goto(f"/collections/{slug}/releases/1/")
    print(" · ".join(page.locator("main").inner_text().split("\n"))[:600])
    expect(page.get_by_role("link", name="Download all (ZIP)")).to_be_visible()
    expect(page.get_by_text("Made by simulated workers")).to_be_visible()
