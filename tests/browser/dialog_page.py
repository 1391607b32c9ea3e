"""A person in a live dialog, under their own mouse and keyboard."""

from dataclasses import dataclass

from playwright.sync_api import Frame, WebSocketRoute, expect

from tests.browser.person import Person

PATIENCE_MS = 30_000


@dataclass(frozen=True)
class Said:
    """A question and its answer as they were meant: what the rows must say."""

    question: str
    answer: str | None
    affirmation: str
    continuation: str


class Talker:
    """One partner at the dialog page."""

    def __init__(self, person: Person) -> None:
        self.person = person

    @property
    def frame(self) -> Frame:
        """Return the page in its frame, also after a reload."""
        return self.person.frame

    @property
    def role(self) -> str:
        """Return student or teacher."""
        return self.frame.get_attribute("body", "data-role") or ""

    @property
    def section(self) -> list[str]:
        """Return the words of the section."""
        return self.person.texts("section")[0].split(" ")

    def over_paragraphs(self, n_words: int) -> tuple[str, str]:
        """Return the last words of the section's first paragraph, the first of its second."""
        first, second = (text.split(" ") for text in self.person.texts("section")[:2])
        return " ".join(first[-n_words:]), " ".join(second[:n_words])

    def wait_for(self, phase: str) -> None:
        """Wait until the page is in this phase."""
        self.frame.wait_for_selector(f"body[data-phase={phase}]", timeout=PATIENCE_MS)

    def wait_for_move(self, words: str) -> None:
        """Wait until the page says whose move it is in these words."""
        title = self.frame.locator("[data-move-title]")
        expect(title).to_contain_text(words, timeout=PATIENCE_MS)

    def say_here(self) -> None:
        """Say that one is here."""
        self.wait_for("checking")
        self.person.click("[data-action=ready]")

    def write(self, question: str) -> None:
        """Write a question without sending it."""
        self.person.click("[data-question]")
        self.person.type(question)

    def ask(self, said: Said) -> None:
        """Write a question and send it."""
        self.write(said.question)
        self.person.key("Enter")

    def fill(self, said: Said) -> None:
        """Mark the answer and choose both acts, by mouse."""
        if said.answer is None:
            self.person.click(".none")
        else:
            self.person.drag("section", said.answer)
        self.act(said)

    def act(self, said: Said) -> None:
        """Choose both acts."""
        for name in ("affirmation", "continuation"):
            value = getattr(said, name)
            self.person.click(f"[data-field={name}] .card:has([value={value}])")

    def answer(self, said: Said) -> None:
        """Give the answer."""
        self.fill(said)
        self.person.click("[data-action=answer]")


def pair(one: Person, other: Person, title: str) -> tuple[Talker, Talker]:
    """Bring two people into a dialog; return the student and the teacher."""
    talkers = []
    for person in (one, other):
        person.begin(title)
        talkers.append(Talker(person))
    for talker in talkers:
        talker.say_here()
    for talker in talkers:
        talker.wait_for("talking")
    talkers.sort(key=lambda talker: talker.role)
    student, teacher = talkers
    assert (student.role, teacher.role) == ("student", "teacher")
    return student, teacher


class Cable:
    """A person's line to the live pages, which can be cut and joined again."""

    def __init__(self, person: Person) -> None:
        self.is_cut = False
        self._open: list[WebSocketRoute] = []
        person.page.route_web_socket("**/hit/socket", self._connect)

    def _connect(self, line: WebSocketRoute) -> None:
        if self.is_cut:
            line.close()
            return
        line.connect_to_server()
        self._open.append(line)

    def cut(self) -> None:
        """Cut the line; it cannot be opened again."""
        self.is_cut = True
        while self._open:
            self._open.pop().close()

    def join(self) -> None:
        """Let the page open the line again."""
        self.is_cut = False
