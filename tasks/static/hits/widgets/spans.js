/** Spans marked in documents: chips that can be taken off, and a way in by sentence number. */

import { SentenceField } from "./sentence.js";

export class Spans {
  /** on: {change(), sentence(number) → span | null, name(document) → words | "", leave(),
      back(): to the text}. */
  constructor(root, { label, history, announcer, on }) {
    Object.assign(this, { root, label, history, announcer, on });
    this.target = root.dataset.target;
    this.chips = root.querySelector("[data-spans]");
    this.sentence = new SentenceField(root, {
      announcer,
      on: {
        find: (number) => on.sentence(number),
        take: (spans) => { for (const span of spans) this.add(span); },
        back: () => on.back(),
      },
    });
    this.number = this.sentence.input;
    this.list = [];
    this.#listen();
  }

  #listen() {
    this.chips.addEventListener("click", (event) => {
      const chip = event.target.closest("[data-chip]");
      if (chip) this.remove(Number(chip.dataset.chip), { refocus: true });
    });
    this.root.addEventListener("focusout", (event) => {
      if (!this.root.contains(event.relatedTarget)) this.on.leave?.();
    });
  }

  /** Show another list; it is changed in place when spans come and go. */
  show(list) {
    this.list = list;
    this.draw();
  }

  /** Add a span; it replaces those of the same document that it overlaps. */
  add(span) {
    const before = [...this.list];
    const same = before.some((other) => other.document === span.document && other.start === span.start && other.end === span.end);
    if (same) return;
    const kept = before.filter((other) => other.document !== span.document || other.end <= span.start || other.start >= span.end);
    this.#become([...kept, span]);
    this.history.add(`${this.label} marked: ${short(span.text)}`, this.#back(before));
  }

  remove(index, { refocus = false } = {}) {
    const before = [...this.list];
    const [gone] = before.slice(index, index + 1);
    if (!gone) return;
    this.#become(before.filter((_, i) => i !== index));
    this.history.add(`${this.label} removed: ${short(gone.text)}`, this.#back(before));
    if (refocus) (this.chips.querySelectorAll("[data-chip]")[Math.min(index, this.list.length - 1)] ?? this.number).focus();
  }

  #back(before) {
    const list = this.list;
    return () => {
      list.splice(0, list.length, ...before);
      this.draw();
      this.on.change();
    };
  }

  #become(list) {
    this.list.splice(0, this.list.length, ...list);
    this.draw();
    this.on.change();
  }

  draw() {
    this.chips.replaceChildren(...this.list.map((span, index) => this.#chip(span, index)));
  }

  #chip(span, index) {
    const item = document.createElement("li");
    const button = document.createElement("button");
    const words = document.createElement("bdi");
    button.type = "button";
    button.className = `chip chip-${this.target}`;
    button.dataset.chip = index;
    button.title = span.text;
    words.textContent = span.text;
    words.className = "chip-words";
    button.append(words);
    const place = this.on.name?.(span.document);
    button.setAttribute("aria-label", [`Remove ${this.label.toLowerCase()}: ${span.text}`, place].filter(Boolean).join(" "));
    if (place) button.append(" ", Object.assign(document.createElement("small"), { textContent: place }));
    button.append(Object.assign(document.createElement("span"), { className: "chip-cross" }));
    item.append(button);
    return item;
  }

  focusNumber(digit = "") {
    this.sentence.focus(digit);
  }
}

function short(text) {
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
