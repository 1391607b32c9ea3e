/** What both pages of pairs have: two paragraphs, an answer, its proof, one pair after the other. */

import { EntriesPage, find } from "../page/entries.js";
import { Brief } from "../widgets/brief.js";
import { Facts } from "../widgets/facts.js";
import { Paragraphs } from "../widgets/paragraphs.js";

export { find };

export class PairPageBase extends EntriesPage {
  build() {
    const { history, announcer } = this.page;
    this.paragraphs = new Paragraphs(find("[data-widget=paragraphs]"), {
      mark: (span) => !this.now.skipped && this.brief.mark(span),
      unmark: () => !this.now.skipped && this.brief.clear(),
      pick: (fact) => !this.now.skipped && this.facts.toggle(fact),
      selected: (text) => announcer.say(`Selected: ${text}`),
      selecting: (span) => !this.now.skipped && this.brief.selecting(span),
    });
    this.brief = new Brief(find("[data-widget=brief]"), {
      most: this.state.limits.max_answer_words, history, announcer,
      on: { change: () => this.changed(), leave: () => this.left("answer"), back: () => find("[data-sentences]").focus() },
    });
    this.facts = new Facts(find("[data-widget=facts]"), {
      paragraphs: this.paragraphs, history, announcer,
      on: { change: () => this.changed(), leave: () => this.left("facts"), back: () => this.paragraphs.focus() },
    });
  }

  listen() {
    super.listen();
    const { keys } = this.page;
    keys.on("t", () => this.paragraphs.focus());
    const written = (action) => () => !this.now.skipped && action();
    keys.on("s", written(() => this.facts.focus()));
    for (const digit of "123456789") keys.on(digit, written(() => this.facts.press(Number(digit))));
    keys.on("y", written(() => this.brief.choose("yes"))).on("o", written(() => this.brief.choose("no")));
  }

  /** Put the focus where the next pair begins. */
  begin() {
    this.paragraphs.focus();
  }

  blank(item) {
    return { item, type: null, spans: [], facts: [] };
  }

  read(item) {
    this.paragraphs.read(item);
    this.brief.show(this.now, item);
    this.facts.show(this.now, item);
    find("[data-pair-label]").textContent = `${this.noun} ${this.index + 1} of ${this.items.length}`;
    this.opened(item);
  }

  focus(field) {
    (field === "facts" ? this.facts : this.brief).focus();
  }

  get fields() {
    return new Map([["answer", this.brief.root], ["facts", this.facts.root]]);
  }

  show({ facts, spans, type, skipped }) {
    this.paragraphs.show(skipped ? [] : facts, type === "span" && !skipped ? spans : []);
  }

  /** What an entry needs, and what of it is there. */
  partsOf({ type, facts }) {
    return [["Answer", type], ["Proof", facts.length]];
  }

  isBegun(entry) {
    return Boolean(entry.type || entry.facts.length);
  }
}
