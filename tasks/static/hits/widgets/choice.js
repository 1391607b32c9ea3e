/** One of a few choices, as cards or plain radio buttons. */

export class Choice {
  /** on: {change(value), leave(), press(value): chosen with the mouse or a finger}. */
  constructor(root, on) {
    this.root = root;
    this.inputs = [...root.querySelectorAll("input[type=radio]")];
    for (const input of this.inputs) {
      input.addEventListener("change", () => on.change(input.value));
      // Arrow keys click too, without a count; the focus must not leap away from them.
      input.addEventListener("click", (event) => event.detail && on.press?.(input.value));
    }
    root.addEventListener("focusout", (event) => {
      if (!root.contains(event.relatedTarget)) on.leave?.();
    });
  }

  /** Show on each card the key that chooses it, where there is one. */
  number(keys) {
    this.root.querySelectorAll(".card-name").forEach((name, index) => {
      if (!keys[index]) return;
      const key = Object.assign(document.createElement("kbd"), { textContent: keys[index] });
      key.setAttribute("aria-hidden", "true");
      name.append(key);
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
