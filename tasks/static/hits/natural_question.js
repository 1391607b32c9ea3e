/** The natural question page: what documents are about, and a question that one would ask of them. */

import { EntriesPage, find } from "./page/entries.js";
import { readState } from "./page/page.js";
import { hasWords, TextField } from "./widgets/text.js";

class NaturalQuestionPage extends EntriesPage {
  build() {
    this.words = new TextField(find("[data-field=text]"), {
      change: (words) => { this.now.text = words; this.changed(); },
      leave: () => this.left("text"),
    });
    find("[data-action=previous]").addEventListener("click", () => this.open(this.index - 1));
  }

  listen() {
    super.listen();
    this.page.keys.on("w", () => this.words.focus());
  }

  begin() {
    this.words.focus();
  }

  blank(item) {
    return { item, text: "" };
  }

  restored(entry) {
    return entry;
  }

  sent(entry) {
    return entry;
  }

  langOf({ documents: [{ lang }] }) {
    return lang;
  }

  read(item) {
    find("[data-outlines]").replaceChildren(...item.documents.map(outline));
    find("[data-question-label]").textContent = `Question ${this.index + 1} of ${this.items.length}`;
    find("[data-panel-title]").textContent = `Question ${this.index + 1}`;
    this.words.show(this.now.text, this.langOf(item));
  }

  focus() {
    this.words.focus();
  }

  get fields() {
    return new Map([["text", this.words.root]]);
  }

  slot({ text }, { documents }) {
    const about = documents.map(({ title }) => title).join(" · ");
    return { words: text.trim() || about, place: "", about };
  }

  told(done) {
    return `${done} of ${this.items.length} questions`;
  }

  partsOf({ text }) {
    return [["Question", hasWords(text, this.state.limits.min_question_words)]];
  }

  isBegun({ text }) {
    return Boolean(text.trim());
  }

  show() {}
}

/** A document's title with its headings, deeper ones further in. */
function outline({ title, headings, lang, dir }) {
  const element = make("article", "document outline");
  const list = make("ul", "headings");
  const least = Math.min(...headings.map(({ level }) => level));
  list.append(...headings.map(({ words, level }) => {
    const item = Object.assign(make("li"), { textContent: words });
    item.dataset.depth = Math.min(3, level - least);
    return item;
  }));
  const name = Object.assign(make("h2", "document-title"), { textContent: title });
  for (const one of [name, list]) Object.assign(one, { lang, dir });
  element.append(name, ...(headings.length ? [list] : []));
  return element;
}

function make(tag, className = "") {
  const element = document.createElement(tag);
  if (className) element.className = className;
  return element;
}

new NaturalQuestionPage(readState(), { list: "questions", noun: "Question" }).start();
