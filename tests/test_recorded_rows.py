"""What is laid out again is what was made: the same rows, for the same arguments, or made anew."""

from typing import Any

import pytest
from django.db import connection, transaction

from collector.models import Article, Corpus
from tests import recorded_rows
from tests.recorded_rows import recorded

made: list[str] = []


@recorded
def make_places(slug: str = "hollin", corpus: Corpus | None = None, number: int = 2) -> Corpus:
    """Return a corpus with articles."""
    made.append(slug)
    corpus = corpus or Corpus.objects.create(slug=slug, name="Hollin", language="en", state="ready")
    for page in range(number):
        title = f"Place {page}"
        Article.objects.create(corpus=corpus, page_id=page + 1, title=title, revision_id=1)
    return corpus


@pytest.fixture(autouse=True)
def _nothing_recorded_yet() -> None:
    recorded_rows.forget()
    made.clear()


def make_and_undo(*args: Any, **kwargs: Any) -> tuple[Corpus, list[Any]]:
    """Return what the function returns and all that it has written, which is then rolled back."""
    with transaction.atomic():
        corpus = make_places(*args, **kwargs)
        rows = [*Corpus.objects.order_by("pk").values(), *Article.objects.order_by("pk").values()]
        transaction.set_rollback(True)
    return corpus, rows


@pytest.mark.django_db
def test_the_second_time_the_same_rows_are_there_and_nothing_was_made() -> None:
    one, two = make_and_undo(), make_and_undo()
    assert one == two
    assert len(one[1]) == 3
    assert made == ["hollin"]


@pytest.mark.django_db
def test_other_arguments_are_made_on_their_own() -> None:
    assert make_and_undo(number=3)[1] != make_and_undo()[1]
    assert make_and_undo(slug="selby")[0].slug == "selby"
    assert made == ["hollin", "hollin", "selby"]


@pytest.mark.django_db
def test_what_comes_after_gets_keys_of_its_own() -> None:
    make_and_undo()
    again = make_places()
    assert made == ["hollin"]
    assert make_places("selby").pk != again.pk
    assert Article.objects.count() == 4


@pytest.mark.django_db
def test_beside_other_rows_and_for_other_rows_it_is_made() -> None:
    make_and_undo()
    corpus = Corpus.objects.create(slug="selby", name="Selby", language="en", state="ready")
    assert make_places().pk != corpus.pk
    assert make_places("carrow", corpus).pk == corpus.pk
    assert made == ["hollin", "hollin", "carrow"]


@pytest.mark.django_db(transaction=True)
def test_what_is_committed_is_made() -> None:
    make_places()
    Corpus.objects.all().delete()
    make_places()
    assert made == ["hollin"] * 2
    assert not connection.in_atomic_block
