/** Two paragraphs, sentence by sentence: numbers pick a sentence, dragging marks the answer. */

import { roving } from "../page/roving.js";
import { Reader } from "../text/reader.js";

export class Paragraphs {
  /** on: {mark(span), unmark(), pick(fact), selected(text)}; a fact is [paragraph, sentence]. */
  constructor(root, on) {
    Object.assign(this, { root, on });
    this.places = [...root.querySelectorAll(".document")].map((element) => this.#place(element));
  }

  #place(element) {
    const list = element.querySelector("[data-sentences]");
    const reader = new Reader(list, { document: "", label: "Paragraph", on: this.on });
    list.addEventListener("click", (event) => {
      const button = event.target.closest("[data-fact]");
      if (button) this.on.pick(JSON.parse(button.dataset.fact));
    });
    return { element, list, reader, title: element.querySelector("[data-document-title]"), settle: roving(list, ".fact") };
  }

  /** Show the paragraphs of an item; sentences are numbered through both. */
  read({ paragraphs }) {
    this.facts = [];
    this.places.forEach((place, at) => this.#read(place, paragraphs[at]));
  }

  #read(place, paragraph) {
    const { reader, list, title, element } = place;
    reader.name = paragraph.document;
    element.dataset.document = paragraph.document;
    title.textContent = paragraph.title;
    list.setAttribute("aria-label", `Paragraph: ${paragraph.title}`);
    Object.assign(title, { lang: paragraph.lang, dir: paragraph.dir });
    const points = Array.from(paragraph.text);
    const blocks = paragraph.sentences.map(([start, end], index) => {
      this.facts.push([Number(paragraph.document), index]);
      const block = make("div", "block");
      Object.assign(block, { lang: paragraph.lang, dir: paragraph.dir });
      return { element: block, text: points.slice(start, end).join(""), base: start };
    });
    const first = this.facts.length - blocks.length;
    list.replaceChildren(...blocks.map((block, index) => this.#row(block.element, first + index)));
    reader.fill(blocks);
    place.settle();
  }

  #row(block, index) {
    const row = make("div", "sentence");
    const button = make("button", "fact");
    button.type = "button";
    button.dataset.fact = JSON.stringify(this.facts[index]);
    button.setAttribute("aria-label", `Sentence ${index + 1}`);
    button.append(Object.assign(make("span", "fact-number"), { textContent: index + 1 }));
    row.append(button, block);
    return row;
  }

  /** The sentence with this number, as a fact, or null. */
  fact(number) {
    return this.facts[number - 1] ?? null;
  }

  /** The number of a fact. */
  number([paragraph, sentence]) {
    return this.facts.findIndex((fact) => fact[0] === paragraph && fact[1] === sentence) + 1;
  }

  /** Show which sentences are picked, and the marked answer: spans {document, start, end}. */
  show(facts, spans) {
    const picked = new Set(facts.map((fact) => this.number(fact)));
    this.facts.forEach((fact, index) => {
      const button = this.root.querySelector(`[data-fact="${JSON.stringify(fact)}"]`);
      button.setAttribute("aria-pressed", String(picked.has(index + 1)));
      button.parentElement.classList.toggle("is-picked", picked.has(index + 1));
    });
    for (const { reader } of this.places) {
      reader.show("answer", spans
        .filter((span) => span.document === reader.name)
        .map(({ start, end }) => ({ start, end, classes: ["answer-mark"], data: { mark: "answer" } })));
    }
  }

  /** To the first paragraph, or from one to the other. */
  focus() {
    const [first, second] = this.places.map(({ list }) => list);
    (document.activeElement === first ? second : first).focus();
  }
}

function make(tag, className) {
  const element = document.createElement(tag);
  element.className = className;
  return element;
}
