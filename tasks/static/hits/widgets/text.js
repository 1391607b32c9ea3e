/** A field for free words. */

// Of a script that parts no words, or whose words grow, each character: as in tasks/work/widgets/words.py.
const alone =
  "\\u0e00-\\u109f\\u1780-\\u17ff\\u3005-\\u3007\\u3040-\\u30ff\\u3400-\\u9fff\\uac00-\\ud7a3\\uf900-\\ufaff" +
  "\\u{20000}-\\u{3ffff}";
const piece = new RegExp(`[${alone}]\\p{M}*|[^${alone}]+`, "gu");

/** True when a text has so many words or more. */
export function hasWords(text, least) {
  const found = text.match(/[\p{L}\p{N}\p{M}_]+(?:['’-][\p{L}\p{N}\p{M}_]+)*/gu) ?? [];
  return found.flatMap((word) => word.match(piece)).length >= least;
}

export class TextField {
  /** on: {change(words), leave()}. */
  constructor(root, on) {
    this.root = root;
    this.input = root.querySelector("[data-text]");
    this.input.addEventListener("input", () => on.change(this.input.value));
    this.input.addEventListener("blur", () => on.leave?.());
  }

  get value() {
    return this.input.value;
  }

  /** Show other words, in this language; the caret of a field in use is left alone. */
  show(words, lang) {
    if (this.input.value !== words) this.input.value = words;
    if (lang) this.input.lang = lang;
  }

  focus() {
    this.input.focus();
  }
}
