/** One passage of a text as the answer, or none, with the dialog acts beside it. */

import { Choice } from "./choice.js";
import { numbersIn } from "./spans.js";

const keysOfActs = {
  affirmation: { y: "yes", n: "no", x: "neither" },
  continuation: { f: "follow_up", m: "maybe", d: "dont" },
};

/** A reply in which nothing is chosen yet. */
export function blankReply() {
  return { type: null, spans: [], affirmation: null, continuation: null };
}

/** True when nothing is missing from a reply; continuation: whether a hint is asked for. */
export function isWhole(reply, continuation) {
  const answered = reply.type === "none" || (reply.type === "span" && reply.spans.length === 1);
  return Boolean(answered && reply.affirmation && (reply.continuation || !continuation));
}

/** A span grown to whole tokens, with how many of them are words; null where it holds none. */
export function snapped(span, { text, tokens }) {
  const inside = tokens.filter(([start, end]) => start < span.end && end > span.start);
  if (!inside.length) return null;
  const [start, end] = [inside[0][0], inside.at(-1)[1]];
  const words = [...text].slice(start, end).join("");
  return { span: { ...span, start, end, text: words }, count: inside.filter(([, , isWord]) => isWord !== false).length };
}

export class Reply {
  /** most: tokens a passage may have; on: {change(), leave(field), sentence(number) → span | null,
      back(): to the text}. The reply that is shown is changed in place. */
  constructor(root, { most, continuation, history, announcer, on }) {
    Object.assign(this, { root, most, continuation, history, announcer, on });
    this.reply = blankReply();
    this.passage = { text: "", tokens: [] };
    this.number = root.querySelector("[data-sentence]");
    this.none = root.querySelector("[data-none]");
    this.choices = new Map();
    this.#build();
  }

  #build() {
    this.limit(this.most);
    for (const element of this.root.querySelectorAll("[data-widget=choice]")) {
      const name = element.dataset.field;
      this.choices.set(name, new Choice(element, {
        change: (value) => this.#set({ [name]: value }, `Chosen: ${value.replace("_", " ")}`),
        leave: () => this.on.leave?.(name),
      }));
    }
    this.none.addEventListener("change", () => this.refuse(this.none.checked));
    this.root.querySelector("[data-action=unpick]").addEventListener("click", () => this.clear());
    this.number.addEventListener("keydown", (event) => this.#sentence(event));
    const field = this.root.querySelector("[data-field=spans]");
    field.addEventListener("focusout", (event) => {
      if (!field.contains(event.relatedTarget)) this.on.leave?.("spans");
    });
  }

  /** Say how many words a passage may have. */
  limit(most) {
    this.most = most;
    for (const place of this.root.querySelectorAll("[data-most]")) place.textContent = most;
  }

  /** Single keys, while nobody types: c for no answer, one for each act. */
  listen(keys) {
    keys.on("c", () => this.refuse(this.reply.type !== "none"));
    for (const [name, values] of Object.entries(keysOfActs)) {
      if (!this.choices.has(name)) continue;
      for (const [key, value] of Object.entries(values)) {
        keys.on(key, () => this.locked || this.#set({ [name]: value }, `Chosen: ${value.replace("_", " ")}`));
      }
    }
  }

  /** Answer from another text: {text, tokens: [[start, end, is it a word?]]} in code points. */
  read(passage) {
    this.passage = passage;
  }

  /** Words were marked: they become the one passage, grown to whole tokens. */
  mark(span) {
    if (this.locked) return;
    const found = snapped(span, this.passage);
    if (!found) return;
    if (found.count > this.most) {
      // It stays to be read when the selection has gone.
      this.wasSelecting = false;
      this.announcer.say(this.#tooLong(found.count));
      this.#count(this.#tooLong(found.count), true);
      return;
    }
    this.#set({ type: "span", spans: [found.span] }, `Passage marked: ${found.span.text}`);
  }

  /** Words are being selected just now: say how many, before they are marked; null for none. */
  selecting(span) {
    if (this.locked) return;
    const found = span && snapped(span, this.passage);
    if (found) this.#count(found.count > this.most ? this.#tooLong(found.count) : `${found.count} of ${this.most}`, found.count > this.most);
    else if (this.wasSelecting) this.draw();
    this.wasSelecting = Boolean(found);
  }

  #tooLong(count) {
    return `${count} words: mark ${this.most} or fewer`;
  }

  /** Say that the text has no answer, or take that back. */
  refuse(yes = true) {
    if (this.locked) return;
    if (yes) this.#set({ type: "none", affirmation: "neither" }, "No answer");
    else this.#set({ type: this.reply.spans.length ? "span" : null }, "No answer taken back");
  }

  /** Take the passage off. */
  clear() {
    if (this.locked) return;
    this.#set({ type: null, spans: [] }, "Passage taken off");
  }

  #set(values, label) {
    const { reply } = this;
    const before = { ...reply };
    Object.assign(reply, values);
    this.#changed();
    this.history.add(label, () => {
      Object.assign(reply, before);
      this.#changed();
    });
  }

  #changed() {
    this.draw();
    this.on.change();
  }

  #sentence(event) {
    if (event.key === "Escape") {
      event.preventDefault();
      this.number.value = "";
      this.on.back?.();
    }
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const found = numbersIn(this.number.value).map((number) => this.on.sentence(number));
    if (!found.length || found.includes(null)) {
      this.announcer.say(`There is no sentence ${this.number.value}`);
      this.number.select();
      return;
    }
    this.mark({ ...found[0], start: Math.min(...found.map(({ start }) => start)), end: Math.max(...found.map(({ end }) => end)) });
    this.number.value = "";
  }

  /** Show another reply. */
  show(reply) {
    this.reply = reply;
    this.draw();
  }

  /** What was given stays as it is. */
  lock(locked) {
    this.locked = locked;
    this.root.classList.toggle("is-locked", locked);
    for (const input of this.root.querySelectorAll("input, button")) input.disabled = locked;
  }

  /** The marked passage as ranges for a reader; none while there is no answer. */
  get ranges() {
    const { type, spans } = this.reply;
    return type === "span" ? spans.map(({ start, end }) => ({ start, end, classes: ["answer-mark"], data: { mark: "spans" } })) : [];
  }

  draw() {
    const { type, spans } = this.reply;
    const [span] = type === "span" ? spans : [];
    this.root.dataset.type = type ?? "";
    this.root.querySelector("[data-picked]").hidden = !span;
    this.root.querySelector("[data-picked-words]").textContent = span?.text ?? "";
    this.root.querySelector("[data-pick-help]").hidden = Boolean(span);
    const count = span ? snapped(span, this.passage)?.count : 0;
    this.#count(count ? `${count} of ${this.most}` : "");
    this.none.checked = type === "none";
    for (const [name, choice] of this.choices) choice.show(this.reply[name] ?? null);
  }

  #count(words, wrong = false) {
    const place = this.root.querySelector("[data-count]");
    place.textContent = words;
    place.classList.toggle("is-too-long", wrong);
  }

  focus(field) {
    if (this.choices.has(field)) this.choices.get(field).focus();
    else this.number.focus();
  }

  /** The fields by name, for the advice on them. */
  get fields() {
    return new Map([...this.root.querySelectorAll("[data-field]")].map((element) => [element.dataset.field, element]));
  }
}
