/** The span question page: questions about a passage, each with the words that answer it or seem to. */

import { readState } from "./page/page.js";
import { find, SpanPageBase } from "./spans/page_base.js";
import { hasWords, TextField } from "./widgets/text.js";

const tasks = {
  span: {
    name: "Answered:", task: "ask what the passage answers.",
    label: "The answer", help: "Select the fewest words that answer it.",
  },
  none: {
    name: "Not answered:", task: "ask what the passage seems to answer, and does not.",
    label: "What looks like the answer", help: "Select the words that a hasty reader would take for the answer.",
  },
};

class SpanQuestionPage extends SpanPageBase {
  build() {
    super.build();
    this.words = new TextField(find("[data-field=text]"), {
      change: (words) => { this.now.text = words; this.changed(); },
      leave: () => this.left("text"),
    });
  }

  listen() {
    super.listen();
    this.page.keys.on("w", () => this.words.focus());
  }

  begin() {
    this.words.focus();
  }

  blank(item) {
    return { item, text: "", type: null, spans: [] };
  }

  opened({ type, paragraphs: [{ lang }] }) {
    const { name, task, label, help } = tasks[type];
    find("[data-task]").replaceChildren(Object.assign(document.createElement("strong"), { textContent: name }), ` ${task}`);
    find("[data-panel-title]").textContent = `Question ${this.index + 1}`;
    find("[data-brief-label]").textContent = label;
    find("[data-pick-help]").textContent = help;
    this.words.show(this.now.text, lang);
  }

  focus(field) {
    if (field === "text" || !field) this.words.focus();
    else super.focus(field);
  }

  get fields() {
    return new Map([...super.fields, ["text", this.words.root]]);
  }

  slot({ text }, { type }) {
    const place = type === "none" ? "not answered" : "";
    return { words: text.trim(), place, about: place };
  }

  told(done) {
    return `${done} of ${this.items.length} questions`;
  }

  partsOf({ text, spans, item }) {
    const { type } = this.items.find(({ id }) => id === item);
    return [
      ["Question", hasWords(text, this.state.limits.min_question_words)],
      [tasks[type].label, spans.length],
    ];
  }

  isBegun({ text, spans }) {
    return Boolean(text.trim() || spans.length);
  }

  show(entry) {
    const { type } = this.items[this.index];
    this.passage.show(entry.spans, type === "span" ? "answer-mark" : "plausible-mark");
  }
}

new SpanQuestionPage(readState(), { list: "questions", noun: "Question" }).start();
