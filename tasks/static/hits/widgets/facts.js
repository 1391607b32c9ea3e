/** The sentences that prove an answer: picked by number, shown by paragraph. */

import { SentenceField } from "./sentence.js";

export class Facts {
  /** paragraphs: the widget that shows them; on: {change(), leave(), back()}. */
  constructor(root, { paragraphs, history, announcer, on }) {
    Object.assign(this, { root, paragraphs, history, announcer, on });
    this.sentence = new SentenceField(root, {
      announcer,
      on: {
        find: (number) => paragraphs.fact(number),
        take: (facts) => { for (const fact of facts) this.toggle(fact); },
        back: () => on.back(),
      },
    });
    this.titles = [...root.querySelectorAll("[data-fact-title]")];
    this.rows = [...root.querySelectorAll("[data-fact-chips]")];
    root.addEventListener("click", (event) => {
      const chip = event.target.closest("[data-chip]");
      if (chip) this.#drop(Number(chip.dataset.chip));
    });
    root.addEventListener("focusout", (event) => {
      if (!root.contains(event.relatedTarget)) on.leave();
    });
  }

  /** Show another entry, {facts}; it is changed in place. */
  show(entry, item) {
    this.entry = entry;
    this.documents = item.paragraphs.map(({ document: name }) => Number(name));
    item.paragraphs.forEach(({ title, lang }, at) => Object.assign(this.titles[at], { textContent: title, title, lang }));
    this.draw();
  }

  /** Pick a sentence, or drop it. */
  toggle(fact) {
    const { entry } = this;
    const [number, before] = [this.paragraphs.number(fact), entry.facts];
    const rest = before.filter((other) => this.paragraphs.number(other) !== number);
    const dropped = rest.length < before.length;
    this.#become(entry, dropped ? rest : [...before, fact]);
    this.history.add(`Sentence ${number} ${dropped ? "dropped" : "picked"}`, () => this.#become(entry, before));
  }

  /** The sentence with this number; false when there is none. */
  press(number) {
    const fact = this.paragraphs.fact(number);
    if (fact) this.toggle(fact);
    else this.announcer.show(`There is no sentence ${number}`);
    return Boolean(fact);
  }

  #become(entry, facts) {
    entry.facts = facts;
    this.draw();
    this.on.change();
  }

  #drop(number) {
    this.toggle(this.paragraphs.fact(number));
    (this.root.querySelector("[data-chip]") ?? this.sentence).focus();
  }

  draw() {
    const picked = this.entry.facts.map((fact) => [fact[0], this.paragraphs.number(fact)]).sort((one, other) => one[1] - other[1]);
    this.rows.forEach((row, at) => {
      const numbers = picked.filter(([document]) => document === this.documents[at]).map(([, number]) => number);
      row.replaceChildren(...(numbers.length ? numbers.map(chip) : [nothing()]));
    });
  }

  focus() {
    this.sentence.focus();
  }
}

function chip(number) {
  const item = document.createElement("li");
  const button = Object.assign(document.createElement("button"), { type: "button", className: "chip chip-context", textContent: number });
  button.dataset.chip = number;
  button.setAttribute("aria-label", `Drop sentence ${number}`);
  button.append(Object.assign(document.createElement("span"), { className: "chip-cross" }));
  item.append(button);
  return item;
}

function nothing() {
  return Object.assign(document.createElement("li"), { className: "fact-none", textContent: "none yet" });
}
