/** A caret in a text that is not editable: moves the browser's own selection by key. */

const mac = /mac|iphone|ipad/i.test(navigator.platform ?? "");

// In the smallest steps, which are characters.
const longestTitle = 300;

const sideways = { ArrowLeft: "left", ArrowRight: "right" };
const vertical = { ArrowUp: "backward", ArrowDown: "forward" };

export class Caret {
  /** root: the focusable element whose text the caret walks; home: where it starts; within(node):
      whether it may stand there, for titles are no text. */
  constructor(root, within) {
    Object.assign(this, { root, within });
    this.mark = document.createElement("span");
    this.mark.className = "caret";
    this.mark.setAttribute("aria-hidden", "true");
    this.mark.hidden = true;
    document.body.append(this.mark);
    document.addEventListener("selectionchange", () => this.show());
    window.addEventListener("resize", () => this.show());
    root.addEventListener("blur", () => { this.mark.hidden = true; });
  }

  get selection() {
    return document.getSelection();
  }

  /** True when the selection's moving end lies in the text. */
  get inside() {
    return Boolean(this.selection.focusNode && this.within(this.selection.focusNode));
  }

  place(node, offset) {
    this.selection.setBaseAndExtent(node, offset, node, offset);
  }

  /** Handle a key; true when it moved the caret. */
  key(event) {
    const step = this.#step(event);
    if (!step) return false;
    if (!this.inside) this.#enter();
    this.#move(event.shiftKey ? "extend" : "move", step);
    this.#follow();
    return true;
  }

  /** One step, over any title on the way; none where the text ends. */
  #move(how, step) {
    const { anchorNode, anchorOffset, focusNode, focusOffset } = this.selection;
    for (let tries = 0; tries < longestTitle; tries += 1) {
      this.selection.modify(how, ...step);
      if (this.inside) return;
      if (!this.root.contains(this.selection.focusNode)) break;
    }
    this.selection.setBaseAndExtent(anchorNode, anchorOffset, focusNode, focusOffset);
  }

  #step(event) {
    if (event.metaKey || (event.altKey && !mac) || (event.ctrlKey && mac)) return null;
    const word = mac ? event.altKey : event.ctrlKey;
    if (sideways[event.key]) return [sideways[event.key], word ? "word" : "character"];
    if (word) return null;
    if (vertical[event.key]) return [vertical[event.key], "line"];
    if (!event.shiftKey) return null;
    if (event.key === "Home") return ["backward", "lineboundary"];
    if (event.key === "End") return ["forward", "lineboundary"];
    return null;
  }

  #enter() {
    const first = document.createTreeWalker(this.home ?? this.root, NodeFilter.SHOW_TEXT).nextNode();
    if (first) this.place(first, 0);
  }

  /** The rectangle of the moving end, or null. */
  rectangle() {
    const { focusNode, focusOffset } = this.selection;
    if (!focusNode) return null;
    const range = document.createRange();
    range.setStart(focusNode, focusOffset);
    range.collapse(true);
    const [at] = range.getClientRects();
    if (at) return { left: at.left, top: at.top, height: at.height };
    if (focusNode.nodeType !== Node.TEXT_NODE || focusOffset >= focusNode.data.length) return null;
    range.setEnd(focusNode, focusOffset + 1);
    const [next] = range.getClientRects();
    return next ? { left: next.left, top: next.top, height: next.height } : null;
  }

  show() {
    const at = document.activeElement === this.root && this.inside ? this.rectangle() : null;
    this.mark.hidden = !at;
    if (!at) return;
    this.mark.style.translate = `${at.left + window.scrollX}px ${at.top + window.scrollY}px`;
    this.mark.style.height = `${at.height}px`;
  }

  #follow() {
    const at = this.rectangle();
    if (!at) return;
    const { scrollMarginTop, scrollMarginBottom } = getComputedStyle(this.root);
    const top = Number.parseFloat(scrollMarginTop) || 0;
    const bottom = window.innerHeight - (Number.parseFloat(scrollMarginBottom) || 0);
    if (at.top < top) window.scrollBy(0, at.top - top - at.height);
    else if (at.top + at.height > bottom) window.scrollBy(0, at.top + 2 * at.height - bottom);
    this.show();
  }
}
