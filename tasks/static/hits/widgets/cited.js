/** One to a few passages to read and to mark, one beneath the other. */

import { Reader } from "../text/reader.js";
import { nameOf } from "./sheet.js";

export class Cited {
  /** on: as of a Reader; mark(span, passage), selecting(span, passage). */
  constructor(root, on) {
    Object.assign(this, { root, on });
    this.places = [];
  }

  /** Show passages {document, paragraph, title, section, page, text, tokens, lang, dir}. */
  read(passages) {
    for (const { reader } of this.places) reader.caret.mark.remove();
    this.places = passages.map((passage, index) => this.#place(passage, index));
    this.root.replaceChildren(...this.places.map(({ element }) => element));
    for (const { reader, passage, body } of this.places) fillPassage(reader, body, passage);
  }

  #place(passage, index) {
    const element = make("article", "document");
    const title = headOf(passage, `${index + 1}`);
    const body = make("div");
    element.append(title, body);
    element.dataset.document = nameOf(passage);
    const reader = new Reader(body, {
      document: nameOf(passage), label: `Passage ${index + 1}: ${passage.title}`,
      on: { ...this.on, mark: (span) => this.on.mark(span, passage), selecting: (span) => this.on.selecting(span, passage) },
    });
    return { element, reader, passage, body };
  }

  /** Show what is marked: pieces of evidence, in a look of the text's marks. */
  show(pieces, look) {
    for (const { reader, passage } of this.places) showPieces(reader, pieces, passage, look);
  }

  /** What to call the passage of a piece. */
  placeOf(piece) {
    return `Passage ${this.places.findIndex(({ passage }) => nameOf(passage) === nameOf(piece)) + 1}`;
  }

  /** To the first passage, or from one to the next. */
  focus() {
    const at = this.places.findIndex(({ body }) => body === document.activeElement);
    this.places[(at + 1) % this.places.length].body.focus();
  }

  /** To the passage of a piece. */
  open(piece) {
    const place = this.places.find(({ passage }) => nameOf(passage) === nameOf(piece));
    place?.element.scrollIntoView({ block: "nearest" });
    place?.body.focus({ preventScroll: true });
  }
}

/** The heading of a passage: its title, section and page. */
export function headOf(passage, number) {
  const title = make("h2", "document-title");
  const words = Object.assign(document.createElement("bdi"), { textContent: passage.title, lang: passage.lang, dir: passage.dir });
  const small = Object.assign(document.createElement("small"), { textContent: placeIn(passage), lang: passage.lang, dir: "auto" });
  if (number) title.append(Object.assign(make("span", "passage-number"), { textContent: number }), " ");
  title.append(words, " ", small);
  return title;
}

/** Where in its document a passage stands. */
export function placeIn({ section, page }) {
  return [section, page ? `p. ${page}` : ""].filter(Boolean).join(" · ");
}

/** Put a passage's text into a reader. */
export function fillPassage(reader, body, passage) {
  const block = make("div", "block");
  Object.assign(block, { lang: passage.lang, dir: passage.dir });
  body.replaceChildren(block);
  reader.fill([{ element: block, text: passage.text }]);
}

/** Show which words of a passage are marked; a mark's key is its place among all pieces. */
export function showPieces(reader, pieces, passage, look) {
  reader.show("evidence", pieces.flatMap((piece, index) => nameOf(piece) === nameOf(passage)
    ? [{ start: piece.start, end: piece.end, classes: [look], data: { mark: String(index) } }]
    : []));
}

function make(tag, className = "") {
  const element = document.createElement(tag);
  if (className) element.className = className;
  return element;
}
