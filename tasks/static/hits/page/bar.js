/** One bar in place of two: this page says that it draws it, and what stands in it is told to it.

The words, the hours and the money are the marketplace's, whose own bar shows the same; what is pressed
here is asked of it. A page around that knows nothing of this keeps its bar, and ours goes without. */

// What stands is not moved under the hand: the page appears once it is known how high its window is.
const patience = 200;
const find = (selector) => document.querySelector(selector);
const root = document.documentElement;

export class Bar {
  constructor() {
    if (window.parent === window) {
      this.#draw();
      delete root.dataset.bar;
      return;
    }
    window.addEventListener("message", ({ source, data }) => {
      if (source !== window.parent) return;
      if (data?.marketplace === "ready") this.#say({ bar: "own" });
      else if (data?.marketplace === "bar") this.#show(data);
    });
    this.#listen();
    root.dataset.bar = "asked";
    setTimeout(() => {
      if (root.dataset.bar !== "asked") return;
      delete root.dataset.bar;
      this.#draw();
    }, patience);
    this.#say({ bar: "own" });
  }

  #draw() {
    root.removeAttribute("data-undrawn");
  }

  #say(message) {
    window.parent.postMessage(message, "*");
  }

  #listen() {
    find("[data-action=list]").addEventListener("click", () => this.#say({ bar: "list" }));
    find("[data-action=more]").addEventListener("click", () => this.#say({ bar: "more" }));
    const next = find("[data-bar-next] input");
    next.addEventListener("change", () => this.#say({ bar: "next", on: next.checked }));
  }

  #show({ lang, title, line, pay, time, isLoud, more, next, isNext }) {
    root.dataset.bar = "own";
    for (const [name, words] of Object.entries({ title, line, pay, time })) {
      // In the bar as much as has room, and whole in its menu.
      for (const element of document.querySelectorAll(`[data-bar-${name}]`)) {
        if (element.textContent === words) continue;
        element.textContent = element.title = words;
        element.lang = lang;
      }
    }
    find(".bar-pay").classList.toggle("is-long", pay.length > 20);
    find(".bar").classList.toggle("is-loud", isLoud);
    const button = find("[data-action=more]");
    button.hidden = !more;
    Object.assign(button, { textContent: more, lang });
    const choice = find("[data-bar-next]");
    choice.hidden = !next;
    Object.assign(choice.querySelector("span"), { textContent: next, lang });
    choice.querySelector("input").checked = isNext;
    // It is laid out before it is drawn: browsers count what moves while it appears.
    requestAnimationFrame(() => requestAnimationFrame(this.#draw));
  }
}
