/** A form of fields given as data: free words, or one of a few choices. */

import { Choice } from "./choice.js";
import { TextField } from "./text.js";

/** The values of a form that nobody has begun. */
export function blankForm(fields) {
  return Object.fromEntries(fields.map((field) => [field.name, isChoice(field) ? null : ""]));
}

/** What a form needs, and what of it is there. */
export function partsOf(values, fields) {
  return fields.filter((field) => field.required).map((field) => [field.label, values[field.name]?.trim()]);
}

export class Form {
  /** on: {change(), leave(name)}. */
  constructor(root, fields, { history, on }) {
    Object.assign(this, { root, fields, history, on });
    this.widgets = new Map(fields.map((field) => [field.name, this.#widget(field)]));
    const first = fields.find(isChoice);
    if (first) this.widgets.get(first.name).number();
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
    this.on.change();
  }

  /** Make the choice with this number, counted from 0, in the first field that has choices. */
  press(index) {
    const field = this.fields.find(isChoice);
    const choice = field?.choices[index];
    if (choice) this.#choose(field, choice.value);
  }

  /** Show another item's values; they are changed in place. */
  show(values, lang) {
    this.values = values;
    for (const [name, widget] of this.widgets) widget.show(values[name], lang);
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
