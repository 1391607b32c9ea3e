"""People who do a collection's HITs through the pages, whatever its protocol asks of them."""

import json
import random
import re
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from typing import Any

from django.core.management import call_command
from django.test import Client, override_settings
from django.utils import timezone

from collector.models import Collection
from collector.protocols.loading import get_protocol
from tasks import hits
from tasks.models import Answer, Posting
from tasks.simulation.behaviour import DILIGENT
from tasks.simulation.simulated_contract import SIMULATED
from tasks.simulation.worker import Opener
from tasks.tests.making import entry_query
from tasks.work import units

STATE = re.compile(r'id="page-state" type="application/json">(.*?)</script>')
CONSENT = re.compile(r'name="token" value="([^"]+)"')
Change = Callable[[dict[str, Any], dict[str, Any]], None]


def run(*command: Any, **options: Any) -> Any:
    """Return what a command of a requester's day printed as JSON."""
    printed = StringIO()
    call_command(*command, **options, json=True, stdout=printed)
    return json.loads(printed.getvalue())


def look(collection: Collection) -> None:
    """Do what the jobs do while a collection runs, as far as it needs no marketplace."""
    parameters = get_protocol(collection.protocol).resolved(collection.parameters)
    for stage in collection.stages.all():
        units.bundle(stage, parameters)
        hits.plan_postings(stage, timezone.now())
        hits.publish_pending(stage, timezone.now())


def next_step(collection: Collection) -> str:
    """Return the words of the collection's page that say what its requester does next."""
    with override_settings(PASSWORDLESS_SIGN_IN=True):
        page = Client(HTTP_HOST="localhost").get(f"/collections/{collection.slug}/")
    shown = page.content.decode().split('aria-label="Next step"')[1].split("</section>")[0]
    return " ".join(re.sub("<[^>]*>", "", shown.partition(">")[2]).split())


class Person:
    """Somebody with a browser who takes the HITs of a stage, one after another."""

    def __init__(self, name: str, collection: Collection) -> None:
        self.name, self.collection = name, collection
        self.browser = Client(HTTP_HOST="localhost")
        self.rng = random.Random(name)

    def enter(self, stage_name: str) -> tuple[dict[str, Any], str]:
        """Return the state of a page of work, {} where there is none, and the page's HTML."""
        stage = self.collection.stages.get(name=stage_name)
        posting = Posting.objects.filter(stage=stage, state="live").first()
        if posting is None:
            return {}, ""
        soon = timezone.now() + timedelta(hours=1)
        page = self.browser.get(f"/hit/?{entry_query(posting, self.name, expires=soon)}")
        if token := CONSENT.search(page.content.decode()):
            form = {"token": token[1], "version": "1", "consent": "agree"}
            page = self.browser.post("/hit/consent", form)
        html = page.content.decode()
        found = STATE.search(html)
        return (json.loads(found[1]) if found else {}), html

    def work(self, stage_name: str, change: Change = lambda state, data: None) -> int:
        """Do the stage's HITs until there is none for this person; returns how many were done.

        `change` alters what the protocol's simulated worker would type.
        """
        done = 0
        while state := self.enter(stage_name)[0]:
            data = self._typed(state, change)
            saved = self.post(state, "draft", {"version": 0, "draft": {"data": data, "ui": {}}})
            assert saved.json()["problems"] == []
            assert self.post(state, "submit", {"data": data}).status_code == 200
            done += 1
        return done

    def _typed(self, state: dict[str, Any], change: Change) -> dict[str, Any]:
        """Return what the page holds in the end; answers that stay are given one by one."""
        fill = get_protocol(self.collection.protocol).part(SIMULATED).fill
        look_up = self._looks_up(state)
        data: dict[str, Any] = fill(state, DILIGENT, self.rng, look_up)
        change(state, data)
        while any(step["own"] is None for step in state.get("ordered_answers", ())):
            last = data["answers"][-1]
            given = self.post(state, "answer", {"item": last["item"], "answer": last})
            assert given.status_code == 200, given.content
            state["ordered_answers"] = given.json()["ordered_answers"]
            data = fill(state, DILIGENT, self.rng, look_up)
            change(state, data)
        return data

    def _looks_up(self, state: dict[str, Any]) -> Opener:
        """Return what opens nothing; with a search box, what searches and opens what is found."""
        found: set[str] = set()

        def look_up(item: str, title: str) -> Any:
            if "results_per_search" not in state["limits"]:
                return None
            if title in found:
                return self.post(state, "article", {"item": item, "title": title}).json()
            results = self.post(state, "search", {"item": item, "query": title}).json()
            found.update(f"{one['document']}#{one['paragraph']}" for one in results["results"])
            return results

        return look_up

    def post(self, state: dict[str, Any], name: str, body: Any) -> Any:
        """Return what the page's own call is answered."""
        return self.browser.post(
            state["urls"][name],
            json.dumps(body),
            content_type="application/json",
            HTTP_AUTHORIZATION=f"Bearer {state['token']}",
        )


def votes(slug: str) -> list[dict[str, Any]]:
    """Return every label of a collection with the text it is of and what stands beside it."""
    found = Answer.objects.filter(stage__collection__slug=slug).select_related("question")
    return [
        {"text": vote.question.text, "label": vote.type, **vote.payload["fields"]}
        for vote in found.order_by("id")
    ]
