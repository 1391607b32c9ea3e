/** A search box over a corpus: what it finds, gone through by arrows, and the passage that is open. */

import { roving } from "../page/roving.js";
import { Reader } from "../text/reader.js";
import { fillPassage, placeIn, showPieces } from "./cited.js";
import { nameOf } from "./sheet.js";

const unreachable = "The server did not answer: try again.";

export class Corpus {
  /** api.post("search" | "article"); on: {mark(span, passage), unmark(key), selected(text),
      selecting(span, passage), searched(query), opened(passage), failed(sentence)}. */
  constructor(root, { api, announcer, on }) {
    Object.assign(this, { root, api, announcer, on });
    const find = (selector) => root.querySelector(selector);
    this.input = find("[data-query]");
    this.list = find("[data-results]");
    this.heading = find("[data-results-title]");
    this.help = find("[data-results-help]");
    this.finding = find("[data-finding]");
    this.document = find("[data-opened]");
    this.body = find("[data-document-text]");
    this.reader = new Reader(this.body, {
      document: "", label: "Passage",
      on: {
        mark: (span) => on.mark(span, this.passage), unmark: (key) => on.unmark(key), selected: on.selected,
        selecting: (span) => on.selecting(span, this.passage),
      },
    });
    this.settle = roving(this.list, ".result");
    this.kept = new Map();
    this.fetched = new Map();
    this.#listen(find);
    // What is open stays in sight below the question and the search box, however long they are.
    const seeking = find("[data-seeking]");
    new ResizeObserver(() => this.finding.style.setProperty("--seeking", `${seeking.offsetHeight}px`)).observe(seeking);
  }

