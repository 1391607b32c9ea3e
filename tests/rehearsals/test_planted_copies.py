"""One crowd, six protocols, corpora with planted near copies: what train has of test's wording.

Copies are of whole articles, with a word of each paragraph changed, and of single paragraphs under
other titles; of books, with other summaries' words; of documents. Who answers is simulated.
"""

import bz2
import csv
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from annotation.release.release_files import PROOF
from collector.ingest.documents.tests import making
from collector.serving import sample
from tests.labelled_books import lay_out
from tests.rehearsals.test_own_documents import CORPORA, texts
from tests.serving import serving

DUMP = "enwiki-rappers-eastcoast-2023.xml.bz2"
N_PAGES, N_DOCUMENTS, EVERY = 500, 90, 8
MUCH = 30_000_000
# Runs of words: a shorter one may be a turn of phrase, such as who certified a record.
WORDS, LONG = 8, 16
# How many seeds each collection has: enough for all splits.
SEEDS = {"iirc": 60, "hotpotqa": 60, "quac": 40, "bookqa": 24, "squad": 60, "rag": 60}
PARAMETERS = {
    "iirc": {
        "seeds.min_links": 4,
        "seeds.min_links_in_corpus": 2,
        "splits.train": 4,
        "splits.dev": 1,
        "splits.test": 2,
    },
    "hotpotqa": {
        "seeds.min_default_pages": 3,
        "seeds.keep_defaults": True,
        "human_performance.sample_questions": 10,
        "splits.train_hard": 1,
        "splits.dev": 1,
        "splits.test_distractor": 1,
        "splits.test_fullwiki": 1,
    },
    "quac": {
        "seeds.category_keywords": [],
        "seeds.persons_by": "anything",
        "seeds.min_incoming_links": 0,
        "seeds.min_tokens": 80,
        "splits.train": 4,
        "splits.dev": 1,
        "splits.test": 2,
        "dialog.redundancy.train": 1,
    },
    "bookqa": {
        "question.redundancy.train": 3,
        "label.items_per_hit": 2,
        "label.redundancy.percent": 50,
    },
    "squad": {
        "seeds.min_characters": 150,
        "splits.train": 4,
        "splits.dev": 1,
        "splits.test": 2,
    },
    "rag": {"splits.train": 4, "splits.dev": 1, "splits.test": 2},
}
# Where a page of a wiki tells something: not in templates, tables, lists or headings.
PROSE = re.compile(r"^[A-Z'][^|{}=*#\n]{200,}$", re.MULTILINE)


@pytest.mark.parametrize("seed", [7, 3, 11])
def test_no_wording_of_test_is_in_train_where_near_copies_were_planted(
    seed: int, data: Path, tmp_path: Path
) -> None:
    (tmp_path / "home").mkdir()
    shared: dict[str, set[str]] = {}
    with serving(tmp_path / "home") as instance:
        licence = ["--licence", "CC BY-SA 4.0"]
        dump = wiki_with_copies(data, tmp_path)
        print(instance.run("ingest_dump", str(dump), "--corpus", "wiki", *licence)[-400:])
        books = books_with_copies(data, tmp_path)
        print(instance.run("ingest_books", *books, "--corpus", "books", *licence)[-400:])
        own = documents_with_copies(data, tmp_path / "own")
        print(instance.run("ingest_documents", str(own), "--corpus", "own", *licence)[-400:])
        plan = sample.demos(sample.read_plan())
        for protocol, n_seeds in SEEDS.items():
            corpus = {"bookqa": "books", "squad": "own", "rag": "own"}.get(protocol, "wiki")
            chosen = {
                **plan[protocol],
                "slug": protocol,
                "corpus": {"slug": corpus},
                "contact": "team@example.org",
                "seeds": n_seeds,
                "seed": seed,
                "budget": 3000,
                "parameters": PARAMETERS[protocol] | {"pay.approve_after_hours": 0},
            }
            instance.call("collector.serving.sample:open_collection", chosen)
            out = tmp_path / protocol
            instance.call(f"{__name__}:release", chosen, str(out))
            shared[protocol] = told(protocol, out)
    # Splits of HotpotQA are of questions, those of IIRC of passages, whatever proves their answers:
    # the papers decide, and the cards tell.
    for protocol in ("squad", "rag", "quac", "bookqa"):
        assert not shared[protocol], sorted(shared[protocol])[:5]


def release(chosen: dict[str, Any], out: str) -> None:
    """Walk a collection to its release (runs on the instance's databases)."""
    sample.finish_collection(chosen, Path(out))


