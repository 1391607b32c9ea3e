"""What a first visitor of the sample reads of who asks for the work."""

import pytest

from collector.serving import sample
from marketplace.models import Requester


class Stop(Exception):
    """The collections themselves are made elsewhere."""


@pytest.mark.django_db(databases=["default", "marketplace"])
def test_the_sample_says_who_asks_and_how_it_pays(monkeypatch, settings, tmp_path):
    settings.MTURK_KEYS_FILE = tmp_path / "keys.json"
    settings.MARKETPLACE_URL = "http://127.0.0.1:8000"
    opened = []

    def stop(chosen, **_):
        opened.append(chosen)
        raise Stop

    monkeypatch.setattr(sample, "read_corpus", lambda *_, **__: None)
    monkeypatch.setattr(sample, "open_collection", stop)
    with pytest.raises(Stop):
        sample.prepare_sample()
    account = Requester.objects.get()
    assert "sample" in account.payment_terms
    assert [chosen["contact"] for chosen in opened] == [account.contact]
    assert "localhost" not in account.contact
