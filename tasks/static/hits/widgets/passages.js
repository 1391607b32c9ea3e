/** Passages to read, one at a time, with a numbered rail. */

import { roving } from "../page/roving.js";
import { Reader } from "../text/reader.js";

export class Passages {
  /** on: {go(item), mark(span), unmark(key), link(title), hover(title, element), selected(text)}. */
  constructor(root, items, on) {
    Object.assign(this, { root, items, on });
    this.stops = [...root.querySelectorAll("[data-item][data-index]")];
    this.title = root.querySelector("[data-document-title]");
    this.section = root.querySelector("[data-document-section]");
    this.element = root.querySelector("[data-document=main]");
    this.block = document.createElement("div");
    this.block.className = "block";
    this.element.append(this.block);
    this.reader = new Reader(this.element, { document: "main", label: "Paragraph", on });
    this.settle = roving(root.querySelector("[data-rail]"), "[data-item]");
    root.querySelector("[data-rail]").addEventListener("click", (event) => {
      const stop = event.target.closest("[data-index]");
      if (stop) on.go(items[Number(stop.dataset.index)]);
    });
  }

  /** Show one item's passage. */
  show(item) {
    if (this.item === item) return;
    this.item = item;
    this.title.textContent = item.title;
    this.section.textContent = item.section ?? "";
    for (const element of [this.title, this.section, this.block]) {
      element.lang = item.lang;
      element.dir = item.dir;
    }
    this.element.dataset.item = item.id;
    this.element.setAttribute("aria-label", `Paragraph ${this.items.indexOf(item) + 1}: ${item.title}`);
    this.reader.fill([{ element: this.block, text: item.text, links: item.links, sentences: item.sentences }]);
    this.stops.forEach((stop, i) => {
      if (this.items[i] === item) stop.setAttribute("aria-current", "true");
      else stop.removeAttribute("aria-current");
    });
    this.settle();
  }

  /** The item before or after this one, or null. */
  neighbour(step) {
    return this.items[this.items.indexOf(this.item) + step] ?? null;
  }

  /** Show how many questions each passage has: counts by item id. */
  count(counts) {
    this.stops.forEach((stop, i) => {
      const item = this.items[i];
      const n = counts.get(item.id) ?? 0;
      stop.querySelector("[data-count]").textContent = n ? String(n) : "";
      stop.setAttribute("aria-label", `Paragraph ${i + 1}, ${n} ${n === 1 ? "question" : "questions"}: ${item.title}`);
      stop.title = item.title;
    });
  }
}
