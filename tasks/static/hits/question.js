/** The question page: write questions that need a paragraph and the articles it links to. */

import { Page, readState } from "./page/page.js";
import { isWhole } from "./widgets/checklist.js";
import { Links } from "./widgets/links.js";
import { Passages } from "./widgets/passages.js";
import { Questions } from "./widgets/questions.js";
import { Spans } from "./widgets/spans.js";
import { hasWords, TextField } from "./widgets/text.js";
import { Tip } from "./widgets/tip.js";

const find = (selector) => document.querySelector(selector);

class QuestionPage {
  constructor(state) {
    this.state = state;
    this.limits = state.limits;
    this.items = state.items;
    this.questions = [];
    this.page = new Page(state, this);
    this.#build();
    this.restore(state.draft);
    this.page.start();
    this.#keys();
  }

  #build() {
    const { history, announcer } = this.page;
    this.tip = new Tip();
    this.passages = new Passages(find("[data-widget=passages]"), this.items, {
      go: (item) => this.goToItem(item),
      mark: (span) => this.#mayWrite() && this.context.add(span),
      unmark: (key) => this.context.remove(Number(key.split(":")[1])),
      link: (title) => this.#mayWrite() && this.links.toggle(title),
      hover: (title, element) => this.#hover(title, element),
      selected: (text) => announcer.say(`Selected: ${text}`),
    });
    const change = () => this.#changed();
    this.words = new TextField(find("[data-field=text]"), {
      change: (words) => { this.now.text = words; this.#changed(); },
      leave: () => this.#left("text"),
    });
    this.context = new Spans(find("[data-field=context]"), {
      label: "Evidence", history, announcer,
      on: { change, sentence: (number) => (this.#mayWrite() ? this.passages.reader.sentence(number) : null),
        back: () => this.passages.element.focus(), leave: () => this.#left("context") },
    });
    this.links = new Links({
      list: find("[data-links]"), picks: find("[data-picks]"), history,
      on: { change, leave: () => this.#left("links"), may: () => this.#mayWrite() },
    });
    this.slots = new Questions(find("[data-widget=questions]"), this.limits.questions, {
      open: (index) => this.open(this.questions[index] ?? this.#blank()),
      remove: (index) => this.questions[index] && this.remove(this.questions[index]),
    });
    this.next = find("[data-action=next]");
    this.next.addEventListener("click", () => this.goNext());
    find("[data-action=delete]").addEventListener("click", () => this.remove(this.now));
  }

  #keys() {
    const { keys } = this.page;
    keys.on("[", () => this.goToItem(this.passages.neighbour(-1)));
    keys.on("]", () => this.goToItem(this.passages.neighbour(1)));
    keys.on("t", () => this.passages.element.focus());
    keys.on("w", () => this.words.focus());
    keys.on("n", () => this.goNext());
    keys.on("s", () => this.context.focusNumber());
    for (const digit of "123456789") keys.on(digit, () => this.context.focusNumber(digit));
    keys.chord("Enter", () => this.goNext(), { inFields: true });
  }

  #hover(title, element) {
    this.links.point(title);
    this.tip.show(title, element);
  }

  #blank(item = this.passages.item) {
    return { item: item.id, text: "", context: [], links: [] };
  }

  #itemOf(question) {
    return this.items.find((item) => item.id === question.item) ?? this.items[0];
  }

