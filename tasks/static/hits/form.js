/** The page of forms: one item after the other, a passage to read and the same fields for each. */

import { Page, readState } from "./page/page.js";
import { following, isWhole } from "./widgets/checklist.js";
import { blankForm, Form, keysOf, partsOf } from "./widgets/form.js";
import { Questions } from "./widgets/questions.js";

const find = (selector) => document.querySelector(selector);

/** An answer that others gave, below the question. */
function asLine(answer) {
  const line = document.createElement("p");
  return Object.assign(line, { className: "given-answer", textContent: answer });
}

class FormPage {
  constructor(state) {
    Object.assign(this, { state, items: state.items, fields: state.limits.fields });
    this.page = new Page(state, this);
    this.form = new Form(find("[data-widget=form]"), this.fields, {
      history: this.page.history,
      on: { change: () => this.#changed(), leave: (name) => this.#left(name) },
    });
    this.slots = new Questions(find("[data-widget=questions]"), this.items.length, {
      open: (index) => this.open(index),
    }, "Item");
    // One alone needs no list and no way to another: what leads on hands it in.
    document.body.dataset.items = this.items.length;
    this.isAlone = this.items.length === 1;
    this.next = find("[data-action=next]");
    this.next.addEventListener("click", () => this.#lead());
    find("[data-action=previous]").addEventListener("click", () => this.open(this.index - 1));
    this.restore(state.draft);
    this.page.start();
    this.#keys();
  }

  #keys() {
    const { keys } = this.page;
    keys.on("[", () => this.open(this.index - 1)).on("]", () => this.open(this.index + 1));
    keys.on("n", () => this.goOn());
    for (const key of new Set(this.fields.flatMap(keysOf))) if (key) keys.on(key, () => this.form.press(key));
    keys.on("d", () => this.form.toggleDefinitions());
    keys.on("w", () => this.form.write());
    keys.chord("Enter", () => { this.#lead(); if (!this.isAlone) this.form.focus(); }, { inFields: true });
  }

  #lead() {
    if (this.isAlone) find("[data-action=submit]").click();
    else this.goOn();
  }

  /** Put a draft on the page: {data, ui} or null. */
  restore(draft) {
    const saved = new Map((draft?.data?.entries ?? []).map((entry) => [entry.item, entry.fields]));
    this.entries = this.items.map(({ id }) => ({ item: id, fields: { ...blankForm(this.fields), ...saved.get(id) } }));
    this.index = -1;
    this.open(this.items.findIndex((item) => item.id === draft?.ui?.item));
  }

  /** What is on the page, as the server wants it. */
  collect() {
    return { data: { entries: this.entries }, ui: { item: this.items[this.index].id }, refs: this.entries };
  }

  /** To the next item, or from the last to one that is not complete. */
  goOn() {
    const next = this.#following;
    if (next >= 0) this.open(next);
  }

  get #following() {
    return following(this.index, this.entries.map((entry) => this.#stateOf(entry)));
  }

  open(index) {
    const wanted = Math.max(0, index);
    if (wanted >= this.items.length || wanted === this.index) return;
    if (this.now) this.page.messages.leaveAll(this.now);
    this.index = wanted;
    this.now = this.entries[wanted];
    this.#read(this.items[wanted]);
    this.form.show(this.now.fields, this.items[wanted].passage.lang);
    find("[data-panel-title]").textContent = `Item ${wanted + 1} of ${this.items.length}`;
    window.scrollTo(0, 0);
    this.checked();
    this.page.touch();
  }

  #read({ passage, text, answers = [] }) {
    const words = {
      "[data-document-title]": passage.title,
      "[data-document-section]": passage.section ?? "",
      "[data-document-text]": passage.text,
      "[data-given]": text ?? "",
      "[data-about]": passage.about,
    };
    for (const [selector, content] of Object.entries(words)) {
      const element = find(selector);
      Object.assign(element, { textContent: content, lang: passage.lang, dir: passage.dir });
    }
    find("[data-given]").append(...answers.map(asLine));
    find("[data-given]").hidden = !text;
    find("[data-about-line]").hidden = !passage.about;
  }

  #changed() {
    this.checked();
    this.page.touch();
  }

  #left(name) {
    this.page.messages.leave(this.now, name);
    this.checked();
  }

  /** Jump to a field of an item: from the list of what must be mended. */
  go(entry, field) {
    this.open(this.entries.indexOf(entry));
    this.form.focus(field ?? undefined);
  }

  name(entry) {
    return `Item ${this.entries.indexOf(entry) + 1}`;
  }

  /** Something was written, or new advice came. */
  checked() {
    this.page.messages.show(this.now, this.form.elements);
    this.page.checklist.show(partsOf(this.now.fields, this.fields));
    this.slots.show(this.items.map((item, index) => this.#slot(item, this.entries[index])), this.index);
    const done = this.entries.filter((entry) => this.#stateOf(entry) === "done").length;
    this.page.progress(`${done} of ${this.items.length} done`, done, this.items.length);
    this.#run(done);
    this.next.setAttribute("aria-disabled", String(!this.isAlone && this.#following < 0));
    this.page.primary(done >= this.items.length && !this.isAlone ? find("[data-action=submit]") : this.next);
  }

  /** How far one is with all that there is, this HIT's items among it. */
  #run(done) {
    const { running } = this.state;
    if (!running) return;
    const all = (number) => number.toLocaleString("en");
    find("[data-running]").textContent = `${all(running.done + done)} of ${all(running.of)} labelled by you`;
  }

  #slot(item, entry) {
    const given = item.text ?? entry.fields[this.fields[0].name];
    const label = item.text ? entry.fields[this.fields[0].name] ?? "" : given && item.passage.title;
    return { words: given || item.passage.title, place: label, about: label, lang: item.passage.lang, state: this.#stateOf(entry) };
  }

  #stateOf(entry) {
    const problem = this.page.messages.hasProblem(entry);
    if (entry !== this.now && problem && this.page.messages.wasLeft(entry, "*")) return "wrong";
    if (isWhole(partsOf(entry.fields, this.fields)) && !problem) return "done";
    return Object.values(entry.fields).some((value) => value) ? "open" : "";
  }
}

new FormPage(readState());
