/** A form of fields given as data: free words, or one of a few choices. */

import { Choice } from "./choice.js";
import { TextField } from "./text.js";

// Of more labels than these the definitions are shown when asked for: they would hide the text.
const FEW = 5;

/** The key that chooses each label of a field: its own, else its number, "" beyond the ninth. */
export function keysOf({ choices }) {
  return choices.map(({ key }, index) => key || (index < 9 ? String(index + 1) : ""));
}

/** The values of a form that nobody has begun. */
export function blankForm(fields) {
  return Object.fromEntries(fields.map((field) => [field.name, isChoice(field) ? null : ""]));
}

/** What a form needs, and what of it is there; what another field stands for is needed no more. */
export function partsOf(values, fields) {
  const stoodFor = new Set(fields.filter(({ name }) => values[name]?.trim()).map((field) => field.instead_of));
  return fields
    .filter((field) => field.required && !stoodFor.has(field.name))
    .map((field) => [field.label, values[field.name]?.trim()]);
}

export class Form {
  /** on: {change(), leave(name)}. */
  constructor(root, fields, { history, on }) {
    Object.assign(this, { root, fields, history, on });
    this.widgets = new Map(fields.map((field) => [field.name, this.#widget(field)]));
    for (const field of this.#facets) this.widgets.get(field.name).number(keysOf(field));
    this.define = root.querySelector("[data-action=define]");
    this.define.hidden = !this.#facets.some(({ choices, rule }) => rule || choices.length > FEW);
    this.define.addEventListener("click", () => this.toggleDefinitions());
    this.#showDefinitions(this.define.hidden);
  }

  get #facets() {
    return this.fields.filter(isChoice);
  }

  /** The field whose label the next key chooses: the first without one, else the last. */
  get #next() {
    return this.#facets.find(({ name }) => !this.values[name]) ?? this.#facets.at(-1);
  }

  /** Show what the labels mean, or hide it again; it stays so from item to item. */
  toggleDefinitions() {
    if (!this.define.hidden) this.#showDefinitions(!this.root.classList.contains("is-defined"));
  }

  #showDefinitions(shown) {
    this.root.classList.toggle("is-defined", shown);
    this.define.setAttribute("aria-pressed", String(shown));
  }

  #widget(field) {
    const element = this.root.querySelector(`[data-field=${field.name}]`);
    const leave = () => this.on.leave(field.name);
    if (isChoice(field)) return new Choice(element, { change: (value) => this.#choose(field, value), leave });
    const change = (words) => { this.values[field.name] = words; this.on.change(); };
    return new TextField(element, { change, leave });
  }

  #choose({ name }, value) {
    const { values } = this;
    const before = values[name];
    if (before === value) return;
    this.#set(values, name, value);
    this.history.add(`Chosen: ${value}`, () => this.#set(values, name, before));
  }

  #set(values, name, value) {
    values[name] = value;
    if (values === this.values) this.widgets.get(name).show(value);
    this.#point();
    this.on.change();
  }

  /** Choose the label with this key in the field that is next. */
  press(key) {
    const field = this.#next;
    const index = field ? keysOf(field).indexOf(key) : -1;
    if (index >= 0) this.#choose(field, field.choices[index].value);
  }

  /** Mark the field that keys choose in, where there are several. */
  #point() {
    if (this.#facets.length < 2) return;
    const next = this.#next;
    for (const { name } of this.#facets) this.widgets.get(name).root.classList.toggle("is-next", name === next.name);
  }

  /** Show another item's values; they are changed in place. */
  show(values, lang) {
    this.values = values;
    for (const [name, widget] of this.widgets) widget.show(values[name], lang);
    this.#point();
  }

  /** Put the focus on a field, by default on the first one. */
  focus(name = this.fields[0].name) {
    (this.widgets.get(name) ?? this.widgets.get(this.fields[0].name)).focus();
  }

  /** To the first field to write in. */
  write() {
    const field = this.fields.find((one) => !isChoice(one));
    if (field) this.focus(field.name);
  }

  /** The element of every field by its name. */
  get elements() {
    return new Map([...this.widgets].map(([name, widget]) => [name, widget.root]));
  }
}

function isChoice(field) {
  return field.choices.length > 0;
}
