/** Text size, theme, spacing and sounds: shown at once, kept on the server. */

export class Preferences {
  constructor({ dialog, values, api }) {
    Object.assign(this, { dialog, values: { ...values }, api });
    this.note = dialog.querySelector("[data-preferences-note]");
    for (const input of document.querySelectorAll("[data-preference]")) {
      this.#fill(input);
      input.addEventListener("change", () => this.#changed(input));
    }
  }

  #fill(input) {
    const value = this.values[input.dataset.preference];
    input.checked = input.type === "radio" ? input.value === value : Boolean(value);
  }

  async #changed(input) {
    const name = input.dataset.preference;
    this.values[name] = input.type === "radio" ? input.value : input.checked;
    this.show();
    try {
      const { status } = await this.api.post("preferences", { [name]: this.values[name] });
      this.note.textContent = status === 200 ? "Kept for all your HITs here." : "Shown here, but not kept: the server refused it.";
    } catch {
      this.note.textContent = "Shown here, but not kept: the server could not be reached.";
    }
  }

  show() {
    const root = document.documentElement.dataset;
    root.theme = this.values.theme;
    root.textSize = this.values.text_size;
    root.spacing = this.values.spacing;
  }
}
