/** The search box over the open document: hits, their count, next and previous. */

export class Finder {
  /** on: {back(): to the text}; what is searched is given by use(). */
  constructor(form, on) {
    this.form = form;
    this.on = on;
    this.input = form.querySelector("[data-search-text]");
    this.count = form.querySelector("[data-search-count]");
    this.hits = [];
    this.current = -1;
    this.input.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.run(), 150);
    });
    this.input.addEventListener("keydown", (event) => this.#key(event));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.step(1);
    });
    form.querySelector("[data-action=previous-hit]").addEventListener("click", () => this.step(-1));
  }

  #key(event) {
    if (event.key === "Enter" && event.shiftKey) {
      event.preventDefault();
      this.step(-1);
    } else if (event.key === "Escape") {
      event.preventDefault();
      if (!this.input.value) return this.on.back();
      this.input.value = "";
      this.run();
    }
    return undefined;
  }

  /** Forget what was looked for: another question, other words. */
  clear() {
    this.input.value = "";
  }

  /** Search another document from now on. */
  use(reader, searches) {
    this.reader?.show("found", []);
    Object.assign(this, { reader, searches });
    this.run({ jump: false });
  }

  run({ jump = true } = {}) {
    clearTimeout(this.timer);
    const words = this.input.value;
    this.ran = words;
    this.hits = this.searches.flatMap(({ base, search }) =>
      search.find(words).map(({ start, end }) => ({ start: start + base, end: end + base })));
    this.current = this.hits.length && jump ? 0 : -1;
    this.#draw(jump);
  }

  step(by) {
    if (this.ran !== this.input.value) return this.run();
    if (!this.hits.length) return undefined;
    const from = this.current < 0 && by < 0 ? 0 : this.current;
    this.current = (from + by + this.hits.length) % this.hits.length;
    return this.#draw(true);
  }

  #draw(jump) {
    this.reader.show("found", this.hits.map(({ start, end }, index) => ({
      start, end, classes: index === this.current ? ["found", "current-hit"] : ["found"],
    })));
    const { length } = this.hits;
    if (!this.input.value.trim()) this.count.textContent = "";
    else if (!length) this.count.textContent = "0";
    else this.count.textContent = this.current < 0 ? `${length}` : `${this.current + 1}/${length}`;
    const hit = jump && this.reader.element.querySelector(".current-hit");
    if (hit) hit.scrollIntoView({ block: "center" });
  }
}
