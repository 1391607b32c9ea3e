/** What both pages of marked passages have: one passage, and the words of it that are an answer. */

import { EntriesPage, find } from "../page/entries.js";
import { Brief } from "../widgets/brief.js";
import { Passage } from "../widgets/passage.js";

export { find };

export class SpanPageBase extends EntriesPage {
  build() {
    const { history, announcer } = this.page;
    this.passage = new Passage(find("[data-widget=passage]"), {
      mark: (span) => this.brief.mark(span),
      unmark: () => this.brief.clear(),
      selected: (text) => announcer.say(`Selected: ${text}`),
      selecting: (span) => this.brief.selecting(span),
    });
    this.brief = new Brief(find("[data-widget=brief]"), {
      most: this.state.limits.max_answer_words, history, announcer,
      on: { change: () => this.changed(), leave: () => this.left("answer"), back: () => this.passage.focus() },
    });
    find("[data-action=previous]").addEventListener("click", () => this.open(this.index - 1));
  }

  listen() {
    super.listen();
    this.page.keys.on("t", () => this.passage.focus());
  }

  read(item) {
    this.passage.read(item.paragraphs[0]);
    this.brief.show(this.now, item);
    find("[data-question-label]").textContent = `Question ${this.index + 1} of ${this.items.length}`;
    this.opened(item);
  }

  focus() {
    this.brief.focus();
  }

  get fields() {
    return new Map([["answer", this.brief.root]]);
  }

  show({ spans }) {
    this.passage.show(spans);
  }
}
