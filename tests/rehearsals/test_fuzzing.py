"""An hour of changed files, pages and books, each time others; what fails is kept by its seed."""

import os
import random
import time
from itertools import count
from pathlib import Path

import pytest

from collector.ingest.dump import Dump, parse_page
from collector.ingest.tests import fuzzing
from collector.ingest.tests.test_fuzzing import (
    N_PAGES,
    N_PAGES_OF_DUMPS,
    check_books,
    check_documents,
    check_dumps,
    check_pages,
)
from collector.models import Corpus

SECONDS = int(os.environ.get("FUZZING_SECONDS", "3600"))
FIRST = 1000


@pytest.mark.django_db
def test_an_hour_of_changed_files_ends_no_import(tmp_path: Path, data: Path) -> None:
    originals = fuzzing.originals(data, tmp_path)
    books = fuzzing.books(data, tmp_path)
    pages = list(Dump(data / "wiki" / "enwiki-rappers-eastcoast-2023.xml.bz2").pages())
    began, failed = time.monotonic(), {}
    for seed in count(FIRST):
        if time.monotonic() - began > SECONDS:
            break
        rng = random.Random(seed)
        try:
            check_documents(originals, tmp_path / f"{seed}", rng)
            Corpus.objects.all().delete()
            texts = [parse_page(xml).text.decode() for xml in rng.sample(pages, N_PAGES)]
            check_pages(texts, tmp_path / f"{seed}.xml", rng)
            Corpus.objects.all().delete()
            check_books(books, tmp_path, rng)
            Corpus.objects.all().delete()
            check_dumps(rng.sample(texts, N_PAGES_OF_DUMPS), tmp_path, rng)
        except Exception as error:
            failed[seed] = error
        Corpus.objects.all().delete()
    print(f"{seed - FIRST} rounds; failed: {failed}")
    assert failed == {}
