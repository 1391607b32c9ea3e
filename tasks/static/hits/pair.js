/** The pair page: a question that needs two paragraphs, with its answer and its proof, or a skip. */

import { readState } from "./page/page.js";
import { find, PairPageBase } from "./pairs/page_base.js";
import { showBonusProgress } from "./pairs/bonus_progress.js";
import { Skip } from "./widgets/skip.js";
import { hasWords, TextField } from "./widgets/text.js";

const tasks = {
  bridge: ["Bridge", "one paragraph leads to the other. Ask what takes both."],
  span: ["Comparison", "compare the two; the answer is words of a paragraph."],
  yes_no: ["Yes or no", "compare the two with a question for yes or no."],
};

class PairPage extends PairPageBase {
  build() {
    super.build();
    this.words = new TextField(find("[data-field=text]"), {
      change: (words) => { this.now.text = words; this.changed(); },
      leave: () => this.left("text"),
    });
    this.skip = new Skip(find("[data-widget=skip]"), {
      most: this.state.limits.max_skips, page: this.page, entries: () => this.entries,
      on: { change: () => this.changed(), leave: () => this.left("skip"), write: () => this.words.focus() },
    });
    showBonusProgress(find("[data-bonus-progress]"), this.state.bonus_progress, this.state.money);
  }

  listen() {
    super.listen();
    this.page.keys.on("w", () => !this.now.skipped && this.words.focus()).on("x", () => this.skip.turn());
  }

  blank(item) {
    return { ...super.blank(item), text: "", skipped: false, reason: "" };
  }

  opened({ type, form }) {
    const [name, task] = tasks[type === "bridge" ? type : form];
    find("[data-task]").replaceChildren(Object.assign(document.createElement("strong"), { textContent: `${name}:` }), ` ${task}`);
    find("[data-panel-title]").textContent = `Question ${this.index + 1}`;
    this.words.show(this.now.text, this.items[this.index].paragraphs[0].lang);
    this.skip.show(this.now);
  }

  begin() {
    if (!this.now.skipped) this.words.focus();
    else this.skip.focus();
  }

  focus(field) {
    if (field === "skip") this.skip.focus();
    else if (field === "text" || !field) this.words.focus();
    else super.focus(field);
  }

  get fields() {
    return new Map([...super.fields, ["text", this.words.root], ["skip", this.skip.root]]);
  }

  slot({ text, skipped }, { paragraphs }) {
    const titles = paragraphs.map(({ title }) => title).join(" · ");
    return { words: skipped ? "Skipped" : text.trim() || titles, place: "", about: titles };
  }

  told(done) {
    const { used } = this.skip;
    return `${done} of ${this.items.length} pairs${used ? ` · ${used} skipped` : ""}`;
  }

  partsOf({ text, type, facts, skipped, reason }) {
    if (skipped) return [["Reason for skipping", reason.trim()]];
    const proven = new Set(facts.map(([paragraph]) => paragraph)).size;
    return [
      ["Question", hasWords(text, this.state.limits.min_question_words)],
      ["Answer", type],
      ["Proof from both", proven === 2],
    ];
  }

  isBegun(entry) {
    return entry.skipped || Boolean(entry.text.trim()) || super.isBegun(entry);
  }
}

new PairPage(readState(), { list: "pairs", noun: "Pair" }).start();
