/** One of a few choices, as cards or plain radio buttons. */

export class Choice {
  /** on: {change(value), leave()}. */
  constructor(root, on) {
    this.root = root;
    this.inputs = [...root.querySelectorAll("input[type=radio]")];
    for (const input of this.inputs) input.addEventListener("change", () => on.change(input.value));
    root.addEventListener("focusout", (event) => {
      if (!root.contains(event.relatedTarget)) on.leave?.();
    });
  }

  /** Show a value, or no choice for null. */
  show(value) {
    for (const input of this.inputs) input.checked = value !== null && input.value === value;
  }

  focus() {
    (this.inputs.find((input) => input.checked) ?? this.inputs[0]).focus();
  }
}
