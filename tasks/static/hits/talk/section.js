/** The section that the teacher alone reads: words are marked in it. */

import { readInParagraphs } from "../text/paragraphs.js";
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
        selecting: (span) => on.selecting(span),
      },
    });
  }

  fill(dialog) {
    const { section: text, paragraphs, language: lang, direction: dir } = dialog;
    readInParagraphs(this.reader, this.element, { text, paragraphs, lang, dir });
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