  #listen(find) {
    find("[data-corpus-search]").addEventListener("submit", (event) => {
      event.preventDefault();
      this.search(this.input.value);
    });
    this.input.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        // A search box would be emptied: Esc leaves it, as it leaves any field.
        event.preventDefault();
        this.input.blur();
      }
      if (event.key !== "ArrowDown" || !this.list.children.length) return;
      event.preventDefault();
      this.focusResults();
    });
    this.list.addEventListener("click", (event) => {
      const result = event.target.closest(".result");
      // A press of Enter counts no click: the hands are on the keys, and go on in the text.
      if (result) this.open(this.state.results[Number(result.dataset.index)], { focus: event.detail === 0, fromList: true });
    });
    this.list.addEventListener("keydown", (event) => {
      if (event.key === "ArrowUp" && event.target === this.list.querySelector(".result")) {
        event.preventDefault();
        event.stopImmediatePropagation();
        this.focus();
      }
    }, true);
    find("[data-action=results]").addEventListener("click", () => this.focusResults());
    for (const side of ["before", "behind"]) {
      find(`[data-action=${side}]`).addEventListener("click", () => this.turn(side));
    }
  }

  /** Show another question's searches; query: what was searched last, to be searched again. */
  show(item, query = "") {
    const isAnother = item !== this.item;
    this.item = item;
    if (!this.kept.has(item)) this.kept.set(item, { query, results: null, passage: null });
    this.state = this.kept.get(item);
    // A draft that comes late leaves alone what is being typed.
    if (isAnother) this.input.value = this.state.query;
    this.#read(this.state.passage);
    this.#draw();
    if (this.state.results === null && query) this.search(query, { again: true });
  }

  /** Search; again: for what was searched before, which is no new search. */
  async search(words, { again = false } = {}) {
    const query = words.trim();
    const { item, state } = this;
    if (!query) return this.focus();
    this.root.classList.add("is-searching");
    const { status, body } = await this.#ask("search", { item, query });
    this.root.classList.remove("is-searching");
    if (status !== 200) return this.on.failed(body.message ?? unreachable);
    Object.assign(state, { query, results: body.results });
    if (!again) this.on.searched(item, query);
    if (this.state !== state) return undefined;
    // What was open stays open on wide pages, and on narrow ones gives way to what was found.
    this.finding.classList.remove("has-open");
    this.#draw();
    if (!again) this.announcer.say(this.heading.textContent);
    return undefined;
  }

  /** Open a passage, {document, paragraph}; fromList: by a press on what was found. */
  async open(place, { focus = false, fromList = false } = {}) {
    const { item, state } = this;
    const name = nameOf(place);
    if (!this.fetched.has(name)) {
      const { status, body } = await this.#ask("article", { item, title: name });
      if (status !== 200) return this.on.failed(body.message ?? unreachable);
      this.fetched.set(name, body);
    }
    state.passage = this.fetched.get(name);
    if (this.state !== state) return undefined;
    this.#read(state.passage);
    this.#draw();
    this.on.opened(item, state.passage);
    // On narrow pages the passage takes the place of the list, wherever that was scrolled to.
    if (focus || (fromList && !this.list.checkVisibility())) this.read();
    this.document.querySelector(".opened-head").scrollIntoView({ block: "nearest" });
    return undefined;
  }

  async #ask(name, payload) {
    try {
      return await this.api.post(name, payload);
    } catch {
      return { status: 0, body: {} };
    }
  }

  /** To the passage before or behind the open one. */
  turn(side) {
    const { passage } = this;
    if (!passage || passage[side] === null) return;
    this.open({ document: passage.document, paragraph: passage[side] }, { focus: document.activeElement === this.body });
  }

  #read(passage) {
    this.passage = passage;
    this.document.hidden = !passage;
    this.finding.classList.toggle("has-open", Boolean(passage));
    if (!passage) return;
    const [title, section] = ["title", "section"].map((part) => this.document.querySelector(`[data-document-${part}]`));
    Object.assign(title, { textContent: passage.title, lang: passage.lang, dir: passage.dir });
    Object.assign(section, { textContent: placeIn(passage), lang: passage.lang, dir: "auto" });
    for (const side of ["before", "behind"]) {
      this.document.querySelector(`[data-action=${side}]`).setAttribute("aria-disabled", String(passage[side] === null));
    }
    this.body.setAttribute("aria-label", `Passage: ${passage.title}`);
    this.reader.name = nameOf(passage);
    this.document.dataset.document = nameOf(passage);
    fillPassage(this.reader, this.body, passage);
  }

  /** Show which words of the open passage are marked. */
  marks(pieces) {
    this.pieces = pieces;
    if (this.passage) showPieces(this.reader, pieces, this.passage, "evidence");
    const marked = new Set(pieces.map(nameOf));
    for (const result of this.list.querySelectorAll(".result")) result.classList.toggle("is-marked", marked.has(result.dataset.name));
  }

  #draw() {
    const { results, query } = this.state;
    const inside = this.list.contains(document.activeElement);
    this.help.hidden = Boolean(results?.length);
    this.heading.textContent = heading(results, query);
    this.list.replaceChildren(...(results ?? []).map((result, index) => this.#result(result, index)));
    this.settle();
    // A list that has given way to the passage takes no focus, and must not come back for it.
    if (inside) this.#current()?.focus();
    if (this.pieces) this.marks(this.pieces);
  }

  #result(result, index) {
    const row = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "result";
    button.dir = result.dir;
    button.dataset.index = index;
    button.dataset.name = nameOf(result);
    if (this.passage && nameOf(this.passage) === nameOf(result)) button.setAttribute("aria-current", "true");
    const title = Object.assign(document.createElement("bdi"), { className: "result-title", textContent: result.title, lang: result.lang });
    const place = Object.assign(document.createElement("small"), { textContent: placeIn(result), lang: result.lang, dir: "auto" });
    const words = Object.assign(document.createElement("span"), { className: "result-words", lang: result.lang });
    words.append(...pieces(result));
    button.append(title, place, words);
    row.append(button);
    return row;
  }

  focus() {
    this.input.focus();
    this.input.select();
  }

  focusResults() {
    this.finding.classList.remove("has-open");
    const current = this.#current();
    if (current) current.focus();
    else this.focus();
  }

  #current() {
    return this.list.querySelector("[aria-current]") ?? this.list.querySelector(".result");
  }

  /** To the open passage, or to where one is found. */
  read() {
    if (!this.passage) return this.list.children.length ? this.focusResults() : this.focus();
    this.finding.classList.add("has-open");
    this.body.focus({ preventScroll: true });
    this.document.scrollIntoView({ block: "nearest" });
    return undefined;
  }
}

function heading(results, query) {
  if (results === null) return "Search to find passages";
  if (!results.length) return `Nothing has “${query}”`;
  return results.length === 1 ? "1 passage" : `${results.length} passages`;
}

/** A snippet's text with what was looked for; offsets are code points. */
function pieces({ snippet, hits }) {
  const points = Array.from(snippet);
  const found = [];
  let at = 0;
  for (const [start, end] of hits) {
    if (start < at) continue;
    found.push(points.slice(at, start).join(""));
    found.push(Object.assign(document.createElement("mark"), { textContent: points.slice(start, end).join("") }));
    at = end;
  }
  return [...found, points.slice(at).join("")];
}
