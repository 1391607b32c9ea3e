/** A page with one entry for each of its items, done one after the other. */

import { following, isWhole } from "../widgets/checklist.js";
import { Questions } from "../widgets/questions.js";
import { Page } from "./page.js";

export const find = (selector) => document.querySelector(selector);

/** A kind's page says: build(), listen(), read(item), show(entry), blank(item), fields, focus(field),
    partsOf(entry), isBegun(entry), slot(entry, item), told(done). Where an entry holds no spans of
    an item's paragraphs, also restored(entry, item) and sent(entry). */
export class EntriesPage {
  /** list: the name of the entries that are handed in; noun: what the page calls one. */
  constructor(state, { list, noun }) {
    Object.assign(this, { state, items: state.items, list, noun });
    this.page = new Page(state, this);
  }

  /** Put everything on the page. */
  start() {
    this.build();
    this.slots = new Questions(find("[data-widget=questions]"), this.items.length, { open: (index) => this.open(index) }, this.noun);
    this.next = find("[data-action=next]");
    this.next.addEventListener("click", () => this.goOn());
    this.restore(this.state.draft);
    this.page.start();
    this.listen();
  }

  listen() {
    const { keys } = this.page;
    const open = (step) => () => this.open(this.index + step);
    keys.on("[", open(-1)).on("]", open(1)).on("n", () => this.goOn());
    keys.chord("Enter", () => { this.goOn(); this.begin(); }, { inFields: true });
  }

  /** Put a draft on the page: {data, ui} or null. */
  restore(draft) {
    const saved = new Map((draft?.data?.[this.list] ?? []).map((entry) => [entry.item, entry]));
    this.entries = this.items.map((item) => this.restored({ ...this.blank(item.id), ...saved.get(item.id) }, item));
    this.index = -1;
    this.open(this.items.findIndex((item) => item.id === draft?.ui?.item));
  }

  /** The words of a mark are the paragraph's own. */
  restored(entry, { paragraphs }) {
    entry.spans = entry.spans.map(({ document: name, start, end }) => {
      const { text = "" } = paragraphs.find((one) => one.document === name) ?? {};
      return { document: name, start, end, text: Array.from(text).slice(start, end).join("") };
    });
    return entry;
  }

  /** What is on the page, as the server wants it. */
  collect() {
    const entries = this.entries.map((entry) => this.sent(entry));
    return { data: { [this.list]: entries }, ui: { item: this.items[this.index].id }, refs: this.entries };
  }

  /** An entry as it is handed in. */
  sent(entry) {
    return { ...entry, spans: entry.spans.map(({ document: name, start, end }) => ({ document: name, start, end })) };
  }

  /** The language of an item, and of what is written about it. */
  langOf({ lang, paragraphs }) {
    return lang ?? paragraphs[0].lang;
  }

  /** To the next one, or from the last to one that is not complete. */
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
    this.read(this.items[wanted]);
    window.scrollTo(0, 0);
    this.checked();
    this.page.touch();
  }

  changed() {
    this.checked();
    this.page.touch();
  }

  left(field) {
    this.page.messages.leave(this.now, field);
    this.checked();
  }

  /** Jump to a field of an entry: from the list of what must be mended. */
  go(entry, field) {
    this.open(this.entries.indexOf(entry));
    this.focus(field);
  }

  name(entry) {
    return `${this.noun} ${this.entries.indexOf(entry) + 1}`;
  }

  /** Something was changed, or new advice came. */
  checked() {
    this.show(this.now);
    this.page.messages.show(this.now, this.fields);
    this.page.checklist.show(this.partsOf(this.now));
    this.slots.show(this.entries.map((entry, index) => ({
      ...this.slot(entry, this.items[index]), lang: this.langOf(this.items[index]), state: this.#stateOf(entry),
    })), this.index);
    const done = this.entries.filter((entry) => this.#stateOf(entry) === "done").length;
    this.page.progress(this.told(done), done, this.items.length);
    this.next.setAttribute("aria-disabled", String(this.#following < 0));
    this.page.primary(done >= this.items.length ? find("[data-action=submit]") : this.next);
  }

  #stateOf(entry) {
    const problem = this.page.messages.hasProblem(entry);
    if (entry !== this.now && problem && this.page.messages.wasLeft(entry, "*")) return "wrong";
    if (isWhole(this.partsOf(entry)) && !problem) return "done";
    return this.isBegun(entry) ? "open" : "";
  }
}
