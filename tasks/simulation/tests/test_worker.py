"""A worker goes on as a person could, and says so loudly when they could not."""

import httpx
import pytest

from tasks.simulation.browser import Browser, StuckError
from tasks.simulation.worker import SimulatedWorker

SITE = "http://127.0.0.1:8000"
OUT = '<form action="/sign-out/"><button>Sign out</button></form>'
ACCEPT = '<form method="post" action="/kinds/T1/accept/"><button>Accept it</button></form>'
FRAME = (
    f'{OUT}<iframe id="task" src="http://localhost:8000/hit/?hitId=H1&amp;workerId=A1"></iframe>'
    '<form method="post" action="/work/1/return/"><button>Return the HIT</button></form>'
)
NOTICE = "<main data-page='notice'><h1>Nothing here for you right now</h1></main>"


def ada(pages: dict[str, str], **given: object) -> SimulatedWorker:
    def handle(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, html=pages[request.url.path])

    browser = Browser(SITE, httpx.MockTransport(handle))
    return SimulatedWorker("Ada", browser, lambda state, opener: {}, **given)  # type: ignore[arg-type]


def test_she_cannot_sign_in_where_nobody_gets_in_by_name() -> None:
    with pytest.raises(StuckError, match="lets nobody in by a name alone"):
        ada({"/": "<h1>Have a personal link?</h1>"}).sign_in()


def test_she_finds_nothing_in_an_empty_list() -> None:
    assert ada({"/hits/": OUT}).turn({"T1": []}, 0) == "nothing"


def test_she_takes_no_hit_of_another_type() -> None:
    assert ada({"/hits/": OUT + ACCEPT}).turn({"T2": []}, 0) == "nothing"


def test_she_returns_a_hit_that_has_nothing_for_her_and_leaves_its_kind_alone() -> None:
    pages = {"/hits/": OUT + ACCEPT, "/kinds/T1/accept/": FRAME, "/hit/": NOTICE}
    worker = ada({**pages, "/work/1/return/": OUT})
    assert worker.turn({"T1": []}, 0) == "returned"
    assert worker.counts["returned"] == 1
    assert worker.turn({"T1": []}, 1) == "nothing"
    assert worker.turn({"T1": []}, 10) == "returned"


def test_she_returns_a_hit_that_is_not_one_to_work_on() -> None:
    told = []
    worker = ada(
        {"/hits/": OUT + ACCEPT, "/kinds/T1/accept/": FRAME, "/work/1/return/": OUT},
        introduce=lambda person, hit: bool(told.append((person, hit))),
    )
    assert worker.turn({"T1": []}, 0) == "returned"
    assert told == [("A1", "H1")]


def test_she_chooses_among_named_hits_where_a_type_is_shared() -> None:
    preview = (
        '<form method="post" action="/hits/H1/accept/"><button>Accept and work</button></form>'
    )
    pages = {"/hits/": OUT + ACCEPT, "/hits/H0/": OUT, "/hits/H1/": preview}
    worker = ada({**pages, "/hits/H1/accept/": FRAME, "/hit/": NOTICE, "/work/1/return/": OUT})
    assert worker.turn({"T1": ["H0", "H1"]}, 0) == "returned"
    assert worker.doing == "H1"


def test_accepting_round_and_round_gets_her_stuck() -> None:
    worker = ada({"/hits/": OUT + ACCEPT, "/kinds/T1/accept/": OUT + ACCEPT})
    with pytest.raises(StuckError, match="Ada got stuck taking a HIT"):
        worker.turn({"T1": []}, 0)


def test_asking_for_consent_again_and_again_gets_her_stuck() -> None:
    again = (
        '<main data-page="consent"><h1>Before you begin</h1>'
        '<form method="post" action="/hit/consent"><button>I agree: begin</button></form></main>'
    )
    pages = {"/hits/": OUT + ACCEPT, "/kinds/T1/accept/": FRAME}
    worker = ada({**pages, "/hit/": again, "/hit/consent": again})
    with pytest.raises(StuckError, match=r"Ada got stuck. The page “Before you begin”"):
        worker.turn({"T1": []}, 0)
