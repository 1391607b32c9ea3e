/** An answer of one of five types, with its evidence. */

import { Choice } from "./choice.js";
import { NumberField } from "./number.js";
import { Spans } from "./spans.js";
import { TextField } from "./text.js";

const find = (root, selector) => root.querySelector(selector);

/** An answer in which nothing is chosen yet. */
export function blankAnswer(item) {
  return { item, type: null, spans: [], value: "", unit: "", yes_no: null, reason: "", context: [] };
}

export class Answer {
  /** on: {change(), sentence(number), name(document), leave(field), back(), may(type): whether it
      may be chosen now}. */
  constructor(root, { history, announcer, on }) {
    Object.assign(this, { root, history, announcer, on });
    this.target = "spans";
    this.reasons = [...root.querySelectorAll("[name=reason_kind]")].map((input) => input.value).filter(Boolean);
    this.#build();
  }

  #build() {
    const { root, history, announcer, on } = this;
    const field = (name) => find(root, `[data-field=${name}]`);
    this.type = new Choice(field("type"), { change: (value) => this.choose(value), leave: () => on.leave("type"), press: () => this.enter() });
    this.yesNo = new Choice(field("yes_no"), { change: (value) => this.#set({ yes_no: value }), leave: () => on.leave("yes_no") });
    this.reasonKind = new Choice(field("reason_kind"), { change: () => this.#setReason(), leave: () => on.leave("reason") });
    this.reason = new TextField(field("reason"), { change: () => this.#setReason(), leave: () => on.leave("reason") });
    this.number = new NumberField(find(root, "[data-widget=number]"), {
      change: () => this.#set({ value: this.number.value.value, unit: this.number.unit.value }),
      leave: on.leave,
    });
    const spans = (name, label) => new Spans(field(name), {
      label, history, announcer,
      on: { change: () => this.#changed(), sentence: on.sentence, name: on.name, back: on.back, leave: () => on.leave(name) },
    });
    this.spans = spans("spans", "Answer");
    this.context = spans("context", "Evidence");
    for (const button of document.querySelectorAll("[data-action=target]")) {
      button.addEventListener("click", () => this.take(button.dataset.aim));
    }
    for (const widget of [this.spans, this.context]) {
      widget.number.addEventListener("focus", () => this.aim(widget.target));
      widget.root.addEventListener("click", () => this.aim(widget.target, { quiet: true }));
    }
  }

  #set(values) {
    Object.assign(this.answer, values);
    this.#changed();
  }

  #setReason() {
    const kind = this.reasonKind.inputs.find((input) => input.checked)?.value ?? "";
    this.#set({ reason: [kind, this.reason.value.trim()].filter(Boolean).join(" ") });
  }

  #changed() {
    if (this.answer.spans.length && !this.answer.type) this.answer.type = "span";
    this.draw();
    this.on.change();
  }

  /** Choose a type of answer; what was entered for another type is kept. */
  choose(type) {
    const { answer } = this;
    const before = answer.type;
    if (before === type) return;
    if (!this.on.may(type)) return this.draw();
    answer.type = type;
    this.aim(type === "span" ? "spans" : "context", { quiet: true });
    this.#changed();
    this.history.add(`Type chosen: ${type}`, () => {
      answer.type = before;
      this.draw();
      this.on.change();
    });
  }

  /** Go to what the chosen type asks for, where it is to be typed or chosen. */
  enter() {
    const field = { value: "value", binary: "yes_no", bad: "reason" }[this.answer.type];
    if (field) this.focus(field);
  }

  /** Answer with "yes" or "no". */
  say(word) {
    const { answer } = this;
    const before = { type: answer.type, yes_no: answer.yes_no };
    const become = (values) => {
      Object.assign(answer, values);
      this.yesNo.show(this.answer.yes_no);
      this.draw();
      this.on.change();
    };
    become({ type: "binary", yes_no: word });
    this.aim("context", { quiet: true });
    this.history.add(`Answer chosen: ${word}`, () => become(before));
  }

  /** Somebody asks to mark the answer, which makes it one of words, or evidence. */
  take(target) {
    if (target === "spans") this.choose("span");
    this.aim(target);
  }

  /** Say where the next marked words go: "spans" or "context". */
  aim(target, { quiet = false } = {}) {
    this.target = target;
    for (const widget of [this.spans, this.context]) {
      widget.root.classList.toggle("is-target", widget.target === target);
    }
    for (const button of document.querySelectorAll("[data-action=target]")) {
      button.setAttribute("aria-pressed", String(button.dataset.aim === target));
    }
    document.body.dataset.target = target;
    if (!quiet) this.announcer.say(target === "spans" ? "Marking the answer" : "Marking evidence");
  }

  /** Words were marked in a document. */
  mark(span) {
    const { type } = this.answer;
    if (type === "none" || type === "bad") return this.announcer.show("No marks are needed for this type of answer");
    const answers = this.target === "spans" && (type === "span" || type === null);
    return (answers ? this.spans : this.context).add(span);
  }

  unmark(key) {
    const [name, index] = key.split(":");
    (name === "spans" ? this.spans : this.context).remove(Number(index));
  }

  /** Show the answer to another question; it is changed in place. */
  show(answer) {
    this.answer = answer;
    this.spans.show(answer.spans);
    this.context.show(answer.context);
    this.number.show(answer.value, answer.unit);
    this.yesNo.show(answer.yes_no);
    const kind = this.reasons.find((reason) => answer.reason.startsWith(reason));
    this.reasonKind.show(kind ?? (answer.reason ? "" : null));
    this.reason.show(kind ? answer.reason.slice(kind.length).trim() : answer.reason);
    this.aim(answer.type === "span" || answer.type === null ? "spans" : "context", { quiet: true });
    this.draw();
  }

  /** Draw what depends on the type. */
  draw() {
    const { type } = this.answer;
    this.type.show(type);
    this.root.dataset.type = type ?? "";
    for (const part of this.root.querySelectorAll("[data-parts] > [data-part]")) {
      part.hidden = part.dataset.part !== (type ?? "none-yet");
    }
    this.root.classList.toggle("needs-no-evidence", type === "none" || type === "bad");
  }

  focus(field) {
    if (field === "value" || field === "unit") return this.number[field].focus();
    if (field === "yes_no") return this.yesNo.focus();
    if (field === "reason") return this.reasonKind.focus();
    if (field === "spans" || field === "context") return this[field].focusNumber();
    return this.type.focus();
  }
}

/** What an answer needs, and what of it is there. */
export function partsOf({ type, spans, value, yes_no: yesNo, reason, context }) {
  const own = {
    span: ["Answer", spans.length],
    value: ["Number", value.trim()],
    binary: ["Yes or no", yesNo],
    bad: ["Reason", reason.trim()],
  }[type];
  const proof = type === "none" || type === "bad" ? [] : [["Evidence", context.length]];
  return [["Type of answer", type], ...(own ? [own] : []), ...proof];
}