  /** False when every place is taken and none of the written questions is open. */
  #mayWrite() {
    if (!this.full || this.questions.includes(this.now)) return true;
    this.page.messages.tell("All questions are written. Open one of them on the left to change it.");
    return false;
  }

  get full() {
    return this.questions.length >= this.limits.questions;
  }

  /** Put a draft on the page: {data, ui} or null. */
  restore(draft) {
    const known = new Set(this.items.map((item) => item.id));
    const saved = (draft?.data?.questions ?? []).filter((question) => known.has(question.item));
    this.questions = saved.map((question) => this.#restored(question));
    const item = this.items.find((candidate) => candidate.id === draft?.ui?.item) ?? this.items[0];
    this.passages.show(item);
    this.links.fill(item.links, this.passages.reader.surfaces[0].offsets, item);
    this.open(this.questions[draft?.ui?.question] ?? (this.full ? this.questions[0] : this.#blank(item)));
  }

  #restored(question) {
    const points = Array.from(this.#itemOf(question).text);
    return {
      item: question.item,
      text: question.text ?? "",
      context: (question.context ?? []).map(({ start, end }) => ({
        document: "main", start, end, text: points.slice(start, end).join(""),
      })),
      links: [...(question.links ?? [])],
    };
  }

  /** What is on the page, as the server wants it. */
  collect() {
    const refs = this.questions.filter((question) => !isEmpty(question));
    const questions = refs.map(({ item, text, context, links }) => ({
      item, text, links, context: context.map(({ start, end }) => ({ start, end })),
    }));
    const question = refs.indexOf(this.now);
    const ui = { item: this.passages.item.id, question: question < 0 ? null : question };
    return { data: { questions }, ui, refs };
  }

  open(question) {
    if (this.now && this.now !== question) {
      this.page.messages.leaveAll(this.now);
      if (isEmpty(this.now)) this.questions = this.questions.filter((other) => other !== this.now);
    }
    this.now = question;
    const item = this.#itemOf(question);
    if (item !== this.passages.item) {
      this.passages.show(item);
      this.links.fill(item.links, this.passages.reader.surfaces[0].offsets, item);
      window.scrollTo(0, 0);
    }
    this.words.show(question.text, item.lang);
    this.context.show(question.context);
    this.links.show(question.links);
    this.show();
  }

  /** Go to another paragraph: to what is unfinished there, or to a new question. */
  goToItem(item) {
    if (!item || item === this.passages.item) return;
    const unfinished = this.questions.find((question) => question.item === item.id && !isWhole(this.#partsOf(question)));
    const written = this.full && this.questions.find((question) => question.item === item.id);
    this.open(unfinished ?? (written || this.#blank(item)));
    this.page.touch();
  }

  goNext() {
    if (this.full) return this.page.announcer.show("All questions are written. Change any of them, or submit.");
    this.open(this.#blank());
    this.words.focus();
    this.page.touch();
  }

  remove(question) {
    const index = this.questions.indexOf(question);
    if (index < 0) return;
    const wasOpen = question === this.now;
    this.questions.splice(index, 1);
    this.page.history.add(`Question ${index + 1} deleted`, () => this.#bringBack(question, index, wasOpen));
    if (wasOpen) this.open(this.#blank());
    else this.show();
    this.page.touch();
  }

  /** Undo a deletion. Where all places are taken since, the newest question makes room: Undo brings it back. */
  #bringBack(question, index, wasOpen, newest = this.questions.at(-1)) {
    const place = this.questions.includes(newest) ? this.questions.indexOf(newest) : this.questions.length - 1;
    const [out] = this.full ? this.questions.splice(place, 1) : [];
    this.questions.splice(Math.min(index, this.questions.length), 0, question);
    if (wasOpen || out === this.now) this.open(question);
    else this.show();
    this.page.touch();
    if (out) this.page.history.add(`Question ${place + 1} made room`, () => this.#bringBack(out, place, true, question));
  }

  #changed() {
    if (!this.questions.includes(this.now) && !isEmpty(this.now) && !this.full) this.questions.push(this.now);
    this.show();
    this.page.touch();
  }

  #left(field) {
    this.page.messages.leave(this.now, field);
    this.checked();
  }

  /** Jump to a field of a question: from the list of what must be mended. */
  go(question, field) {
    this.open(question);
    if (field === "text" || !field) this.words.focus();
    else if (field === "context") this.context.number.focus();
    else this.links.list.querySelector("button")?.focus();
  }

  name(question) {
    return `Question ${this.questions.indexOf(question) + 1}`;
  }

  /** New advice came. */
  checked() {
    this.#showMessages();
    this.#showSlots();
    this.#showProgress();
  }

  show() {
    const { reader, item } = this.passages;
    reader.links((link) => (this.now.links.includes(link.title) ? "picked" : ""));
    reader.show("context", this.now.context.map(({ start, end }, index) => ({
      start, end, classes: ["evidence"], data: { mark: `context:${index}` },
    })));
    const index = this.questions.indexOf(this.now);
    const number = (index < 0 ? this.questions.length : index) + 1;
    find("[data-panel-title]").textContent = number > this.limits.questions ? "All written" : `Question ${number}`;
    find("[data-action=delete]").toggleAttribute("data-vacant", index < 0);
    find("[data-panel-place]").textContent = `on paragraph ${this.items.indexOf(item) + 1}`;
    this.words.input.disabled = number > this.limits.questions;
    this.#showSlots();
    this.#showMessages();
    this.#showProgress();
  }

  #showSlots() {
    const entries = this.questions.map((question) => ({
      words: question.text.trim(),
      place: `¶ ${this.items.indexOf(this.#itemOf(question)) + 1} · ${counted(question.links.length, "link")}`,
      about: `paragraph ${this.items.indexOf(this.#itemOf(question)) + 1}, ${counted(question.links.length, "link")}`,
      lang: this.#itemOf(question).lang,
      state: this.#stateOf(question),
    }));
    const index = this.questions.indexOf(this.now);
    this.slots.show(entries, index < 0 ? this.questions.length : index);
    const counts = new Map();
    for (const question of this.questions) counts.set(question.item, (counts.get(question.item) ?? 0) + 1);
    this.passages.count(counts);
  }

  #stateOf(question) {
    if (question !== this.now && this.page.messages.hasProblem(question)) return "wrong";
    return isWhole(this.#partsOf(question)) && !this.page.messages.hasProblem(question) ? "done" : "open";
  }

  /** What a question needs, and what of it is there. */
  #partsOf({ text, context, links }) {
    return [
      ["Question", hasWords(text, this.limits.min_question_words)],
      ["Evidence", context.length],
      ["Link", links.length],
    ];
  }

  #showMessages() {
    const fields = new Map([["text", this.words.root], ["context", this.context.root], ["links", find("[data-field=links]")]]);
    this.page.messages.show(this.now, fields);
    this.page.checklist.show(this.#partsOf(this.now));
  }

  #showProgress() {
    const { questions, multi_link_questions: wanted, multi_link_min_links: least } = this.limits;
    const done = this.questions.filter((question) => this.#stateOf(question) === "done");
    const multi = done.filter((question) => question.links.length >= least).length;
    const linked = wanted ? ` · ${Math.min(multi, wanted)} of ${wanted} with ${least}+ links` : "";
    this.page.progress(`${done.length} of ${counted(questions, "question")}${linked}`, done.length, questions);
    this.page.primary(done.length >= questions ? find("[data-action=submit]") : this.next);
  }
}

function counted(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

function isEmpty(question) {
  return !question.text.trim() && !question.context.length && !question.links.length;
}

new QuestionPage(readState());
