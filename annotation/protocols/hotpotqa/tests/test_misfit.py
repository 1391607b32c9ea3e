"""Own documents have no links: said when a collection is made, with what is meant for them."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotation.dashboard.tests.making import make_browser
from collector.models import Collection, Corpus
from collector.models.accounts import owner
from collector.protocols.loading import get_protocol
from collector.seeds.selection import misfit_of
from tasks.tests.making import make_corpus

pytestmark = pytest.mark.django_db
LACKS = {
    "hotpotqa": "pairs of paragraphs that a link connects",
    "iirc": "paragraphs whose links lead to more",
}
OFFERED = "For documents there is: "


@pytest.mark.parametrize("protocol", LACKS)
def test_a_corpus_without_links_is_told_what_it_lacks_and_what_fits(
    protocol: str, tmp_path: Path, settings: Any
) -> None:
    settings.HOME, settings.PASSWORDLESS_SIGN_IN = tmp_path, True
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "tarn.md").write_text("# Tarn\n\nThe harbour of Tarn was dug by hand.\n")
    options = {"corpus": "own", "language": "en", "processes": 1}
    call_command("ingest_documents", str(tmp_path / "own"), **options, stdout=StringIO())
    rita = make_browser()
    rita.force_login(owner())
    given = {"title": "Hops", "protocol": protocol, "corpus": "own", "budget": "10"}
    who = {"requester_name": "Rita", "requester_contact": "rita@example.org"}

    page = rita.post("/collections/new/", {**given, **who}).content.decode()

    assert f"It asks about {LACKS[protocol]}, and this corpus has no link." in page
    meant = get_protocol("rag").parameters().protocol.title
    assert meant in page.partition(OFFERED)[2].partition("</")[0]
    assert not Collection.objects.exists()
    told = misfit_of(get_protocol(protocol), make_corpus())
    assert OFFERED not in told
    assert Corpus.objects.count() == 2
