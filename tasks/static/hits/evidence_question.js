/** The evidence question page: a question that needs each of a few passages, or a skip. */

import { EntriesPage, find } from "./page/entries.js";
import { readState } from "./page/page.js";
import { Cited } from "./widgets/cited.js";
import { blankSheet, nameOf, Sheet } from "./widgets/sheet.js";
import { Skip } from "./widgets/skip.js";
import { hasWords, TextField } from "./widgets/text.js";

const tasks = ["Ask a question that this passage answers.", "Ask a question that takes both passages.", "Ask a question that takes all of these passages."];

class EvidenceQuestionPage extends EntriesPage {
  build() {
    const { history, announcer } = this.page;
    const writing = (action) => (...given) => !this.now.skipped && action(...given);
    this.cited = new Cited(find("[data-widget=cited]"), {
      mark: writing((span, passage) => this.sheet.mark(span, passage)),
      unmark: writing((key) => this.sheet.unmark(Number(key))),
      selected: (text) => announcer.say(`Selected: ${text}`),
      selecting: writing((span, passage) => this.sheet.selecting(span, passage)),
    });
    this.words = new TextField(find("[data-field=text]"), {
      change: (words) => { this.now.text = words; this.changed(); },
      leave: () => this.left("text"),
    });
    this.category = find("[data-category]");
    this.category.addEventListener("change", () => { this.now.category = this.category.value || null; this.changed(); });
    this.category.addEventListener("blur", () => this.left("category"));
    this.sheet = new Sheet(find("[data-widget=sheet]"), {
      most: this.state.limits.max_evidence_words, history, announcer,
      on: {
        change: () => this.changed(), leave: (field) => this.left(field), back: () => this.cited.focus(),
        open: (piece) => this.cited.open(piece), place: (piece) => this.cited.placeOf(piece),
      },
    });
    this.skip = new Skip(find("[data-widget=skip]"), {
      most: this.state.limits.max_skips, page: this.page, entries: () => this.entries,
      on: { change: () => this.changed(), leave: () => this.left("skip"), write: () => this.words.focus() },
    });
  }

  listen() {
    super.listen();
    const { keys } = this.page;
    const writing = (action) => () => !this.now.skipped && action();
    keys.on("t", () => this.cited.focus()).on("x", () => this.skip.turn());
    keys.on("w", writing(() => this.words.focus()));
    keys.on("a", writing(() => this.sheet.choose("answer"))).on("u", writing(() => this.sheet.choose("none")));
    keys.on("y", writing(() => this.sheet.say("yes"))).on("o", writing(() => this.sheet.say("no")));
    keys.on("e", writing(() => this.sheet.short.focus()));
  }

  begin() {
    if (this.now.skipped) this.skip.focus();
    else this.words.focus();
  }

  blank(item) {
    return { item, text: "", category: null, ...blankSheet(), skipped: false, reason: "" };
  }

  restored(entry) {
    return entry;
  }

  sent(entry) {
    return entry;
  }

  read({ paragraphs }) {
    const { lang } = paragraphs[0];
    this.cited.read(paragraphs);
    this.sheet.show(this.now, lang);
    this.words.show(this.now.text, lang);
    this.category.value = this.now.category ?? "";
    find("[data-question-label]").textContent = `Set ${this.index + 1} of ${this.items.length}`;
    find("[data-task]").textContent = tasks[Math.min(paragraphs.length, tasks.length) - 1];
    find("[data-panel-title]").textContent = `Question ${this.index + 1}`;
    this.skip.show(this.now);
  }

  focus(field) {
    if (field === "skip") this.skip.focus();
    else if (field === "text" || !field) this.words.focus();
    else if (field === "category") this.category.focus();
    else this.sheet.focus(field);
  }

  get fields() {
    return new Map([
      ...this.sheet.fields, ["text", this.words.root], ["category", this.category.parentElement], ["skip", this.skip.root],
    ]);
  }

  slot({ text, skipped }, { paragraphs }) {
    const titles = [...new Set(paragraphs.map(({ title }) => title))].join(" · ");
    return { words: skipped ? "Skipped" : text.trim() || titles, place: "", about: titles };
  }

  told(done) {
    const { used } = this.skip;
    return `${done} of ${this.items.length} sets${used ? ` · ${used} skipped` : ""}`;
  }

  partsOf(entry) {
    const { text, category, type, short, full, evidence, skipped, reason } = entry;
    if (skipped) return [["Reason for skipping", reason.trim()]];
    const { paragraphs } = this.items.find(({ id }) => id === entry.item);
    const marked = new Set(evidence.map(nameOf));
    const question = [["Question", hasWords(text, this.state.limits.min_question_words)], ["Type", category]];
    if (type === "none") return [...question, ["What looks like the answer", evidence.length]];
    const each = paragraphs.length === 1 ? "Evidence" : `Evidence from ${marked.size} of ${paragraphs.length}`;
    return [...question, ["Short answer", short.trim()], ["Full answer", full.trim()], [each, marked.size >= paragraphs.length]];
  }

  isBegun({ text, skipped, type, evidence }) {
    return skipped || Boolean(text.trim() || type || evidence.length);
  }

  show({ evidence, type, skipped }) {
    const seeming = type === "none";
    find("[data-evidence-label]").textContent = seeming ? "What looks like the answer" : "Evidence";
    find("[data-evidence-help]").textContent = seeming
      ? "Select the words that a hasty reader would take for the answer." : "Select the words of each passage that prove the answer.";
    this.cited.show(skipped ? [] : evidence, seeming ? "plausible-mark" : "evidence");
  }
}

new EvidenceQuestionPage(readState(), { list: "questions", noun: "Set" }).start();
