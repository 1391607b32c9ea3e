/** A document to read and to mark: one tab stop, spans by dragging or by the caret. */

import { Caret } from "./caret.js";
import { Surface } from "./surface.js";
import { offerMark } from "./touch.js";

const fields = "input:not([type=radio]):not([type=checkbox]), textarea";

export class Reader {
  /** on: {mark(span): false where it cannot be, unmark(key), link(link), hover(link|null, element),
      selected(text), selecting(span|null): at every change of the selection};
      a span is {document, start, end, text} in code points of the document. */
  constructor(element, { document: name, label, on }) {
    Object.assign(this, { element, name, on });
    this.surfaces = [];
    this.ranges = new Map();
    this.enabled = true;
    element.tabIndex = 0;
    element.setAttribute("role", "group");
    element.setAttribute("aria-label", label);
    element.classList.add("text");
    this.caret = new Caret(element, (node) => this.#surfaceOf(node));
    offerMark(this);
    this.#listen();
  }

  /** blocks: [{element, text, base, links, sentences}] in reading order; whole: the document's
      Offsets where its blocks are parts of one text, so that a span may reach over several. */
  fill(blocks, whole = null) {
    let firstSentence = 1;
    this.whole = whole;
    this.surfaces = blocks.map((block) => {
      const surface = new Surface(block.element, { ...block, firstSentence });
      firstSentence += surface.sentences.length;
      surface.layer("links", surface.links.map((link) => this.#linkRange(link)));
      return surface;
    });
    this.ranges.clear();
    this.caret.home = this.surfaces[0]?.element;
    for (const surface of this.surfaces) surface.draw();
  }

  #linkRange(link) {
    const state = link.state ?? "";
    return {
      start: link.start,
      end: link.end,
      classes: ["link", ...(state ? [state] : []), ...(link.inert ? ["inert"] : [])],
      data: { linkTitle: link.title },
      aria: link.inert ? {} : { role: "button", "aria-pressed": String(state === "picked"), "aria-description": link.title },
    };
  }

  /** Say how each link looks: look(link) returns "", "picked", "readable" or "writer". */
  links(look) {
    this.#redraw((surface) => {
      for (const link of surface.links) link.state = look(link);
      return surface.layer("links", surface.links.map((link) => this.#linkRange(link)));
    });
  }

  /** Show ranges {start, end, classes, data} of the document, code points, on one layer. */
  show(layer, ranges) {
    this.ranges.set(layer, ranges);
    this.#redraw((surface) => surface.layer(layer, ranges
      .filter((range) => range.start < surface.end && range.end > surface.base)
      .map((range) => ({
        ...range,
        start: Math.max(0, range.start - surface.base),
        end: Math.min(surface.offsets.length, range.end - surface.base),
      }))));
  }