def changed(text: str) -> str:
    """Return a text with one of its words changed."""
    words = text.split(" ")
    words[len(words) // 2] = "otherwise"
    return " ".join(words)


def wiki_with_copies(data: Path, folder: Path) -> Path:
    """Return a dump in which every eighth page stands twice, and every eighth lends a paragraph."""
    with bz2.open(data / "wiki" / DUMP, "rt", encoding="utf-8") as file:
        head, *rest = re.split("<page>", file.read(MUCH))
    pages = [page for page in rest[:-1] if "<ns>0</ns>" in page and "<redirect" not in page]
    pages, lent = pages[:N_PAGES], ""
    for number, page in enumerate(list(pages)):
        told = PROSE.findall(page)
        if number % EVERY == 0:
            copy = PROSE.sub(lambda line: changed(line[0]), page)
            copy = copy.replace("</title>", " again</title>", 1)
            pages.append(re.sub(r"<id>(\d+)</id>", r"<id>\g<1>00</id>", copy, count=1))
        elif number % EVERY == 2 and told:
            lent = told[len(told) // 2]
        elif number % EVERY == 5 and told and lent:
            pages[number] = page.replace(told[-1], f"{told[-1]}\n\n{changed(lent)}", 1)
    story = "".join(f"<page>{page}" for page in pages)
    return making.write(folder / "planted.xml", f"{head}{story}</mediawiki>\n")


def books_with_copies(data: Path, folder: Path) -> list[str]:
    """Return files of books and their summaries, of no published set; every fourth is there twice.

    Published sets would have their splits.
    """
    lay_out(data, folder)
    table = folder / "summaries.csv"
    summaries = {row["document_id"]: row for row in _rows(table)}
    files, rows = [str(table)], []
    for at, book in enumerate(_rows(data / "books" / "index.tsv", delimiter="\t")):
        name = book["narrativeqa_document_id"]
        text = (data / "books" / f"{book['repo'].split('/')[1]}.txt").read_bytes()
        told = summaries[name]
        copy = {**told, "document_id": f"again-{name}"[:40], "summary": changed(told["summary"])}
        for row in (told, copy)[: 1 if at % 4 else 2]:
            rows.append(row)
            files.append(str(making.write(folder / f"{row['document_id']}.txt", text)))
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return files


def documents_with_copies(data: Path, folder: Path) -> Path:
    """Return a folder of documents: every eighth is there twice, every eighth lends a paragraph."""
    found = [
        (title, [text for _, text in parts])
        for title, parts in islice(texts(data, CORPORA["en"]), N_DOCUMENTS)
    ]
    lent = ""
    for number, (title, parts) in enumerate(list(found)):
        if number % EVERY == 0:
            found.append((f"{title} again", list(map(changed, parts))))
        elif number % EVERY == 2:
            lent = parts[1]
        elif number % EVERY == 5:
            parts.append(changed(lent))
    for number, (title, parts) in enumerate(found):
        making.write(folder / f"{number:03}.md", "\n\n".join([f"# {title}", *parts]))
    return folder


def _rows(path: Path, **how: Any) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, **how))


def told(protocol: str, out: Path) -> set[str]:
    """Print what train has of the wording of dev and test; return the long runs of passages."""
    of: dict[tuple[str, str, int], set[str]] = {}
    for path in sorted(out.glob("questions-*.parquet")):
        split = "train" if path.stem.startswith("questions-train") else "held out"
        for row in parquet.read_table(path).to_pylist():
            rests_on = [*row["passages"], *(part for name in PROOF for part in row.get(name) or ())]
            for what, told in (("question", [row["question"]]), ("passage", rests_on)):
                for text in (part["text"] if what == "passage" else part for part in told):
                    for words in (WORDS, LONG):
                        of.setdefault((split, what, words), set()).update(_runs(text, words))
    for what in ("question", "passage"):
        ours, theirs = of["held out", what, WORDS], of["train", what, WORDS]
        print(
            f"{protocol}, {what}: {len(ours & theirs)} of {len(ours)}, {sorted(ours & theirs)[:5]}"
        )
    print((out / "tables" / "overlap.csv").read_text())
    return of["held out", "passage", LONG] & of["train", "passage", LONG]


def _runs(text: str, words: int) -> Iterator[str]:
    found = re.findall(r"\w+", text.casefold())
    return (" ".join(found[at : at + words]) for at in range(len(found) - words + 1))
