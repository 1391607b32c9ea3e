/** The search answer page: a question, a search box, and the passages that answer it, or none. */

import { EntriesPage, find } from "./page/entries.js";
import { readState } from "./page/page.js";
import { Corpus } from "./widgets/corpus.js";
import { blankSheet, nameOf, Sheet } from "./widgets/sheet.js";
import { TextField } from "./widgets/text.js";

// As many as the server keeps.
const mostLogged = 200;

class SearchAnswerPage extends EntriesPage {
  build() {
    const { history, announcer, api } = this.page;
    this.corpus = new Corpus(find("[data-widget=corpus]"), {
      api, announcer,
      on: {
        mark: (span, passage) => this.sheet.mark(span, passage),
        unmark: (key) => this.sheet.unmark(Number(key)),
        selected: (text) => announcer.say(`Selected: ${text}`),
        selecting: (span, passage) => this.sheet.selecting(span, passage),
        searched: (item, query) => this.#log(item, "searches", query, (one) => one),
        opened: (item, passage) => this.#opened(item, passage),
        failed: (sentence) => this.page.messages.tell(sentence),
      },
    });
    this.sheet = new Sheet(find("[data-widget=sheet]"), {
      most: this.state.limits.max_evidence_words, history, announcer,
      on: {
        change: () => this.changed(), leave: (field) => this.left(field), back: () => this.corpus.read(),
        open: (piece) => this.corpus.open(piece, { focus: true }), place: ({ document: name, title }) => title ?? this.titles.get(name) ?? name,
      },
    });
    this.reason = new TextField(find("[data-field=reason]"), {
      change: (words) => { this.now.reason = words; this.changed(); },
      leave: () => this.left("reason"),
    });
    this.titles = new Map();
    find("[data-action=previous]").addEventListener("click", () => this.open(this.index - 1));
  }

  listen() {
    super.listen();
    const { keys } = this.page;
    const search = () => this.corpus.focus();
    keys.on("f", search).on("/", search).on("r", () => this.corpus.focusResults()).on("t", () => this.corpus.read());
    keys.on(",", () => this.corpus.turn("before")).on(".", () => this.corpus.turn("behind"));
    keys.on("a", () => this.sheet.choose("answer")).on("u", () => this.sheet.choose("none"));
    keys.on("b", () => { this.sheet.choose("bad"); this.reason.focus(); });
    keys.on("e", () => this.sheet.short.focus()).on("w", () => this.sheet.short.focus());
    keys.on("y", () => this.sheet.say("yes")).on("o", () => this.sheet.say("no"));
  }

  #log(item, name, value, key) {
    const entry = this.entries.find((one) => one.item === item);
    if (entry[name].some((one) => key(one) === key(value)) || entry[name].length >= mostLogged) return;
    entry[name].push(value);
    this.changed();
  }

  #opened(item, passage) {
    this.titles.set(passage.document, passage.title);
    this.sheet.draw();
    this.#log(item, "opened", { document: passage.document, paragraph: passage.paragraph }, nameOf);
    this.show(this.now);
  }

  begin() {
    this.corpus.focus();
  }

  blank(item) {
    return { item, ...blankSheet(), reason: "", searches: [], opened: [] };
  }

  restored(entry) {
    return entry;
  }

  sent(entry) {
    return entry;
  }

  read({ id, question, lang, dir }) {
    Object.assign(find("[data-question]"), { textContent: question, lang, dir });
    find("[data-question-label]").textContent = `Question ${this.index + 1} of ${this.items.length}`;
    find("[data-panel-title]").textContent = `Answer ${this.index + 1}`;
    Object.assign(this.corpus.input, { lang });
    this.sheet.show(this.now, lang);
    this.reason.show(this.now.reason, lang);
    this.corpus.show(id, this.now.searches.at(-1));
  }

  focus(field) {
    if (field === "reason") this.reason.focus();
    else this.sheet.focus(field);
  }

  get fields() {
    return new Map([...this.sheet.fields, ["reason", this.reason.root]]);
  }

  slot(entry, { question }) {
    return { words: question, place: "" };
  }

  told(done) {
    return `${done} of ${this.items.length} answered`;
  }

  partsOf({ type, short, full, evidence, reason, searches }) {
    if (type === "bad") return [["Reason", reason.trim()]];
    if (type === "none") {
      const least = this.state.limits.min_searches;
      return [[`Searches: ${searches.length}, at least ${least}`, searches.length >= least]];
    }
    return [["Short answer", short.trim()], ["Full answer", full.trim()], ["Evidence", evidence.length]];
  }

  isBegun({ type }) {
    return Boolean(type);
  }

  show(entry) {
    this.corpus.marks(entry.type === "answer" || entry.type === null ? entry.evidence : []);
    this.reason.root.hidden = entry.type !== "bad";
  }
}

new SearchAnswerPage(readState(), { list: "answers", noun: "Question" }).start();
