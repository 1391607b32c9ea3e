"""What people, jobs and time can do. Each method of `Acts` that has no _ is one act.

An act draws all that it draws from `rng`, made of the seed and its own number: an act that is left
out changes no draw of any other, and so a run that fails can be shortened.
"""

import random
import re
from datetime import datetime, timedelta
from fractions import Fraction
from html import unescape
from typing import Any
from urllib.parse import urlsplit

from django.db import connection
from django.test import Client
from django.urls import get_resolver

from tests.simulator.forms import Form, Ways, forms_of
from tests.simulator.life import CUT, JOBS, WEBS, Life, Tab
from tests.simulator.machine import TIME
from tests.simulator.processes import Trouble
from tests.simulator.programs import approve
from tests.simulator.talks import Page

# Forms that end a visit, or begin processes of their own; each is tested where it belongs. Without
# Rita's key, the first, nobody is paid until she has another.
NEVER = re.compile(
    r"sign-out|sign-in|/rehearse/|/baselines/|/difficulty/begin|corpora/|/password/|/keys/1/revoke/"
)
# What ends most of what could happen afterwards is sent as seldom as the share says.
SELDOM = (
    (re.compile(r"finish|archive|keep/drop|erase|^/account/|people/#/close"), 0.05),
    (re.compile(r"/pause/|merge|/language/|preferences|close|revoke|duplicate|/new/"), 0.3),
    (re.compile(r"/change/|/texts/"), 0.5),
)
# Each press makes one more, or takes one: see test_forms.py of the marketplace for the reasons.
ANEW = re.compile(r"(keys|people/#/password|invitations|invite|link|again|kinds/\w+/accept|next)/$")
# What is chosen there comes beside what others have chosen; of a name the last word counts.
ADDS = re.compile(r"/join/$|/workers/#/name/$")
OWN = "/collections/life/"


