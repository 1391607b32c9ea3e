/** A short and a full answer with the words of passages that prove them, or that there is none. */

import { roving } from "../page/roving.js";
import { Choice } from "./choice.js";
import { counted, snapped, tooLong } from "./reply.js";
import { TextField } from "./text.js";

/** What a passage is called in evidence. */
export function nameOf({ document: name, paragraph }) {
  return `${name}#${paragraph}`;
}

/** An answer in which nothing is written yet. */
export function blankSheet() {
  return { type: null, short: "", full: "", evidence: [] };
}

export class Sheet {
  /** most: words of one mark; on: {change(), leave(field), open(piece), place(piece) → words,
      back(): to the text}. The entry that is shown, {type, short, full, evidence}, is changed in place. */
  constructor(root, { most, history, announcer, on }) {
    Object.assign(this, { root, most, history, announcer, on });
    this.choice = new Choice(root.querySelector("[data-field=answer]"), {
      change: (type) => this.choose(type), leave: () => on.leave("answer"),
    });
    this.short = this.#field("short");
    this.full = this.#field("full");
    this.pieces = root.querySelector("[data-pieces]");
    this.settle = roving(this.pieces, ".piece-words");
    this.#listen();
  }

  #field(name) {
    return new TextField(this.root.querySelector(`[data-field=${name}]`), {
      change: (words) => { this.entry[name] = words; this.#begun(); this.on.change(); },
      leave: () => this.on.leave(name),
    });
  }

  #listen() {
    for (const button of this.root.querySelectorAll("[data-say]")) {
      button.addEventListener("click", () => this.say(button.dataset.say));
    }
    this.pieces.addEventListener("click", (event) => {
      const row = event.target.closest("[data-piece]");
      if (!row) return;
      const index = Number(row.dataset.piece);
      if (event.target.closest("[data-action=unmark]")) this.unmark(index, { refocus: true });
      else if (event.target.closest("[data-action=open]")) this.on.open(this.entry.evidence[index]);
    });
    this.pieces.addEventListener("keydown", (event) => {
      const row = (event.key === "Delete" || event.key === "Backspace") && event.target.closest("[data-piece]");
      if (!row) return;
      event.preventDefault();
      this.unmark(Number(row.dataset.piece), { refocus: true });
    });
    const evidence = this.root.querySelector("[data-field=evidence]");
    evidence.addEventListener("focusout", (event) => {
      if (!evidence.contains(event.relatedTarget)) this.on.leave("evidence");
    });
  }

  /** Show another entry, in this language. */
  show(entry, lang) {
    this.entry = entry;
    this.lang = lang;
    this.short.show(entry.short, lang);
    this.full.show(entry.full, lang);
    this.draw();
  }

  /** What is written or marked is an answer, unless something else was said. */
  #begun() {
    if (this.entry.type !== null) return;
    this.entry.type = "answer";
    this.choice.show("answer");
  }

  choose(type) {
    if (this.entry.type === type) return;
    this.#become({ type }, `Chosen: ${this.root.querySelector(`[name=answer_type][value=${type}] + .card-name`).firstChild.textContent.trim()}`);
  }

  /** Answer with yes or no. */
  say(word) {
    this.#become({ short: word, type: this.entry.type ?? "answer" }, `Short answer: ${word}`);
  }

  /** Words were selected in a passage: they become evidence; false where they cannot. */
  mark(span, passage) {
    const found = snapped(span, passage);
    if (!found) return false;
    if (found.count > this.most) return this.#refuse(tooLong(found.count, this.most));
    const { start, end, text } = found.span;
    const { document: name, paragraph, title } = passage;
    const piece = { document: name, paragraph, title, start, end, text };
    const isFree = (other) => nameOf(other) !== nameOf(piece) || other.end <= start || other.start >= end;
    const evidence = [...this.entry.evidence.filter(isFree), piece];
    this.#become({ evidence, type: this.entry.type ?? "answer" }, `Marked: ${short(text)}`);
    return true;
  }

  unmark(index, { refocus = false } = {}) {
    const [gone] = this.entry.evidence.slice(index, index + 1);
    if (!gone) return;
    this.#become({ evidence: this.entry.evidence.filter((_, at) => at !== index) }, `Mark taken off: ${short(gone.text)}`);
    if (!refocus) return;
    const rows = this.pieces.querySelectorAll(".piece-words");
    if (rows.length) rows[Math.min(index, rows.length - 1)].focus();
    else this.on.back();
  }

  /** Words are being selected just now: say how many, before they are marked; null for none. */
  selecting(span, passage) {
    const found = span && passage && snapped(span, passage);
    this.#count(...(found ? counted(found.count, this.most) : [""]));
  }

  #refuse(sentence) {
    this.announcer.say(sentence);
    this.#count(sentence, true);
    return false;
  }

  #count(words, wrong = false) {
    const place = this.root.querySelector("[data-count]");
    place.textContent = words;
    place.classList.toggle("is-too-long", wrong);
  }

  #become(values, label) {
    const { entry } = this;
    const before = Object.fromEntries(Object.keys(values).map((name) => [name, entry[name]]));
    if (JSON.stringify(before) === JSON.stringify(values)) return;
    const set = (given) => {
      Object.assign(entry, given);
      if (entry === this.entry) this.show(entry, this.lang);
      this.on.change();
    };
    set(values);
    this.history.add(label, () => set(before));
  }

  /** What each piece's passage is called may have changed: a passage came. */
  draw() {
    this.choice.show(this.entry.type);
    this.root.dataset.type = this.entry.type ?? "";
    this.pieces.replaceChildren(...this.entry.evidence.map((piece, index) => this.#row(piece, index)));
    this.root.querySelector("[data-evidence-help]").hidden = this.entry.evidence.length > 0;
    this.#count("");
    this.settle();
  }

  #row(piece, index) {
    const place = this.on.place(piece);
    const row = make("li", "piece");
    row.dataset.piece = index;
    const open = make("button", "piece-words");
    open.dataset.action = "open";
    open.title = piece.text;
    open.setAttribute("aria-label", `${place}: ${piece.text}`);
    open.setAttribute("aria-keyshortcuts", "Delete");
    open.append(Object.assign(make("small"), { textContent: place }), " ", Object.assign(make("bdi"), { textContent: piece.text, lang: this.lang }));
    const cross = make("button", "piece-cross");
    cross.dataset.action = "unmark";
    cross.textContent = "×";
    cross.tabIndex = -1;
    cross.setAttribute("aria-label", `Take off: ${piece.text}`);
    open.type = cross.type = "button";
    row.append(open, cross);
    return row;
  }

  focus(field) {
    if (field === "short") this.short.focus();
    else if (field === "full") this.full.focus();
    else if (field === "evidence") this.on.back();
    else this.choice.focus();
  }

  get fields() {
    return ["answer", "short", "full", "evidence"].map((name) => [name, this.root.querySelector(`[data-field=${name}]`)]);
  }
}

function short(text) {
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

function make(tag, className = "") {
  const element = document.createElement(tag);
  if (className) element.className = className;
  return element;
}
