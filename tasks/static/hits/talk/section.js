/** The section that the teacher alone reads: words are marked in it. */

import { Offsets } from "../text/offsets.js";
import { Reader } from "../text/reader.js";

export class SectionText {
  /** on: {mark(span), unmark(), selecting(span | null), selected(text)}. */
  constructor(element, on) {
    this.on = on;
    this.element = element;
    this.reader = new Reader(element, {
      document: "section", label: "The section",
      on: {
        mark: (span) => on.mark(span),
        unmark: () => on.unmark(),
        selected: (text) => on.selected(text),
      },
    });
    document.addEventListener("selectionchange", () => {
      if (this.reader.enabled && this.reader.surfaces.length) on.selecting(this.reader.selected());
    });
  }

  fill(dialog) {
    const { section, paragraphs, language, direction } = dialog;
    const offsets = new Offsets(section);
    const blocks = paragraphs.map(([start, end]) => {
      const element = Object.assign(document.createElement("p"), { className: "block", lang: language, dir: direction });
      return { element, text: offsets.slice(start, end), base: start };
    });
    this.element.replaceChildren(...blocks.map(({ element }) => element));
    this.reader.fill(blocks);
  }

  /** Show what is marked now, as ranges, and what was an answer before. */
  show(ranges, before, enabled) {
    this.reader.enabled = enabled;
    this.reader.show("before", before.map(({ start, end }) => ({ start, end, classes: ["said-mark"] })));
    this.reader.show("answer", ranges);
  }

  focus() {
    this.element.focus({ preventScroll: true });
  }
}
