"""The browser keeps cookies where a person's would, and no page may do what it must not."""

import httpx
import pytest

from tasks.simulation.browser import Browser, StuckError, UnreachableError, parse_page

SITE, FRAME = "http://127.0.0.1:8000", "http://localhost:8000"
POLICY = f"default-src 'none'; frame-ancestors {SITE}; form-action 'self' {SITE}"


def browser(answer: dict[str, httpx.Response], seen: list[httpx.Request] | None = None) -> Browser:
    def handle(request: httpx.Request) -> httpx.Response:
        if seen is not None:
            seen.append(request)
        return answer[f"{request.url.host}{request.url.path}"]

    return Browser(SITE, httpx.MockTransport(handle))


def page(html: str = "<h1>Here</h1>", **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.Response(200, html=html, headers=named)


def test_cookies_of_the_site_stay_on_the_site() -> None:
    seen: list[httpx.Request] = []
    ada = browser(
        {
            "127.0.0.1/": page(Set_Cookie="marketplace_session=1; Path=/"),
            "127.0.0.1/hits/": page(),
            "localhost/hit/": page(Content_Security_Policy=POLICY),
        },
        seen,
    )
    ada.open("/")
    ada.open("/hits/")
    ada.open_frame(f"{FRAME}/hit/")
    assert ["cookie" in request.headers for request in seen] == [False, True, False]


def test_a_cookie_in_the_frame_is_an_error() -> None:
    ada = browser({"localhost/hit/": page(Set_Cookie="a=1", Content_Security_Policy=POLICY)})
    with pytest.raises(StuckError, match="set a cookie in the frame"):
        ada.open_frame(f"{FRAME}/hit/")


def test_a_page_that_must_not_be_framed_is_an_error() -> None:
    ada = browser({"localhost/hit/": page(Content_Security_Policy="frame-ancestors 'none'")})
    with pytest.raises(StuckError, match=r"lets no page of http://127.0.0.1:8000 frame it"):
        ada.open_frame(f"{FRAME}/hit/")


def test_a_form_goes_only_where_its_page_may_send_it() -> None:
    html = '<form method="post" action="http://elsewhere.example/"><button>Go</button></form>'
    ada = browser({"localhost/hit/": page(html, Content_Security_Policy=POLICY)})
    inner = ada.open_frame(f"{FRAME}/hit/")
    with pytest.raises(StuckError, match=r"may not send a form to http://elsewhere.example"):
        ada.press_in_frame(inner, inner.form("Go"), "Go")


def test_a_form_of_the_site_comes_with_its_origin() -> None:
    seen: list[httpx.Request] = []
    html = '<form method="post" action="/go"><input name="n"><button>Go</button></form>'
    ada = browser({"127.0.0.1/": page(html), "127.0.0.1/go": page()}, seen)
    ada.press(ada.open("/").form("Go"), "Go", n="1")
    assert seen[1].headers["origin"] == SITE
    assert seen[1].content == b"n=1"


def test_an_error_of_the_server_is_not_worked_around() -> None:
    ada = browser({"127.0.0.1/": httpx.Response(500, html="<h1>Broken</h1>")})
    with pytest.raises(StuckError, match=r"“Broken”.*error of the server"):
        ada.open("/")


def test_a_site_that_is_not_there_is_named() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    with pytest.raises(UnreachableError, match=r"http://127.0.0.1:8000 does not answer"):
        Browser(SITE, httpx.MockTransport(refuse)).open("/")


def test_json_without_json_is_an_error() -> None:
    ada = browser({"localhost/hit/draft": httpx.Response(502, html="<h1>Proxy</h1>")})
    with pytest.raises(StuckError, match="answered 502 without JSON"):
        ada.post(parse_page("", f"{FRAME}/hit/"), "/hit/draft", "token", {})
