/** The validation page: a finished dialog's questions in order, each answer given for good. */

import { Page, readState } from "./page/page.js";
import { readInParagraphs } from "./text/paragraphs.js";
import { Reader } from "./text/reader.js";
import { isWhole } from "./widgets/checklist.js";
import { Questions } from "./widgets/questions.js";
import { blankReply, partsOf, Reply } from "./widgets/reply.js";

const find = (selector) => document.querySelector(selector);

class ValidationPage {
  constructor(state) {
    Object.assign(this, { state, items: state.items, orderedAnswers: state.ordered_answers });
    this.page = new Page(state, this);
    this.#build();
    this.restore(state.draft);
    this.page.start();
    this.#keys();
  }

  #build() {
    const { history, announcer } = this.page;
    this.reader = new Reader(find("[data-document-text]"), {
      document: "section", label: "Section",
      on: {
        mark: (span) => this.reply.mark(span),
        unmark: () => this.reply.clear(),
        selected: (text) => announcer.say(`Selected: ${text}`),
        selecting: (span) => this.reply.selecting(span),
      },
    });
    this.reply = new Reply(find("[data-widget=reply]"), {
      most: this.state.limits.max_span_tokens, continuation: this.state.limits.continuation, history, announcer,
      on: {
        change: () => this.#changed(),
        leave: (field) => this.#left(field),
        sentence: (number) => this.reader.sentence(number),
        back: () => this.reader.element.focus(),
      },
    });
    this.slots = new Questions(find("[data-widget=questions]"), this.items.length, { open: (index) => this.open(index) });
    this.button = find("[data-action=give]");
    this.button.addEventListener("click", () => this.forward());
    find("[data-action=previous]").addEventListener("click", () => this.open(this.index - 1));
  }

  #keys() {
    const { keys } = this.page;
    keys.on("[", () => this.open(this.index - 1)).on("]", () => this.open(this.index + 1));
    // An answer is given for good: one key leads to the button, Enter presses it.
    keys.on("n", () => (this.#isGiven(this.index) ? this.open(this.index + 1) : this.button.focus()));
    keys.on("t", () => this.reader.element.focus());
    keys.on("s", () => this.reply.sentence.focus());
    for (const digit of "123456789") keys.on(digit, () => this.reply.sentence.focus(digit));
    this.reply.listen(keys);
    keys.chord("Enter", () => this.forward(), { inFields: true });
  }

  /** Put a draft on the page: {data, ui} or null; what was given comes from the server alone. */
  restore(draft) {
    const saved = new Map((draft?.data?.answers ?? []).map((answer) => [answer.item, answer]));
    this.answers = this.items.map(({ id }) => ({ item: id, ...blankReply(), ...saved.get(id) }));
    this.#take(this.orderedAnswers);
    this.index = -1;
    this.open(this.#next());
  }

  /** The server's own word on what was given, and the next question. */
  #take(orderedAnswers) {
    this.orderedAnswers = orderedAnswers;
    for (const { item, own } of orderedAnswers) {
      const answer = this.answers.find((each) => each.item === item);
      if (own) Object.assign(answer, own);
    }
  }

  #isGiven(index) {
    return Boolean(this.orderedAnswers[index]?.own);
  }

  /** The first question that is not answered for good; the last one when all are. */
  #next() {
    const open = this.orderedAnswers.findIndex(({ own }) => !own);
    return open < 0 ? this.orderedAnswers.length - 1 : open;
  }

  /** What is on the page, as the server wants it. */
  collect() {
    return { data: { answers: this.answers }, ui: {}, refs: this.answers };
  }

  open(index) {
    if (index < 0 || index >= this.orderedAnswers.length || index === this.index) return;
    this.index = index;
    this.now = this.answers[index];
    this.#read();
    this.reply.lock(false);
    this.reply.show(this.now);
    this.reply.lock(this.#isGiven(index));
    this.page.history.clear();
    find("[data-question]").textContent = this.orderedAnswers[index].question;
    find("[data-question-label]").textContent = `Question ${index + 1} of ${this.items.length}`;
    find("[data-panel-title]").textContent = this.#isGiven(index) ? `Your answer ${index + 1}` : `Answer ${index + 1}`;
    this.#showCourse();
    this.checked();
  }

  /** Show the section of the item; items of one dialog share theirs. */
  #read() {
    const at = this.items.findLastIndex(({ passage }, index) => passage && index <= this.index);
    const { passage } = this.items[at];
    if (this.passage === passage) return;
    this.passage = passage;
    for (const element of [find("[data-background]"), find("[data-document-title]"), find("[data-question]")]) {
      Object.assign(element, { lang: passage.lang, dir: passage.dir });
    }
    find("[data-document-title]").textContent = passage.title;
    find("[data-document-section]").textContent = passage.section;
    find("[data-background]").textContent = passage.background;
    readInParagraphs(this.reader, this.reader.element, passage);
    this.reply.read(passage);
    window.scrollTo(0, 0);
  }

  /** What was asked and answered before the question that is open, in its own section. */
  #showCourse() {
    const first = this.items.findLastIndex(({ passage }, index) => passage && index <= this.index);
    const before = this.orderedAnswers.slice(first, this.index).filter(({ teacher }) => teacher);
    const list = find("[data-turns]");
    list.replaceChildren(...before.map((turn) => this.#turn(turn)));
    find("[data-so-far]").hidden = !before.length;
    list.scrollTop = list.scrollHeight;
    const { teacher } = this.orderedAnswers[this.index];
    const note = find("[data-given-note]");
    note.hidden = !this.#isGiven(this.index);
    note.textContent = teacher ? `Given. The teacher answered: ${words(teacher)}` : "Given: it stays as it is.";
  }

  #turn({ question, teacher }) {
    const item = document.createElement("li");
    const said = Object.assign(document.createElement("span"), { className: "said", textContent: words(teacher) });
    item.append(Object.assign(document.createElement("span"), { textContent: question }), said);
    for (const element of item.children) element.dir = this.passage.dir;
    return item;
  }

  /** Give the answer that is open, or go on to the next question. */
  async forward() {
    if (this.#isGiven(this.index)) return this.open(this.index + 1);
    if (this.busy) return undefined;
    this.busy = true;
    this.button.setAttribute("aria-disabled", "true");
    try {
      return this.#answered(await this.page.api.post("answer", { item: this.now.item, answer: this.now }));
    } catch {
      return this.page.messages.tell("Not given: the server could not be reached. Nothing is lost; press Give this answer again.");
    } finally {
      this.busy = false;
      this.#showProgress();
    }
  }

  #answered({ status, body }) {
    if (status === 422) {
      this.page.messages.receive(body, this.answers.map((ref) => ({ ref, sent: structuredClone(ref) })));
      this.page.messages.leaveAll(this.now);
      return this.checked();
    }
    if (!body.ordered_answers) return this.page.messages.tell(body.message ?? "Not given: the server refused it without a reason. Nothing is lost; press again.");
    const given = this.index;
    this.#take(body.ordered_answers);
    this.page.touch();
    this.index = -1;
    this.open(this.#next());
    const { teacher } = this.orderedAnswers[given];
    const question = this.index === given ? "That was the last question: submit." : `Question ${this.index + 1}: ${this.orderedAnswers[this.index].question}`;
    this.page.announcer.say(`${teacher ? `The teacher answered: ${words(teacher)}. ` : ""}${question}`);
    return undefined;
  }

  #changed() {
    this.checked();
    this.page.touch();
  }

  #left(field) {
    this.page.messages.leave(this.now, field);
    this.checked();
  }

  go(answer, field) {
    const index = this.answers.indexOf(answer);
    this.open(index < this.orderedAnswers.length ? index : this.#next());
    this.reply.focus(field);
  }

  name(answer) {
    return `Question ${this.answers.indexOf(answer) + 1}`;
  }

  /** Something changed, or new advice came. */
  checked() {
    this.reader.show("answer", this.reply.ranges);
    const [told] = this.orderedAnswers.slice(0, this.#isGiven(this.index) ? this.index + 1 : this.index).slice(-1);
    const spans = this.#samePassage(told) ? told.teacher?.spans ?? [] : [];
    this.reader.show("teacher", spans.map(({ start, end }) => ({ start, end, classes: ["teacher-mark"] })));
    this.page.messages.show(this.now, this.reply.fields);
    this.slots.show(this.orderedAnswers.map((turn, index) => this.#slot(turn, index)), this.index);
    this.#showProgress();
  }

  #samePassage(turn) {
    const index = this.orderedAnswers.indexOf(turn);
    return index >= 0 && !this.items.slice(index + 1, this.index + 1).some(({ passage }) => passage);
  }

  #slot({ question, own }, index) {
    const open = index === this.index && this.answers[index].type ? "open" : "";
    return { words: question, place: "", lang: this.passage.lang, state: own ? "done" : open };
  }

  #showProgress() {
    const given = this.orderedAnswers.filter(({ own }) => own).length;
    this.page.progress(`${given} of ${this.items.length} answered`, given, this.items.length);
    const all = given === this.items.length;
    const last = this.#isGiven(this.index) && this.index === this.orderedAnswers.length - 1;
    this.button.firstChild.textContent = this.#isGiven(this.index) ? "Next question " : "Give this answer ";
    const parts = partsOf(this.now, this.state.limits.continuation);
    this.page.checklist.show(parts);
    const whole = isWhole(parts);
    this.button.setAttribute("aria-disabled", String(Boolean(this.busy) || last || (!whole && !this.#isGiven(this.index))));
    this.page.primary(all ? find("[data-action=submit]") : this.button);
  }
}

/** What a teacher answered, in words. */
function words({ type, spans, affirmation }) {
  const act = { yes: "Yes. ", no: "No. " }[affirmation] ?? "";
  return type === "none" ? "no answer" : `${act}“${spans[0]?.text ?? ""}”`;
}

new ValidationPage(readState());
