"""Two hundred documents of one's own become two released datasets, by pages and one command.

In English, and in German as many as are at hand. They are real paragraphs of wikis in every format
that is read; who answers is simulated.
"""

import csv
import io
import json
import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from collector.ingest.documents.tests import making
from collector.ingest.dump import Dump
from collector.ingest.records import PageReader, PageRecord
from tests import services
from tests.browser.conftest import ARGUMENTS
from tests.serving import Instance, serving

N_DOCUMENTS = 200
CORPORA = {
    "en": "enwiki-rappers-eastcoast-2023.xml.bz2",
    "de": "minidumps/de.xml.bz2",
}
N_SEEDS = 30
SECONDS = 1000
FORMATS = ("md", "txt", "html", "docx", "pdf", "jsonl", "csv")
# What a PDF is set in here has no other letters than these.
PDF_LETTERS = "latin-1"


def texts(data: Path, language: str) -> Iterator[tuple[str, list[str]]]:
    """Yield documents: a title, and two paragraphs or three that stand beside one another."""
    dump = Dump(data / "wiki" / CORPORA[language])
    reader = PageReader(dump.site)
    for xml in dump.pages():
        page = reader.read(xml)
        if isinstance(page, PageRecord):
            prose = [text for _, kind, text, _ in page.paragraphs if kind == "paragraph"]
            long = [text for text in prose if 150 < len(text) < 2500]
            for number, at in enumerate(range(0, len(long) - 2, 3)):
                yield f"{page.title} {number + 1}", long[at : at + 3]


def write_documents(folder: Path, data: Path, language: str) -> Path:
    """Return a zip of documents in every format; those in tables are rows of one file each."""
    rows: list[dict[str, str]] = []
    for number, (title, parts) in enumerate(islice(texts(data, language), N_DOCUMENTS)):
        kind = FORMATS[number % len(FORMATS)]
        if kind == "pdf" and not _can_be_set(title, parts):
            kind = "md"
        path = folder / "own" / f"{number:03}.{kind}"
        story = [("Title", title), *(("BodyText", part) for part in parts)]
        if kind == "md":
            making.write(path, f"# {title}\n\n" + "\n\n".join(parts))
        elif kind == "txt":
            making.write(path, f"{title}\n\n" + "\n\n".join(parts))
        elif kind == "html":
            body = "".join(f"<p>{part}</p>" for part in map(_escaped, parts))
            making.write(
                path, f"<!doctype html><title>{_escaped(title)}</title><main>{body}</main>"
            )
        elif kind == "docx":
            styles = [("Heading 1", title), *(("Normal", part) for part in parts)]
            making.docx(path, styles, title)
        elif kind == "pdf":
            making.pdf(
                path, [("Title", _escaped(title)), *((s, _escaped(t)) for s, t in story[1:])]
            )
        else:
            rows.append({"id": f"{kind}-{number}", "title": title, "text": "\n\n".join(parts)})
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


def _can_be_set(title: str, parts: list[str]) -> bool:
    whole = " ".join([title, *parts])
    return whole == whole.encode(PDF_LETTERS, "ignore").decode(PDF_LETTERS)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


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


@pytest.mark.parametrize("language", CORPORA)
def test_documents_become_two_releases(
    language: str, rita: tuple[Instance, Page], data: Path, tmp_path: Path
) -> None:
    instance, page = rita
    upload(page, write_documents(tmp_path, data, language), language)
    for protocol in ("squad", "rag"):
        slug = f"{language}-{protocol}"
        create(page, slug, protocol)
        choose_seeds(page, slug, N_SEEDS)
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
