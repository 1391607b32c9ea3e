/** The answer page: find the answer to each question in the passage and its linked articles. */

import { Page, readState } from "./page/page.js";
import { Answer, blankAnswer, partsOf } from "./widgets/answer.js";
import { Article } from "./widgets/article.js";
import { following, isWhole } from "./widgets/checklist.js";
import { Opened } from "./widgets/opened.js";
import { Questions } from "./widgets/questions.js";
import { Tip } from "./widgets/tip.js";

const find = (selector) => document.querySelector(selector);

class AnswerPage {
  constructor(state) {
    this.state = state;
    this.items = state.items;
    this.page = new Page(state, this);
    this.#build();
    this.restore(state.draft);
    this.page.start();
    this.#keys();
  }

  #build() {
    const { api, history, announcer } = this.page;
    this.tip = new Tip();
    this.article = new Article(find("[data-widget=article]"), {
      api,
      on: {
        mark: (span) => this.answer.mark(span),
        unmark: (key) => this.answer.unmark(key),
        hover: (title, element) => this.tip.show(title, element),
        selected: (text) => announcer.say(`Selected: ${text}`),
        shown: (tab) => this.#shown(tab),
        failed: (sentence) => this.page.messages.tell(sentence),
      },
    });
    this.answer = new Answer(find("[data-widget=answer]"), {
      history, announcer,
      on: {
        change: () => this.#changed(),
        sentence: (number) => this.article.current.reader.sentence(number),
        name: (name) => ({ main: "passage", question: "question" })[name] ?? name,
        leave: (field) => this.#left(field),
        back: () => this.article.focus(),
        may: (type) => type !== "none" || this.opened.may(),
      },
    });
    this.opened = new Opened({
      dialogs: this.page.dialogs, place: find("[data-opened]"),
      on: { open: (title) => this.article.open(title), sure: () => { this.answer.choose("none"); this.page.touch(); } },
    });
    this.slots = new Questions(find("[data-widget=questions]"), this.items.length, {
      open: (index) => this.open(index),
    });
    this.next = find("[data-action=next]");
    this.next.addEventListener("click", () => this.goOn());
    find("[data-action=previous]").addEventListener("click", () => this.open(this.index - 1));
  }

  #keys() {
    const { keys } = this.page;
    keys.on("[", () => this.open(this.index - 1)).on("]", () => this.open(this.index + 1));
    keys.on("t", () => this.article.focus());
    keys.on("p", () => this.article.turn()).on("c", () => this.article.close());
    keys.on("f", () => this.article.finder.input.focus());
    keys.on("n", () => this.goOn());
    for (const [key, type] of Object.entries({ v: "value", u: "none", b: "bad" })) {
      keys.on(key, () => { this.answer.choose(type); this.answer.enter(); });
    }
    for (const [key, word] of Object.entries({ y: "yes", o: "no" })) keys.on(key, () => this.answer.say(word));
    keys.on("a", () => this.answer.take("spans")).on("e", () => this.answer.take("context"));
    keys.on("s", () => this.#sentenceField().focusNumber());
    for (const digit of "123456789") keys.on(digit, () => this.#sentenceField().focusNumber(digit));
    keys.chord("Enter", () => { this.goOn(); this.article.focus(); }, { inFields: true });
  }

  #sentenceField() {
    return this.answer.target === "spans" && this.answer.answer.type === "span" ? this.answer.spans : this.answer.context;
  }

  /** Put a draft on the page: {data, ui} or null. */
  restore(draft) {
    const saved = new Map((draft?.data?.answers ?? []).map((answer) => [answer.item, answer]));
    this.answers = this.items.map((item) => ({ ...blankAnswer(item.id), ...saved.get(item.id) }));
    this.opened.restore(draft?.ui);
    this.index = -1;
    this.open(this.items.findIndex((item) => item.id === draft?.ui?.item));
  }

  /** What is on the page, as the server wants it. */
  collect() {
    return { data: { answers: this.answers }, ui: { item: this.items[this.index].id, ...this.opened.kept }, refs: this.answers };
  }

  /** To the next question, or from the last to one that is not complete. */
  goOn() {
    const next = this.#following;
    if (next >= 0) this.open(next);
  }

  get #following() {
    return following(this.index, this.answers.map((answer) => this.#stateOf(answer)));
  }

  open(index) {
    const wanted = Math.max(0, index);
    if (wanted >= this.items.length || wanted === this.index) return;
    if (this.now) this.page.messages.leaveAll(this.now);
    this.index = wanted;
    this.now = this.answers[wanted];
    this.opened.show(this.items[wanted]);
    this.answer.show(this.now);
    find("[data-panel-title]").textContent = `Answer ${wanted + 1}`;
    find("[data-question-label]").textContent = `Question ${wanted + 1} of ${this.items.length}`;
    // A draft that comes late leaves alone what is read and searched in.
    if (this.article.item !== this.items[wanted]) this.article.fill(this.items[wanted]);
    this.show();
    this.page.touch();
  }

  #changed() {
    this.show();
    this.page.touch();
  }

  #left(field) {
    this.page.messages.leave(this.now, field);
    this.checked();
  }

  go(answer, field) {
    this.open(this.answers.indexOf(answer));
    this.answer.focus(field);
  }

  name(answer) {
    return `Question ${this.answers.indexOf(answer) + 1}`;
  }

  /** New advice came: it may have completed an answer, or reopened one. */
  checked() {
    this.#showMessages();
    this.#showSlots();
    this.#showProgress();
  }

  #shown(tab) {
    const { writer_links: wanted = [], writer_context: context = [] } = this.items[this.index];
    if (tab.name === "main") {
      tab.reader.links((link) => {
        if (link.readable === false) link.inert = true;
        return wanted.includes(link.title) ? "writer" : "";
      });
      tab.reader.show("writer", context.map(({ start, end }) => ({ start, end, classes: ["writer-mark"] })));
    }
    if (tab.name !== "main" && this.opened.add(tab.name)) this.page.touch();
    this.#showMarks();
  }

  #showMarks() {
    const { spans, context, type } = this.now;
    const shown = [
      ["answer", type === "span" ? spans : [], "answer-mark", "spans"],
      ["context", type === "none" || type === "bad" ? [] : context, "evidence", "context"],
    ];
    for (const reader of this.article.readers) {
      for (const [layer, list, look, name] of shown) {
        reader.show(layer, list
          .map((span, index) => ({ ...span, classes: [look], data: { mark: `${name}:${index}` } }))
          .filter((span) => span.document === reader.name)
          .map(({ start, end, classes, data }) => ({ start, end, classes, data })));
      }
    }
  }

  show() {
    this.#showMarks();
    this.checked();
  }

  #showProgress() {
    const done = this.answers.filter((answer) => this.#stateOf(answer) === "done").length;
    this.page.progress(`${done} of ${this.items.length} answered`, done, this.items.length);
    this.next.setAttribute("aria-disabled", String(this.#following < 0));
    this.page.primary(done >= this.items.length ? find("[data-action=submit]") : this.next);
  }

  #stateOf(answer) {
    const problem = this.page.messages.hasProblem(answer);
    if (answer !== this.now && problem && this.page.messages.wasLeft(answer, "*")) return "wrong";
    if (isWhole(partsOf(answer)) && !problem) return "done";
    return answer.type ? "open" : "";
  }

  #showSlots() {
    const entries = this.items.map((item, index) => ({
      words: item.question, place: "", lang: item.passage.lang, state: this.#stateOf(this.answers[index]),
    }));
    this.slots.show(entries, this.index);
  }

  #showMessages() {
    const fields = new Map();
    for (const element of this.answer.root.querySelectorAll("[data-field]")) fields.set(element.dataset.field, element);
    this.page.messages.show(this.now, fields);
    this.page.checklist.show(partsOf(this.now));
  }
}

new AnswerPage(readState());
