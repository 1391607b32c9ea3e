/** One block of text on the page: draws its links and marks, and knows its offsets. */

import { Offsets } from "./offsets.js";
import { segments } from "./segments.js";

export class Surface {
  /** text: what the element shows, exactly. base: where it stands in its document, in code
      points. links: [{start, end, title, readable}], sentences: [[start, end]], both local. */
  constructor(element, { text, base = 0, links = [], sentences = [], firstSentence = 1 }) {
    Object.assign(this, { element, text, base, links, sentences, firstSentence });
    this.offsets = new Offsets(text);
    this.layers = new Map();
    this.lastDrawn = null;
  }

  get end() {
    return this.base + this.offsets.length;
  }

  /** Replace one layer: ranges {start, end, classes, data, label}, local code points. */
  layer(name, ranges) {
    const before = JSON.stringify(this.layers.get(name) ?? []);
    this.layers.set(name, ranges);
    return JSON.stringify(ranges) !== before;
  }

  draw() {
    const ranges = [...this.layers.values()].flat()
      .map((range) => ({ ...range, start: this.offsets.toUnit(range.start), end: this.offsets.toUnit(range.end) }))
      .filter((range) => range.start < range.end);
    const starts = new Map(this.sentences.map(([start], i) => [this.offsets.toUnit(start), i]));
    for (const unit of starts.keys()) ranges.push({ start: unit, end: this.text.length, plain: true });
    const pieces = document.createDocumentFragment();
    for (const piece of segments(this.text.length, ranges)) {
      if (starts.has(piece.start)) pieces.append(this.#number(starts.get(piece.start)));
      pieces.append(this.#piece(piece));
    }
    this.element.replaceChildren(pieces);
  }

  #number(index) {
    const mark = document.createElement("span");
    mark.className = "sentence-number";
    mark.dataset.number = this.firstSentence + index;
    mark.setAttribute("aria-hidden", "true");
    return mark;
  }

  #piece({ start, end, ranges }) {
    const words = this.text.slice(start, end);
    const shown = ranges.filter((range) => !range.plain);
    if (!shown.length) return document.createTextNode(words);
    const span = document.createElement("span");
    for (const range of shown) {
      span.classList.add(...range.classes);
      Object.assign(span.dataset, range.data ?? {});
      for (const [name, value] of Object.entries(range.aria ?? {})) span.setAttribute(name, value);
    }
    span.textContent = words;
    return span;
  }

  /** A DOM position inside the element as a code unit of the text. */
  unitAt(node, offset) {
    const range = document.createRange();
    range.selectNodeContents(this.element);
    const place = range.comparePoint(node, offset);
    if (place < 0) return 0;
    if (place > 0) return this.text.length;
    range.setEnd(node, offset);
    return range.toString().length;
  }

  /** A code unit of the text as a DOM position [node, offset]. */
  positionOf(unit) {
    const walker = document.createTreeWalker(this.element, NodeFilter.SHOW_TEXT);
    let left = unit;
    let node = walker.nextNode();
    while (node && left > node.data.length) {
      left -= node.data.length;
      node = walker.nextNode();
    }
    return node ? [node, left] : [this.element, 0];
  }

  /** What a DOM range covers of this text: {start, end} local code points, or null. */
  spanOf(range) {
    const from = this.unitAt(range.startContainer, range.startOffset);
    const to = this.unitAt(range.endContainer, range.endOffset);
    return from < to ? this.offsets.snap(from, to) : null;
  }

  /** The sentence with this number, as local {start, end}, or null. */
  sentence(number) {
    const found = this.sentences[number - this.firstSentence];
    return found ? { start: found[0], end: found[1] } : null;
  }
}
