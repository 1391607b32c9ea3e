"""The page around a task is drawn once for many, and tells everybody what is their own."""

from typing import Any

from marketplace.models import Assignment, Worker
from marketplace.site.work_views import STAND_INS, _pieces
from marketplace.tests.visitor import Frame, Visitor


def test_two_who_see_the_same_have_their_own_keys_and_addresses(
    rita: Any, ada: Visitor, grace: Visitor, make_hit: Any
) -> None:
    hit = make_hit(rita, MaxAssignments=2)
    _pieces.cache_clear()
    frames = {"Ada": ada.accept(hit), "Grace": grace.accept(hit)}
    assert _pieces.cache_info().currsize == 1
    assert frames["Ada"].url != frames["Grace"].url
    for name, frame in frames.items():
        own = Assignment.objects.get(worker__display_name=name)
        page = frame.response.content.decode()
        assert frame.query["assignmentId"] == own.assignment_id
        assert f'data-deadline="{int(own.deadline.timestamp())}"' in page
        for path in ("return", "next"):
            assert f'action="/work/{own.pk}/{path}/"' in page
        assert f'data-submitted="/work/{own.pk}/submitted/"' in page
        assert f'<time datetime="{own.deadline.isoformat()}">' in page
        assert not any(stand_in in page for stand_in in STAND_INS.values())


def test_language_preferences_and_notices_are_each_person_s(
    rita: Any, ada: Visitor, grace: Visitor, make_hit: Any
) -> None:
    hit = make_hit(rita, MaxAssignments=2)
    path = ada.accept(hit).path
    hers = grace.accept(hit)
    Worker.objects.filter(display_name="Ada").update(
        language="de", theme="dark", has_large_text=True, accepts_next=True
    )
    page = ada.get(path).content.decode()
    assert '<html lang="de" data-theme="dark" data-text-size="xl">' in page
    assert 'name="accepts_next" checked>' in page
    assert Frame(ada.get(path)).query["workerTheme"] == "dark"
    others = grace.get(hers.path).content.decode()
    assert '<html lang="en">' in others
    assert 'name="accepts_next">' in others
    # No more time is stated, which the next page says, and only that.
    said = "Mehr Zeit"
    assert said in ada.send(f"{path}extend/").content.decode()
    assert said not in ada.get(path).content.decode()


def test_a_title_is_written_as_text(rita: Any, ada: Visitor, make_hit: Any) -> None:
    title = "<b>Places & {{ names }}</b>"
    page = ada.accept(make_hit(rita, Title=title)).response.content.decode()
    assert "<h1>&lt;b&gt;Places &amp; {{ names }}&lt;/b&gt;</h1>" in page
