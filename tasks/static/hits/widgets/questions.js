/** A list of questions, or of other items, in fixed slots, so that nothing moves when one is added. */

import { roving } from "../page/roving.js";

export class Questions {
  /** places: how many slots; on: {open(index), remove(index) or nothing}; noun: what they hold. */
  constructor(root, places, on, noun = "Question") {
    this.noun = noun;
    this.list = root.querySelector("[data-slots]");
    this.removable = Boolean(on.remove);
    for (let index = 0; index < places; index += 1) this.list.append(this.#slot(index));
    this.settle = roving(this.list, ".slot-open");
    this.list.addEventListener("keydown", (event) => {
      const slot = event.key === "Delete" && this.removable && event.target.closest("[data-slot]");
      if (slot) on.remove(Number(slot.dataset.slot));
    });
    this.list.addEventListener("click", (event) => {
      const slot = event.target.closest("[data-slot]");
      if (!slot) return;
      const index = Number(slot.dataset.slot);
      if (event.target.closest("[data-action=remove]")) on.remove(index);
      else if (event.target.closest("[data-action=open]")) on.open(index);
    });
  }

  #slot(index) {
    const item = document.createElement("li");
    item.className = "slot";
    item.dataset.slot = index;
    const open = document.createElement("button");
    open.type = "button";
    open.className = "slot-open";
    open.dataset.action = "open";
    for (const name of ["number", "words", "mark"]) {
      const part = document.createElement(name === "words" ? "bdi" : "span");
      part.className = `slot-${name}`;
      // The blank parts what is read of them, as their places on the page do.
      open.append(part, " ");
    }
    item.append(open);
    if (this.removable) item.append(this.#cross(index));
    return item;
  }

  #cross(index) {
    const cross = document.createElement("button");
    cross.type = "button";
    cross.className = "slot-remove";
    cross.dataset.action = "remove";
    cross.textContent = "×";
    cross.tabIndex = -1;
    cross.setAttribute("aria-label", `Delete question ${index + 1}`);
    return cross;
  }

  /** entries: one for each filled slot: {words, place, state: "done"|"open"|"wrong"|"", lang};
      current: the index that is being worked on. */
  show(entries, current) {
    [...this.list.children].forEach((slot, index) => {
      const entry = entries[index];
      const open = slot.querySelector(".slot-open");
      const usable = Boolean(entry) || index === entries.length;
      slot.dataset.state = entry?.state ?? "empty";
      slot.toggleAttribute("data-current", index === current);
      if (index === current) open.setAttribute("aria-current", "true");
      else open.removeAttribute("aria-current");
      open.disabled = !usable;
      open.querySelector(".slot-number").textContent = index + 1;
      const words = open.querySelector(".slot-words");
      words.textContent = entry?.words || (index === current ? "Writing…" : entry ? "No words yet" : "");
      if (entry?.lang) words.lang = entry.lang;
      open.querySelector(".slot-mark").textContent = entry?.place ?? "";
      open.setAttribute("aria-label", label(this.noun, index, entry, words.textContent));
      open.title = entry?.words ?? "";
      slot.querySelector(".slot-remove")?.toggleAttribute("data-vacant", !entry);
    });
    this.settle();
  }
}

const states = { done: "complete", open: "not complete yet", wrong: "something to mend" };

/** What stands there comes first and as it stands there, so that it can be said to press it. */
function label(noun, index, entry, words) {
  const shown = [`${noun} ${index + 1}`, words, entry?.place].filter(Boolean).join(" ");
  if (!entry) return `${shown}: empty`;
  return [shown, entry.about, states[entry.state]].filter(Boolean).join(", ");
}
