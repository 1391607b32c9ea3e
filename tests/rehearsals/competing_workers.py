"""Workers who compete for the same HITs of a served marketplace, fifty to a process."""

import html
import re
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qs, urlsplit

import httpx

FRAME = re.compile(r'<iframe[^>]* src="([^"]+)"')
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
KIND = re.compile(r'action="(/kinds/[^"]+/accept/)"')
IN_PROGRESS = re.compile(r'href="(/work/\d+/)"')
# A process that was killed is back within this time.
PATIENCE_SECONDS = 60


def compete(address: str, first: int, n_workers: int) -> list[list[str]]:
    """Return worker, HIT and assignment of everything that these workers handed in.

    They take what there is until nothing is left for them.
    """
    with ThreadPoolExecutor(n_workers) as pool:
        crowd = [Competitor(address, f"Worker {first + n}") for n in range(n_workers)]
        return [one for done in pool.map(Competitor.work, crowd) for one in done]


class Competitor:
    """One worker's browser; a request that is cut off is made again."""

    def __init__(self, address: str, name: str) -> None:
        self.address, self.name = address, name
        self.site = httpx.Client(
            base_url=address, follow_redirects=True, timeout=60, trust_env=False
        )

    def work(self) -> list[list[str]]:
        """Return what was handed in; takes HITs until there are none."""
        page = self.ask("GET", "/")
        if "Sign out" not in page:
            page = self.press(page, "/sign-in/", name=self.name)
        assert "Sign out" in page, page
        done = []
        while page := self.take():
            done.append(self.hand_in(page))
        self.site.close()
        return done

    def take(self) -> str:
        """Return the page of a HIT in hand or just accepted, empty when there is none."""
        while True:
            page = self.ask("GET", "/hits/")
            if held := IN_PROGRESS.search(page):
                page = self.ask("GET", held[1])
            elif kind := KIND.search(page):
                page = self.press(page, kind[1])
            else:
                return ""
            # Others may have been quicker; then there is another look.
            if FRAME.search(page):
                return page

    def hand_in(self, page: str) -> list[str]:
        """Send the form in the frame of a HIT until the marketplace says that it has it."""
        frame = FRAME.search(page)
        assert frame
        claims = parse_qs(urlsplit(html.unescape(frame[1])).query)
        assignment = claims["assignmentId"][0]
        form = {"assignmentId": assignment, "answer": self.name}
        self.ask("POST", f"{claims['turkSubmitTo'][0]}/mturk/externalSubmit", form)
        return [claims["workerId"][0], claims["hitId"][0], assignment]

    def press(self, page: str, action: str, **fields: str) -> str:
        """Return the page that follows a form's button."""
        token = TOKEN.search(page)
        assert token, page
        return self.ask("POST", action, {"csrfmiddlewaretoken": token[1], **fields})

    def ask(self, method: str, target: str, form: dict[str, str] | None = None) -> str:
        """Return a page; raises httpx.HTTPError when nobody answers for a minute, or refuses."""
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                answer = self.site.request(
                    method, target, data=form, headers={"Origin": self.address}
                )
            except httpx.TransportError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.2)
                continue
            if answer.status_code != 409:
                answer.raise_for_status()
            return answer.text
