/** A field for numbers of sentences: Enter takes them, Esc leads back to the text.

Letters are no numbers: they stay keys of the page, wherever Tab has led. */

export class SentenceField {
  /** root: what holds the field; on: {find(number) → what it is, or null, take([found, …]), back()}. */
  constructor(root, { announcer, on }) {
    Object.assign(this, { announcer, on });
    this.input = root.querySelector("[data-sentence]");
    this.label = root.querySelector("[data-sentence-label]");
    this.asks = this.label.textContent;
    this.input.addEventListener("input", () => this.#tell(""));
    this.input.addEventListener("blur", () => this.#tell(""));
    this.input.addEventListener("keydown", (event) => this.#key(event));
  }

  #key(event) {
    if (event.key === "Escape") {
      event.preventDefault();
      this.input.value = "";
      this.on.back?.();
    } else if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      this.#take();
    }
  }

  #take() {
    const numbers = numbersIn(this.input.value);
    const unknown = numbers.find((number) => !this.on.find(number));
    if (!numbers.length || unknown !== undefined) return this.#refuse(unknown ?? this.input.value);
    this.on.take(numbers.map((number) => this.on.find(number)));
    this.input.value = "";
    return undefined;
  }

  #refuse(number) {
    const sentence = `There is no sentence ${number}`;
    this.#tell(sentence);
    this.announcer.say(sentence);
    // What is typed next is another number, not more digits of this one.
    this.input.value = "";
  }

  /** Show what is wrong where the field is named; "" for nothing. */
  #tell(sentence) {
    this.label.textContent = sentence || this.asks;
    this.label.classList.toggle("is-wrong", Boolean(sentence));
    this.input.setAttribute("aria-invalid", String(Boolean(sentence)));
  }

  focus(digit = "") {
    this.input.value = digit;
    this.input.focus();
  }
}

/** "2, 4-6" → [2, 4, 5, 6]. */
function numbersIn(words) {
  const numbers = [];
  for (const part of words.matchAll(/(\d+)(?:\s*[-–]\s*(\d+))?/g)) {
    const first = Number(part[1]);
    const last = Math.min(Number(part[2] ?? first), first + 50);
    for (let number = first; number <= last; number += 1) numbers.push(number);
  }
  return numbers;
}
