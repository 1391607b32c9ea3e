/** The span answer page: what others asked about a passage, answered by its words, or not at all. */

import { readState } from "./page/page.js";
import { find, SpanPageBase } from "./spans/page_base.js";
import { TextField } from "./widgets/text.js";

class SpanAnswerPage extends SpanPageBase {
  build() {
    super.build();
    this.reason = new TextField(find("[data-field=reason]"), {
      change: (words) => { this.now.reason = words; this.changed(); },
      leave: () => this.left("reason"),
    });
  }

  listen() {
    super.listen();
    this.page.keys.on("u", () => this.brief.choose("none")).on("b", () => {
      this.brief.choose("bad");
      this.reason.focus();
    });
  }

  begin() {
    this.passage.focus();
  }

  blank(item) {
    return { item, type: null, spans: [], reason: "" };
  }

  opened({ question, paragraphs: [{ lang }] }) {
    Object.assign(find("[data-question]"), { textContent: question, lang });
    find("[data-panel-title]").textContent = `Answer ${this.index + 1}`;
    this.reason.show(this.now.reason, lang);
  }

  focus(field) {
    if (field === "reason") this.reason.focus();
    else super.focus(field);
  }

  get fields() {
    return new Map([...super.fields, ["reason", this.reason.root]]);
  }

  slot(entry, { question }) {
    return { words: question, place: "" };
  }

  told(done) {
    return `${done} of ${this.items.length} answered`;
  }

  partsOf({ type, reason }) {
    return type === "bad" ? [["Answer", type], ["Reason", reason.trim()]] : [["Answer", type]];
  }

  isBegun({ type }) {
    return Boolean(type);
  }

  show(entry) {
    super.show(entry);
    this.reason.root.toggleAttribute("data-vacant", entry.type !== "bad");
  }
}

new SpanAnswerPage(readState(), { list: "answers", noun: "Question" }).start();
