/** One passage of a text as the answer, or none, with the dialog acts beside it. */

import { Choice } from "./choice.js";
import { SentenceField } from "./sentence.js";

const keysOfActs = {
  affirmation: { y: "yes", o: "no", x: "neither" },
  continuation: { f: "follow_up", m: "maybe", d: "dont" },
};

/** A reply in which nothing is chosen yet. */
export function blankReply() {
  return { type: null, spans: [], affirmation: null, continuation: null };
}

/** What a reply needs, and what of it is there; continuation: whether a hint is asked for. */
export function partsOf({ type, spans, affirmation, continuation: hint }, continuation) {
  return [
    ["Passage, or no answer", type === "none" || (type === "span" && spans.length === 1)],
    ["Yes, no or neither", affirmation],
    ...(continuation ? [["Follow up?", hint]] : []),
  ];
}

/** A span grown to whole tokens, with how many of them are words; null where it holds none. */
export function snapped(span, { text, tokens }) {
  const inside = tokens.filter(([start, end]) => start < span.end && end > span.start);
  if (!inside.length) return null;
  const [start, end] = [inside[0][0], inside.at(-1)[1]];
  const words = [...text].slice(start, end).join("");
  return { span: { ...span, start, end, text: words }, count: inside.filter(([, , isWord]) => isWord !== false).length };
}

/** How many of the words that an answer may have are selected: what is said, and whether too many. */
export function counted(count, most) {
  return count > most ? [tooLong(count, most), true] : [`${count} of ${most}`, false];
}

export function tooLong(count, most) {
  return `${count} words: mark ${most} or fewer`;
}

export class Reply {
  /** most: tokens a passage may have; on: {change(), leave(field), sentence(number) → span | null,
      back(): to the text}. The reply that is shown is changed in place. */
  constructor(root, { most, continuation, history, announcer, on }) {
    Object.assign(this, { root, most, continuation, history, announcer, on });
    this.reply = blankReply();
    this.passage = { text: "", tokens: [] };
    this.sentence = new SentenceField(root, {
      announcer,
      on: { find: (number) => on.sentence(number), take: (spans) => this.mark(joined(spans)), back: () => on.back?.() },
    });
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

  /** Single keys, while nobody types: u for no answer, one for each act. */
  listen(keys) {
    keys.on("u", () => this.refuse(this.reply.type !== "none"));
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

  /** Words were marked: they become the one passage, grown to whole tokens; false for too many. */
  mark(span) {
    const found = this.locked ? null : snapped(span, this.passage);
    if (!found) return false;
    if (found.count > this.most) {
      this.announcer.say(tooLong(found.count, this.most));
      this.#count(tooLong(found.count, this.most), true);
      return false;
    }
    this.#set({ type: "span", spans: [found.span] }, `Passage marked: ${found.span.text}`);
    return true;
  }

  /** Words are being selected just now: say how many, before they are marked; null for none. */
  selecting(span) {
    if (this.locked) return;
    const found = span && snapped(span, this.passage);
    if (found) this.#count(...counted(found.count, this.most));
    else this.draw();
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
    this.#count(count ? counted(count, this.most)[0] : "");
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
    else this.sentence.focus();
  }

  /** The fields by name, for the advice on them. */
  get fields() {
    return new Map([...this.root.querySelectorAll("[data-field]")].map((element) => [element.dataset.field, element]));
  }
}

/** Sentences as one span, from the first to the last. */
function joined(spans) {
  return { ...spans[0], start: Math.min(...spans.map(({ start }) => start)), end: Math.max(...spans.map(({ end }) => end)) };
}
