/** What was said so far, in the order of saying; what is new is added and nothing is drawn anew. */

const acts = {
  yes: "Yes", no: "No", follow_up: "Ask more about this", maybe: "Maybe ask more", dont: "Don’t ask more",
};

export class Log {
  constructor(element) {
    this.element = element;
    this.dialog = null;
    // When the room for it changes, its end stays in sight.
    new ResizeObserver(() => { element.scrollTop = element.scrollHeight; }).observe(element);
  }

  /** dialog: as the server tells it. */
  show(dialog) {
    if (this.dialog !== dialog.id) {
      this.dialog = dialog.id;
      this.said = 0;
      this.advice = new Map();
      this.element.replaceChildren();
    }
    const lines = dialog.turns.flatMap((turn) => turn.answer ? [question(turn, dialog), answer(turn, dialog)] : [question(turn, dialog)]);
    const added = lines.slice(this.said);
    this.said = lines.length;
    this.element.append(...added);
    this.#showAdvice();
    if (added.length) this.element.scrollTop = this.element.scrollHeight;
  }

  /** Say something kind beside a question of one's own, also where the question is not here yet. */
  advise(dialog, number, words) {
    if (this.dialog !== dialog) return;
    this.advice.set(number, words);
    const atEnd = this.element.scrollTop + this.element.clientHeight >= this.element.scrollHeight - 2;
    this.#showAdvice();
    if (atEnd) this.element.scrollTop = this.element.scrollHeight;
  }

  #showAdvice() {
    for (const [number, words] of this.advice) {
      // A question and its answer are a line each.
      const item = this.element.children[2 * number];
      if (!item) continue;
      item.append(make("p", "talk-advice", words));
      this.advice.delete(number);
    }
  }
}

function question(turn, { role, language, direction }) {
  const item = line("question", role === "student");
  item.append(
    make("p", "talk-who", `${role === "student" ? "You" : "Student"}, question ${turn.number + 1}`),
    words(turn.question, { language, direction }),
  );
  return item;
}

function answer({ answer: said }, { role, language, direction }) {
  const item = line("answer", role === "teacher");
  item.append(make("p", "talk-who", role === "teacher" ? "You" : "Teacher"));
  if (said.text === null) item.append(make("p", "talk-none", "The text does not say."));
  else item.append(words(said.text, { language, direction }));
  const shown = [acts[said.affirmation], acts[said.continuation]].filter(Boolean);
  const row = make("p", "talk-tags");
  row.append(...shown.map((act) => make("span", "talk-tag", act)));
  item.append(row);
  return item;
}

function line(kind, mine) {
  return make("div", `talk-line talk-${kind}${mine ? " is-mine" : ""}`);
}

function words(text, { language, direction }) {
  const element = make("p", "talk-words", text);
  element.lang = language;
  element.dir = direction;
  return element;
}

function make(tag, className, textContent = "") {
  return Object.assign(document.createElement(tag), { className, textContent });
}