class Acts:
    """What can happen; see `Acts.WEIGHTS` for how often."""

    WEIGHTS = {
        # Workers.
        "work": 14,
        "crowd": 4,
        "take": 9,
        "take_named": 3,
        "preview": 1,
        "second_tab": 2,
        "more_time": 1,
        "set_up": 0.5,
        "write": 7,
        "hand_in": 8,
        "give_back": 2,
        "report": 2,
        "collect": 2,
        "look_around": 4,
        "strange_address": 1,
        "talk": 14,
        "leave_dialog": 2,
        "cut_off": 3,
        # Requesters, hosts and programs.
        "publish": 2,
        "let_in": 5,
        "decide": 10,
        "decide_late": 2,
        "decide_beside": 8,
        "exclude": 2,
        "answer_report": 3,
        "reject": 3,
        "erase": 1,
        "host": 3,
        "desk": 3,
        "decide_batch": 1,
        "program": 3,
        "work_for_program": 3,
        "merge": 1,
        "command": 1,
        # Jobs, time and mishaps.
        "jobs": 8,
        "jobs_die": 2,
        "jobs_interrupted": 3,
        "jobs_unheard": 2,
        "rest": 3,
        "wait": 7,
        "redis": 0.3,
    }
    # Half of all runs begin with a crowd at work, so that there is something to decide about.
    BEGINNING = ("crowd", "let_in", "crowd", "let_in", "crowd", "talk", "crowd")

    def __init__(self, life: Life) -> None:
        self.life = life

    @property
    def rng(self) -> random.Random:
        """Return this act's own generator."""
        return self.life.rng

    def _page_trouble(self) -> None:
        """Now and then the next request dies, or others act in the middle of it."""
        fate = self.rng.random()
        if fate < 0.03 and self.life.site.can_bear:
            self.life.trouble = Trouble(dies_at=self._moment(12))
        elif fate < 0.12 and not self.life.is_paused:
            self.life.trouble = Trouble(pauses_at=self._moment(15))

    def _moment(self, many: int) -> int:
        """Draw one of so many moments; on PostgreSQL those inside of transactions count too."""
        return self.rng.randrange(many if connection.vendor == "sqlite" else 2 * many)

    # Workers.
    def take(self) -> str:
        """Accept one of a kind of HIT from the list, agree, and look at the page."""
        visitor = self.rng.choice(self.life.workers)
        # Often somebody goes on whose page is open somewhere.
        if self.life.last and self.rng.random() < 0.4:
            visitor = next(
                one for one in self.life.workers if one.name == self.life.last.visitor.name
            )
        return self._take(visitor)

    def _take(self, visitor: Any) -> str:
        kinds = sorted(set(re.findall(r"/kinds/\w+/", visitor.get("/hits/").content.decode())))
        if not kinds:
            return "nothing is listed"
        self._page_trouble()
        return self.life.enter(visitor, self.rng.choice(kinds), self._page_trouble)

    def work(self) -> str:
        """Do a HIT from the list to its receipt, as most people do."""
        return self._work(self.rng.choice(self.life.workers))

    def crowd(self) -> str:
        """Let everybody do a HIT, after a look of the jobs."""
        self.life.counted["jobs"] += 1
        self.life.round(self._process())
        self.life.advance(3)
        told: list[str] = []
        for _ in range(self.rng.choice((1, 2, 3))):
            n_tabs = len(self.life.tabs)
            told += [self._work(visitor) for visitor in self.life.workers]
            if len(self.life.tabs) == n_tabs:
                break
        if any(tab.is_dialog and not tab.is_done for tab in self.life.tabs):
            self.life.counted["talk"] += 6
            told += [self.talk() for _ in range(6)]
        return " | ".join(told)

    def _work(self, visitor: Any) -> str:
        before = len(self.life.tabs)
        told = self._take(visitor)
        self.life.counted["take"] += 1
        if len(self.life.tabs) > before and not self.life.tabs[-1].is_dialog:
            self.life.counted["hand_in"] += 1
            told += f" {self._hand_in(self.life.tabs[-1])}"
        return told

    def take_named(self) -> str:
        """Accept a HIT by its own address, which somebody may have copied."""
        visitor, key = self.rng.choice(self.life.workers), self._open_hit()
        return self.life.enter(visitor, f"/hits/{key}/") if key else "no HIT"

    def _open_hit(self) -> str:
        """Draw a HIT that somebody may take; "" for none."""
        from marketplace.models import HIT

        keys = HIT.objects.filter(n_open__gt=0).order_by("pk").values_list("hit_id", flat=True)
        return self.rng.choice([*keys, ""][: max(1, len(keys))])

    def preview(self) -> str:
        """Look at a HIT before it is accepted: nothing is stored of that."""
        visitor, before, key = self.rng.choice(self.life.workers), self._n_rows(), self._open_hit()
        page = visitor.get(f"/hits/{key}/").content.decode()
        if frame := re.search(r'<iframe[^>]* src="([^"]+)"', page):
            parts = urlsplit(unescape(frame[1]))
            Client(HTTP_HOST=parts.netloc).get(f"{parts.path}?{parts.query}")
        if self._n_rows() != before:
            self.life.said.faults.append("preview: something is stored of a look")
        return f"{visitor.name} {key}"

    def second_tab(self) -> str:
        """Open the page of somebody's HIT once more, beside the first or after it."""
        tab = self.life.tab()
        return self.life.look(tab.visitor, tab.frame) if tab else "no page"

    def more_time(self) -> str:
        """Ask for more time shortly before it is over; the page of the work follows."""
        from marketplace.tests.visitor import Frame

        tab = self.life.tab()
        if tab is None:
            return "no page"
        self.life.advance((self.life.lease(tab).expires_at - TIME.now()).total_seconds() - 200)
        self.life.press(tab.visitor, f"{tab.frame.path}extend/")
        try:
            frame = Frame(tab.visitor.get(tab.frame.path))
        except AssertionError:
            return "no HIT any more"
        reply = tab.person.post(tab.state, "extend", {"address": frame.url})
        if reply.status_code == 200:
            tab.until = self.life.lease(tab).session.signed_until
        return f"{tab.visitor.name} lease {tab.lease} {reply.status_code}"

    def set_up(self) -> str:
        """Choose what pages look like, and put the instructions away."""
        tab = self.life.tab()
        if tab is None:
            return "no page"
        looks = tab.person.post(tab.state, "preferences", {"text_size": "l"})
        read = tab.person.post(tab.state, "instructions_seen", {"version": 1})
        return f"{tab.visitor.name} {looks.status_code} {read.status_code}"

    def collect(self) -> str:
        """Take a HIT that pays somebody for something else."""
        from tasks.models import Posting

        owed = Posting.objects.filter(state="live", worker__identity__isnull=False).order_by("pk")
        for posting in owed.select_related("worker__identity"):
            for visitor in self.life.workers:
                if visitor.worker.worker_id != posting.worker.identity.person:
                    continue
                if frame := self.life.accept(visitor, f"/hits/{posting.external_id}/"):
                    frame.submit(answer="collected")
                    return f"{visitor.name} posting {posting.pk}"
        return "nothing is owed"

    def write(self) -> str:
        """Type all of it, and have it saved."""
        tab = self.life.tab()
        if tab is None or not self.life.type(tab):
            return "no page to write on"
        self._page_trouble()
        data, share = self._part(tab.data)
        tab.turn += 1
        by = {"tab": f"{self.life.tabs.index(tab)}", "turn": tab.turn}
        body = {"version": tab.version, "draft": {"data": data, "ui": {}, "saved_by": by}}
        reply = tab.person.post(tab.state, "draft", body)
        alone = not any(one.lease == tab.lease for one in self.life.tabs if one is not tab)
        if reply.status_code == 409 and alone:
            self.life.said.faults.append("drafts: the only tab is told of another")
        if reply.status_code == 200:
            if self.rng.random() < 0.85:
                tab.version = reply.json()["version"]
            else:
                self.life.seen["the reply to a save was lost"] += 1
            in_time = tab.until and TIME.now() < tab.until
            if in_time and (share < 1 or not reply.json()["problems"]):
                self.life.said.saved[tab.lease] = int(share * tab.cents)
        return f"{tab.visitor.name} lease {tab.lease} {reply.status_code}"

    def _part(self, data: Any) -> tuple[Any, Fraction]:
        """Return all that was typed or the first of several answers, and which share that is."""
        many = [name for name, value in data.items() if isinstance(value, list) and len(value) > 1]
        if len(many) != 1 or self.rng.random() < 0.5:
            return data, Fraction(1)
        rows = data[many[0]]
        part = self.rng.randrange(1, len(rows))
        return {**data, many[0]: rows[:part]}, Fraction(part, len(rows))

    def hand_in(self) -> str:
        """Hand work in, mostly its receipt too; now and then twice."""
        tab = self.life.tab()
        return "no page to hand in" if tab is None else self._hand_in(tab)

    def _hand_in(self, tab: Tab) -> str:
        if not self.life.type(tab):
            return "no page to hand in"
        told = []
        for _ in range(2 if self.rng.random() < 0.1 else 1):
            self._page_trouble()
            reply = tab.person.post(tab.state, "submit", {"data": tab.data})
            told.append(reply.status_code)
            if reply.status_code == 410:
                self._refused_in_time(tab)
                # Mostly one leaves a page that says so.
                tab.is_done |= self.rng.random() < 0.8
            if reply.status_code == 200:
                tab.is_done = True
                self.life.said.submitted[tab.lease] = tab.cents
                if self.rng.random() < 0.95:
                    tab.frame.submit(**reply.json()["form"]["fields"])
        return f"{tab.visitor.name} lease {tab.lease} {told}"

    def _refused_in_time(self, tab: Tab) -> None:
        """Work that nobody gave back is taken for as long as the page said."""
        if self.life.lease(tab).state == "expired" and tab.until and TIME.now() < tab.until:
            self.life.said.faults.append("refused: work handed in before its time was over")

    def give_back(self) -> str:
        """Return a HIT on the marketplace."""
        tab = self.life.tab()
        if tab is None:
            return "no page"
        self._page_trouble()
        if self.life.press(tab.visitor, f"{tab.frame.path}return/") is None:
            return f"nobody is {tab.visitor.name} any more"
        tab.is_done = tab.was_given_back = True
        return f"{tab.visitor.name} lease {tab.lease}"

    def report(self) -> str:
        """Report a problem, often when time has just run out."""
        tab = self.life.tab()
        if tab is None:
            return "no page"
        if self.rng.random() < 0.5:
            left = (self.life.lease(tab).expires_at - TIME.now()).total_seconds()
            self.life.advance(left + 5)
            self.life.round(self._process())
        reply = tab.person.post(tab.state, "problem", {"message": "It hangs."})
        return f"{tab.visitor.name} lease {tab.lease} {reply.status_code}"

    def look_around(self) -> str:
        """Fill in a form of the marketplace's pages for workers."""
        from marketplace.models import Assignment

        visitor = self.rng.choice(self.life.workers)
        pages = ["/hits/", "/work/", "/history/", "/earnings/", "/messages/", "/preferences/"]
        pages += ["/account/", "/qualifications/"]
        for work in Assignment.objects.filter(worker=visitor.worker).order_by("-pk")[:3]:
            pages += [f"/work/{work.pk}/submitted/", f"/work/{work.pk}/write/"]
        return self._fill_in(visitor.client, pages, "/")

    def strange_address(self) -> str:
        """Ask for an address with a number that no column holds, as somebody who types it does."""
        at_market = [self.life.host, self.life.desk, *(one.client for one in self.life.workers[:2])]
        browser = self.rng.choice([self.life.browsers[0], *at_market])
        room = "marketplace.urls" if browser in at_market else "collector.urls"
        routes = [each for name, each in get_resolver(room).reverse_dict.items() if name]
        numbered = [each for each in routes if each[0][0][1]]
        for [[template, names], *_], *_ in self.rng.sample(numbered, 12):
            path = f"/{template % dict.fromkeys(names, 30 * '9')}"
            if not NEVER.search(path):
                self.rng.choice((browser.get, browser.post))(path)
        return room

    # Dialogs.
    def talk(self) -> str:
        """Sit down at a dialog's page, or say there what comes next."""
        tabs = [tab for tab in self.life.tabs if tab.is_dialog and not tab.is_done]
        if not tabs:
            return "no dialog"
        talks, told = self.life.talks, []
        for tab in self.rng.sample(tabs, min(len(tabs), self.rng.choice((1, 2, 2, 3)))):
            page = talks.page_of(tab)
            if page.conversation.phase == "done":
                told.append(self._hand_in(tab))
                continue
            if not page.is_open:
                talks.open(page, self.life.idle(self.rng.choice(WEBS)))
            told.append(f"{tab.visitor.name} {page.conversation.phase}")
        for _ in range(self.rng.choice((1, 4, 12))):
            talks.settle()
            if not sum(talks.type(page, 1) for page in list(talks.at.values())):
                break
        return " ".join(told)

    def _dialog_page(self) -> Page | None:
        pages = [page for page in self.life.talks.at.values() if not page.tab.is_done]
        return self.rng.choice(pages) if pages else None

    def leave_dialog(self) -> str:
        """End, report, wait no longer, or be ready."""
        page = self._dialog_page()
        if page is None:
            return "no dialog"
        self.life.talks.finish(page)
        self.life.talks.settle()
        return f"{page.tab.visitor.name} {page.conversation.phase}"

    def cut_off(self) -> str:
        """Lose the line of a page; mostly it comes back, perhaps to another process."""
        page = self._dialog_page()
        if page is None:
            return "no dialog"
        self.life.talks.cut(page)
        self.life.advance(self.rng.choice((0.1, 1, 3, 30)))
        self.life.talks.settle()
        if self.rng.random() < 0.8:
            self.life.talks.open(page, self.life.idle(self.rng.choice(WEBS)))
        return page.tab.visitor.name

    def redis(self) -> str:
        """Let Redis go, or come back."""
        talks = self.life.talks
        if talks.is_redis_away:
            talks.is_redis_away = False
        else:
            talks.lose_redis()
        return "away" if talks.is_redis_away else "back"

    # Requesters.
    def decide(self) -> str:
        """Fill in a form of some page of the collection and send it now, later, or twice."""
        browser = self.rng.choice(self.life.browsers)
        return self._fill_in(browser, self._pages(), OWN)

    def _pages(self) -> list[str]:
        """Return the collection's pages, of the route table, that have no part to fill in."""
        from annotation.dashboard.urls import of_collection

        parts = [str(each.pattern) for each in of_collection]
        unseen = re.compile("<|now/|rehearse|report|zip")
        return [OWN + part for part in parts if not unseen.search(part)]

    def _fill_in(self, browser: Any, pages: list[str], prefix: str) -> str:
        form = self._least_sent(browser, pages, prefix)
        if form is None:
            return "no form"
        if self._is_spared(form):
            return f"not {form.action}"
        fate = self.rng.random()
        if fate < 0.1:
            self.life.kept_forms.append(form)
            return f"kept {form.action}"
        self._page_trouble()
        if self.rng.random() < 0.5:
            # A colleague, or the same person in another window, does something else meanwhile.
            self.life.meanwhile = lambda: self._send_beside(browser, pages, prefix)
        before = self._n_rows()
        first = form.send().status_code
        if fate > 0.35 and first != CUT:
            return f"{form.action} {first}"
        if first == CUT and self._n_rows() == before:
            # It died before it did anything: the next one is the first to do it.
            form.send()
        return f"{form.action} {first} {self._again(form)}"

    def _least_sent(
        self, browser: Any, pages: list[str], prefix: str, how: str = ""
    ) -> Form | None:
        """Draw a form of the kind that was sent least in this way, among all that are known."""
        known = self.life.ways.setdefault(id(browser), Ways(browser, NEVER, self.life.sent))
        known.meet(pages)
        return known.least_sent(prefix, self.rng, how)

    def _send_beside(self, browser: Any, pages: list[str], prefix: str) -> None:
        form = self._least_sent(browser, pages, prefix, "meanwhile ")
        if form and not self._is_spared(form):
            form.send()

    def _is_spared(self, form: Form) -> bool:
        share = next((share for pattern, share in SELDOM if pattern.search(form.kind)), 1.0)
        return self.rng.random() >= share

    def _again(self, form: Form) -> int:
        """Send a form once more: nothing is done twice."""
        before = self._n_rows()
        status = int(form.send().status_code)
        self.life.seen["sent twice"] += 1
        for table, number in self._n_rows().items():
            if number > before.get(table, 0) and not ANEW.search(form.kind):
                self.life.said.faults.append(f"sent twice, done twice: {form.kind} {table}")
        return status

    def _n_rows(self) -> dict[str, int]:
        from tests.simulator.rows import rows_by_table

        return {name: len(rows) for name, rows in rows_by_table().items()}

    def decide_late(self) -> str:
        """Send a form that was filled in before."""
        if not self.life.kept_forms:
            return "none kept"
        form = self.life.kept_forms.pop(0)
        return f"{form.action} {form.send().status_code}"

    def decide_beside(self) -> str:
        """Two open one form, or one in two tabs; the second is sent when the first changed it."""
        from tests.simulator.rows import rows_by_table

        life = self.life
        desks: list[tuple[Any, Any, list[str], str]] = [
            (*life.browsers, self._pages(), OWN),
            (life.host, life.host, self._pages_of_host(), "/desk/"),
            (life.desk, life.desk, self._pages_of_desk(), "/desk/"),
        ]
        first, second, pages, prefix = self.rng.choice(desks)
        chosen = self._least_sent(first, pages, prefix, "beside ")
        if chosen is None or self._is_spared(chosen):
            return "no form"
        theirs, _ = forms_of(second, chosen.page, self.rng, NEVER)
        actions = [form.action for form in theirs]
        at = actions.index(chosen.action) if chosen.action in actions else 0
        # Until it changes something: much that is drawn is refused.
        for _ in range(3):
            mine, _ = forms_of(first, chosen.page, self.rng, NEVER)
            if not mine or [form.action for form in mine] != actions:
                return "no form"
            mine[at].send()
            shown = forms_of(second, chosen.page, self.rng, NEVER)[0]
            # Several may go to one address: each report has its own answer.
            if theirs[at].shown not in [form.shown for form in shown if form.action == actions[at]]:
                break
        else:
            return f"{actions[at]} changed nothing that it shows"
        before = rows_by_table()
        theirs[at].send()
        after = rows_by_table()
        # A session keeps the sentence that says so.
        changed = [table for table, rows in after.items() if rows != before[table]]
        changed = [table for table in changed if not table.endswith("session")]
        self.life.seen["a page out of date was sent"] += 1
        if changed and not ADDS.search(theirs[at].kind):
            found = f"page out of date overwrote: {theirs[at].kind} {changed[:2]}"
            self.life.said.faults.append(found)
        return f"{actions[at]} {changed}"

    def _form_of(self, page: str, wanted: str) -> Form | None:
        browser = self.rng.choice(self.life.browsers)
        forms = [one for one in forms_of(browser, page, self.rng, NEVER)[0] if wanted in one.action]
        return self.rng.choice(forms) if forms else None

    def _sent(self, form: Form) -> str:
        self._page_trouble()
        return f"{form.action} {form.send().status_code}"

    def _of(self, page: str, wanted: str) -> str:
        """Send a form of one page."""
        form = self._form_of(page, wanted)
        return self._sent(form) if form else f"no form at {page}"

    def publish(self) -> str:
        """Publish what is a draft, or open and close its stages; it costs what the page says."""
        self.life.collection.refresh_from_db()
        if self.life.collection.state == "draft" or self.rng.random() < 0.3:
            page, wanted = f"{OWN}publish/", "publish"
        else:
            page, wanted = f"{OWN}stages/{self.rng.choice(self.life.stages).name}/open/", "open"
        form = self._form_of(page, wanted)
        if form is None:
            return f"no form at {page}"
        if self.rng.random() < 0.3:
            # The page is shown, then a colleague changes what it costs.
            self._raise_cost()
        elif self.rng.random() < 0.3:
            self.life.meanwhile = self._raise_cost
            self.life.trouble = Trouble(pauses_at=self._moment(12))
        n_open = self._n_open()
        n_said = self.life.collection.revisions.filter(key="maximum_cents").count()
        told = self._sent(form)
        if self._n_open() > n_open:
            shown = int(dict(form.fields).get("maximum", 0))
            if self.life.said.maximum is None:
                self.life.said.maximum = shown
            changes = self.life.collection.revisions.filter(key="maximum_cents")[n_said:]
            if any(each.old == shown and each.by.startswith("new seeds") for each in changes):
                self.life.said.faults.append("cost: opened for more than its page said")
        return told

    def _raise_cost(self) -> None:
        if self.rng.random() < 0.3:
            self._of(f"{OWN}seeds/", "choose")
        elif form := self._form_of(f"{OWN}change/", "change"):
            pay = [(name, value) for name, value in form.fields if "reward" in name and value]
            if pay:
                name, value = self.rng.choice(pay)
                form = form.but(**{name: f"{float(value) + 0.5:.2f}"})
            form.send()

    def _n_open(self) -> int:
        return sum(stage.state == "open" for stage in self.life.stages)

    def exclude(self) -> str:
        """Leave out everything by somebody, or take that back."""
        from annotation.dashboard.worker_names import people_of

        number = self.rng.randint(1, 5)
        if (tab := self.life.last) and self.rng.random() < 0.6:
            number = people_of(self.life.collection).number(self.life.lease(tab).worker_id) or 1
        return self._of(f"{OWN}workers/{number}/", "leave-out")

    def answer_report(self) -> str:
        """Answer a problem report, mostly with a little money."""
        return self._of(f"{OWN}problems/", "answer")

    def reject(self) -> str:
        """Propose, confirm or take back a rejection, reward, or approve."""
        from tasks.models import Rejection, Session, Submission

        begun = Rejection.objects.exclude(state="withdrawn").values_list("session", flat=True)
        waiting = Submission.objects.filter(state="confirmed").values_list(
            "lease__session", flat=True
        )
        every = Session.objects.values_list("pk", flat=True)
        of_one = every.filter(leases=self.life.last.lease) if self.life.last else every
        for keys in self.rng.sample((begun, of_one, waiting, every), 4):
            if found := list(keys.order_by("pk")):
                return self._of(f"{OWN}money/work/{self.rng.choice(found)}/", "decide")
        return "nothing"

    def let_in(self) -> str:
        """Decide about the tests that were handed in, on their pages."""
        from tasks.models import Grant

        told = []
        waiting = Grant.objects.filter(state="submitted").order_by("pk")
        for number, grant in enumerate(waiting.select_related("qualification__stage")):
            if number < 5:
                page = f"{OWN}qualification/{grant.qualification.stage.name}/"
                told.append(self._granted(page))
        return " ".join(told) or "nobody"

    def _granted(self, page: str) -> str:
        """Decide about the one that waits longest, which the page shows."""
        browser = self.rng.choice(self.life.browsers)
        for form in forms_of(browser, page, self.rng, NEVER)[0]:
            if form.action.endswith("decide/"):
                good = "grant" if self.rng.random() < 0.9 else "decline"
                decided = form.but(decision=good, note="Because.")
                return f"{good} {decided.send().status_code}"
        return "no form"

    def host(self) -> str:
        """Fill in a form of the marketplace's desk."""
        return self._fill_in(self.life.host, self._pages_of_host(), "/desk/")

    def _pages_of_host(self) -> list[str]:
        from marketplace.models import Requester

        pages = ["requesters/", "workers/", "payouts/", "settings/", "groups/", "invitations/", ""]
        pages += [f"workers/{each.worker.pk}/" for each in self.life.workers]
        keys = Requester.objects.order_by("pk").values_list("pk", flat=True)
        return [f"/desk/{page}" for page in [*pages, *(f"requesters/{key}/" for key in keys)]]

    def desk(self) -> str:
        """Fill in a form of the desk of Leo's account: projects, batches, bonuses, letters."""
        return self._fill_in(self.life.desk, self._pages_of_desk(), "/desk/")

    def _pages_of_desk(self) -> list[str]:
        from marketplace.models import Batch, Project

        pages = ["projects/", "hits/", "asked/", "letters/", "account/", "team/", "events/"]
        keys = Project.objects.order_by("pk").values_list("pk", flat=True)
        pages += [f"projects/{key}/" for key in keys]
        for key in Batch.objects.order_by("pk").values_list("pk", flat=True)[:3]:
            pages += [f"batches/{key}/", f"batches/{key}/", f"batches/{key}/bonuses/"]
        return [f"/desk/{page}" for page in pages]

    def decide_batch(self) -> str:
        """Send a batch's results back with decisions in them."""
        from marketplace.models import Batch
        from marketplace.tests.desk import rows_in, text_with

        batches = list(Batch.objects.exclude(published_at=None).order_by("pk"))
        if not batches:
            return "no batch is published"
        page = f"/desk/batches/{self.rng.choice(batches).pk}/"
        reply = self.life.desk.get(f"{page}results.csv")
        if reply.status_code != 200:
            return "no results: nobody is signed in"
        rows = rows_in(reply)
        for row in rows:
            # Both, or neither, is told in a sentence.
            for name, word in (("Approve", "x"), ("Reject", "Because.")):
                row[name] = word if self.rng.random() < 0.5 else ""
        if not rows:
            return "no results"
        for form in forms_of(self.life.desk, page, self.rng, NEVER)[0]:
            if form.action.endswith("decisions/"):
                return self._sent(form.but(carried=text_with(rows), apply="1"))
        return f"no form at {page}"

    def program(self) -> str:
        """Call an operation of the requester API, by a program that knows nothing of Collector."""
        from tests.simulator.programs import call

        if self.rng.random() < 0.3:
            # Two processes that look at once both find something due.
            self._wait_until_due(2)
            if not self.life.is_paused:
                self.life.trouble = Trouble(pauses_at=self._moment(12))
        else:
            self._page_trouble()
        return call(self.life)

    def work_for_program(self) -> str:
        """Do a HIT of that program or of a batch, or take it and leave."""
        from marketplace.models import HIT
        from marketplace.tests.visitor import Frame

        open_hits = HIT.objects.filter(requester__name="Leo", n_open__gt=0).order_by("pk")
        if not open_hits:
            return "no HIT"
        visitor = self.rng.choice(self.life.workers)
        hit = self.rng.choice(list(open_hits))
        self._page_trouble()
        reply = self.life.press(visitor, f"/hits/{hit.hit_id}/accept/")
        if reply is None:
            return f"nobody is {visitor.name} any more"
        path = reply.request["PATH_INFO"]
        if not path.startswith("/work/"):
            return f"{visitor.name}: not accepted"
        if self.rng.random() < 0.2:
            return f"{visitor.name} leaves {path}"
        try:
            frame = Frame(reply)
        except AssertionError:
            return f"{visitor.name}: no frame"
        if hit.question.startswith("<HTMLQuestion"):
            return f"{visitor.name} {path} {frame.submit(answer='yes').status_code}"
        forms, _ = forms_of(visitor.client, urlsplit(frame.url).path, self.rng, NEVER)
        return f"{visitor.name} {path} {[form.send().status_code for form in forms[:1]]}"

    def merge(self) -> str:
        """Make two accounts of one person one, while work of the second is being approved."""
        from marketplace.models import Assignment, Worker
        from marketplace.tests.visitor import Visitor

        people = [visitor.worker for visitor in self.life.workers]
        work = Assignment.objects.filter(state="submitted", worker__in=people).order_by("pk")
        if not work or self.life.is_paused:
            return "no work to approve"
        row = self.rng.choice(list(work.select_related("hit__requester", "worker")))
        second, at = row.worker, people.index(row.worker)
        kept = people[at - 1]

        def merge() -> None:
            page = f"/desk/workers/{kept.pk}/"
            for form in forms_of(self.life.host, page, self.rng, NEVER)[0]:
                if form.action.endswith("merge/"):
                    form.but(second=second.worker_id).send()
            if Worker.objects.get(pk=second.pk).merged_into_id:
                self.life.seen["an approval during a merge of accounts"] += 1
                # Whoever comes under that name again has a new account.
                self.life.workers[at] = Visitor(self.life.workers[at].name)

        self.life.meanwhile = merge
        self.life.trouble = Trouble(pauses_at=self._moment(15))
        is_ours = row.hit.requester.name == "Rita"
        return approve(row.assignment_id, is_ours=is_ours)

    def command(self) -> str:
        """Run a command of a requester's day."""
        from tests.simulator.programs import run_command

        return run_command(self.life)

    def erase(self) -> str:
        """Forget a person who asks for it; mostly they withdraw what they gave."""
        from common.actions import ActionError
        from tasks.models import Worker
        from tasks.people.erasure import forget

        if self.life.is_paused:
            return "not while somebody is in the middle of something"
        rows = list(Worker.objects.filter(identity__isnull=False).order_by("created_at", "pk"))
        self.rng.shuffle(rows)
        if self.life.last and self.rng.random() < 0.5:
            mine = self.life.lease(self.life.last).worker_id
            rows.sort(key=lambda row: row.pk != mine)
        withdraw, told = self.rng.random() < 0.7, "nobody asks"
        # Who is at work or waits for money is told to come again; then somebody else asks.
        for worker in rows:
            try:
                forget(worker, TIME.now(), withdraw=withdraw)
            except ActionError as error:
                told = str(error)[:40]
            else:
                return "forgotten"
        return told

    # Jobs and time.
    def _process(self) -> str:
        free = [name for name in JOBS if not self.life.site.processes[name].is_busy]
        return self.rng.choice(free)

    def jobs(self) -> str:
        """Let one of the two job processes look at what is due."""
        return self.life.round(self._process())

    def jobs_unheard(self) -> str:
        """The same, while replies of the marketplace are lost or come twice."""
        return self.life.round(self._process(), Trouble(loss=0.3))

    def jobs_die(self) -> str:
        """The same, and it dies between two of its statements."""
        if not self.life.site.can_bear:
            return "not again"
        return self.life.round(self._process(), Trouble(dies_at=self._moment(80)))

    def jobs_interrupted(self) -> str:
        """The same, and somebody acts between two of its statements."""
        return self.life.round(self._process(), Trouble(pauses_at=self._moment(120)))

    def rest(self) -> str:
        """Let one of the processes look some minutes long, unhindered."""
        from tasks.work.due_work import due

        process = self._process()
        for seconds in (301, 301, 3):
            self.life.advance(seconds)
            self.life.round(process)
        # What a round did is looked at in the next one.
        self.life.is_at_rest = not self.life.is_paused and not due(TIME.now())
        return process

    def wait(self) -> str:
        """Let time go by: some seconds to days, or to just before or after something is due."""
        if self.rng.random() < 0.5:
            return self._wait_until_due(self.rng.choice((-20, 2, 30)))
        seconds = self.rng.choice((5, 5, 60, 600, 1800, 3900, 3 * 3600, 30 * 3600))
        self.life.advance(seconds)
        return f"{seconds} s"

    def _wait_until_due(self, after: float) -> str:
        """Let time go by until so many seconds after something is due."""
        due = self._due()
        if self.life.last and self.rng.random() < 0.4:
            ends = self.life.lease(self.life.last).expires_at, self.life.last.until
            due = [one for one in ends if one and one > TIME.now()] or due
        seconds = (self.rng.choice(due) - TIME.now()).total_seconds() + after if due else 5
        self.life.advance(seconds)
        return f"{seconds:.0f} s"

    def _due(self) -> list[datetime]:
        """Return the moments ahead at which something of this world changes by itself."""
        from collector.models import Collection
        from marketplace.models import HIT, Assignment
        from tasks.models import Lease, Posting, Rejection, Session

        now, found = TIME.now(), set()
        for rows, name in (
            (Lease.objects.filter(state="live"), "expires_at"),
            (Session.objects.all(), "signed_until"),
            (Rejection.objects.all(), "holds_until"),
            (Posting.objects.filter(state="live"), "expires_at"),
            (Assignment.objects.all(), "auto_approval_at"),
            (Assignment.objects.filter(state="accepted"), "deadline"),
            (HIT.objects.all(), "expires_at"),
            (Collection.objects.all(), "look_at"),
        ):
            if name in {field.name for field in rows.model._meta.fields}:
                found.update(rows.filter(**{f"{name}__gt": now}).values_list(name, flat=True))
        # Weeks ahead seldom: everything is over then.
        most = now + timedelta(days=20 if self.rng.random() < 0.05 else 1)
        return [one for one in sorted(found) if one < most][:6]
