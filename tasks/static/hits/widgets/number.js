/** A number and its unit. */

export class NumberField {
  /** on: {change(), leave(field)}; value and unit are read from here. */
  constructor(root, on) {
    this.root = root;
    this.value = root.querySelector("[data-value]");
    this.unit = root.querySelector("[data-unit]");
    for (const [name, input] of [["value", this.value], ["unit", this.unit]]) {
      input.addEventListener("input", () => on.change());
      input.addEventListener("blur", () => on.leave?.(name));
    }
  }

  show(value, unit) {
    if (this.value.value !== value) this.value.value = value;
    if (this.unit.value !== unit) this.unit.value = unit;
  }

  focus() {
    this.value.focus();
  }
}