  #redraw(change) {
    const changed = this.surfaces.filter(change);
    if (!changed.length) return;
    const kept = this.#place();
    for (const surface of changed) surface.draw();
    if (kept) this.caret.place(...kept.surface.positionOf(kept.unit));
  }

  #place() {
    const { focusNode, focusOffset } = this.caret.selection;
    const surface = document.activeElement === this.element && this.#surfaceOf(focusNode);
    return surface ? { surface, unit: surface.unitAt(focusNode, focusOffset) } : null;
  }

  #surfaceOf(node) {
    return this.surfaces.find((surface) => node && surface.element.contains(node));
  }

  /** The selected words as a span of this document, or null. A span stays in the block in
      which its selection began, unless the blocks are parts of one text. */
  selected() {
    const { selection } = this.caret;
    if (!selection.rangeCount || selection.isCollapsed) return null;
    const range = selection.getRangeAt(0);
    if (this.whole) return this.#selectedAcross(range);
    const surface = this.#surfaceOf(selection.anchorNode)
      ?? this.surfaces.find((candidate) => range.intersectsNode(candidate.element));
    const found = surface?.spanOf(range);
    return found ? this.span(surface, found) : null;
  }

  #selectedAcross(range) {
    const touched = this.surfaces.filter(({ element }) => range.intersectsNode(element));
    const parts = touched.flatMap((surface) => {
      const found = surface.spanOf(range);
      return found ? [this.span(surface, found)] : [];
    });
    if (!parts.length) return null;
    const [{ start }, { end }] = [parts[0], parts.at(-1)];
    return { document: this.name, start, end, text: this.whole.slice(start, end) };
  }

  span(surface, { start, end }) {
    return {
      document: this.name,
      start: start + surface.base,
      end: end + surface.base,
      text: surface.offsets.slice(start, end),
    };
  }

  /** The sentence with this number as a span, or null. */
  sentence(number) {
    for (const surface of this.surfaces) {
      const found = surface.sentence(number);
      if (found) return this.span(surface, found);
    }
    return null;
  }

  /** Mark what is selected; false when there is nothing, "kept" for what cannot be marked and
      stays selected. */
  mark() {
    const span = this.selected();
    if (!span) return false;
    const place = this.#place();
    if (this.on.mark?.(span) === false) return "kept";
    this.caret.selection.removeAllRanges();
    if (place) this.caret.place(...place.surface.positionOf(place.unit));
    return true;
  }

  #listen() {
    this.element.addEventListener("mousedown", (event) => this.#press(event));
    this.element.addEventListener("click", (event) => this.#click(event));
    this.element.addEventListener("keydown", (event) => this.#key(event));
    this.element.addEventListener("mouseover", (event) => this.#hover(event.target));
    this.element.addEventListener("mouseleave", () => this.on.hover?.(null));
    if (this.on.selecting) document.addEventListener("selectionchange", () => this.#selecting());
  }

  #selecting() {
    const span = this.enabled && this.surfaces.length ? this.selected() : null;
    if (span || this.wasSelecting) this.on.selecting(span);
    this.wasSelecting = Boolean(span);
  }

  #press(event) {
    if (event.button !== 0 || !this.enabled) return;
    this.returnTo = document.activeElement?.matches(fields) ? document.activeElement : null;
    document.addEventListener("mouseup", (up) => this.#release(up), { once: true });
  }

  #release(event) {
    this.dragged = false;
    clearTimeout(this.waiting);
    if (!this.selected()) return;
    this.dragged = true;
    if (event.detail > 1 && event.target.closest?.(".link")) return this.caret.selection.collapseToEnd();
    if (event.detail === 2) this.waiting = setTimeout(() => this.#finish(), 280);
    else if (event.detail > 2) this.#finishSentence();
    else this.#finish();
  }

  #finish() {
    if (this.mark() === true) this.#goBack();
  }

  #finishSentence() {
    const { anchorNode, anchorOffset } = this.caret.selection;
    const surface = this.#surfaceOf(anchorNode);
    const span = this.selected();
    if (!surface || !span) return this.caret.selection.removeAllRanges();
    const at = this.pressedAt ?? surface.offsets.toPoint(surface.unitAt(anchorNode, anchorOffset));
    const sentence = surface.sentences.find(([start, end]) => start <= at && at < end);
    const marked = sentence ? this.span(surface, { start: sentence[0], end: sentence[1] }) : span;
    if (this.on.mark?.(marked) === false) return undefined;
    this.caret.selection.removeAllRanges();
    return this.#goBack();
  }

  #goBack() {
    this.returnTo?.focus({ preventScroll: true });
  }

  #click(event) {
    if (!this.enabled) return;
    this.#remember(event);
    if (this.dragged || this.selected()) {
      this.dragged = false;
      return;
    }
    if (this.#act(event.target)) this.#goBack();
  }

  #remember(event) {
    if (event.detail !== 1) return;
    const { anchorNode, anchorOffset } = this.caret.selection;
    const surface = this.#surfaceOf(anchorNode);
    this.pressedAt = surface ? surface.offsets.toPoint(surface.unitAt(anchorNode, anchorOffset)) : null;
  }

  /** Follow the link or take off the mark at an element; true when there was one. */
  #act(target) {
    const piece = target?.closest?.("[data-link-title], [data-mark]");
    if (!piece || !this.element.contains(piece)) return false;
    if (piece.dataset.linkTitle && !piece.matches(".inert")) this.on.link?.(piece.dataset.linkTitle);
    else if (piece.dataset.mark) this.on.unmark?.(piece.dataset.mark);
    else return false;
    return true;
  }

  #hover(target) {
    const piece = target.closest?.("[data-link-title]");
    this.on.hover?.(piece?.dataset.linkTitle ?? null, piece);
  }

  #key(event) {
    // A button among the text has keys of its own.
    if (event.target.closest("button")) return;
    if (this.caret.key(event)) {
      event.preventDefault();
      this.#afterMove();
    } else if (event.key === "Enter" && !event.ctrlKey && !event.metaKey && this.enabled) {
      event.preventDefault();
      if (!this.mark()) this.#act(this.#atCaret());
    } else if (event.key === "Escape" && this.selected()) {
      event.preventDefault();
      this.caret.selection.collapseToEnd();
    }
  }

  #afterMove() {
    const piece = this.#atCaret()?.closest?.("[data-link-title]");
    this.on.hover?.(piece && this.element.contains(piece) ? piece.dataset.linkTitle : null, piece);
    clearTimeout(this.speaking);
    this.speaking = setTimeout(() => {
      const span = this.selected();
      if (span) this.on.selected?.(span.text);
    }, 500);
  }

  #atCaret() {
    const { focusNode, focusOffset } = this.caret.selection;
    if (!focusNode || !this.element.contains(focusNode)) return null;
    const element = focusNode.nodeType === Node.TEXT_NODE ? focusNode.parentElement : focusNode;
    const atEnd = focusNode.nodeType === Node.TEXT_NODE && focusOffset === focusNode.data.length;
    if (atEnd && !element.matches("[data-link-title], [data-mark]")) return focusNode.nextSibling ?? element;
    return element;
  }
}
