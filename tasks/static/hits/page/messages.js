/** Advice and problems: what the server said of each question, and where it is shown. */

export class Messages {
  /** element: where the current question's advice stands; on.go(ref, field): jump there. */
  constructor({ element, panel, on }) {
    Object.assign(this, { element, panel, on });
    this.title = panel.querySelector("[data-problems-title]");
    this.list = panel.querySelector("[data-problem-list]");
    this.byRef = new Map();
    this.left = new WeakMap();
    this.general = [];
    panel.querySelector("[data-action=close-problems]").addEventListener("click", () => this.close());
    panel.addEventListener("keydown", (event) => event.key === "Escape" && this.close());
  }

  /** Take in a check; refs: the questions in the order in which they were sent. */
  receive({ problems = [], hints = [] }, refs) {
    this.byRef.clear();
    this.general = problems.filter((problem) => refs[problem.index] === undefined);
    for (const [kind, list] of [["problem", problems], ["hint", hints]]) {
      for (const message of list) {
        const ref = refs[message.index];
        if (!ref) continue;
        if (!this.byRef.has(ref)) this.byRef.set(ref, []);
        this.byRef.get(ref).push({ kind, field: message.field, message: message.message });
      }
    }
  }

  of(ref) {
    return this.byRef.get(ref) ?? [];
  }

  hasProblem(ref) {
    return this.of(ref).some((message) => message.kind === "problem");
  }

  /** A field was left: from now on its problem may be shown as one. */
  leave(ref, field) {
    if (!this.left.has(ref)) this.left.set(ref, new Set());
    this.left.get(ref).add(field);
  }

  leaveAll(ref) {
    this.leave(ref, "*");
  }

  wasLeft(ref, field) {
    const fields = this.left.get(ref);
    return Boolean(fields && (fields.has("*") || fields.has(field)));
  }

  /** Show the advice on one question; fields: a Map from field name to its element. */
  show(ref, fields) {
    const messages = this.of(ref);
    const items = messages.map((message) => this.#line(message, ref));
    const before = this.element.textContent;
    if (before !== messages.map((message) => message.message).join("")) this.element.replaceChildren(...items);
    else items.forEach((item, i) => { this.element.children[i].className = item.className; });
    for (const [name, element] of fields) {
      const wrong = messages.some((message) => message.kind === "problem" && message.field === name);
      element.classList.toggle("is-wrong", wrong && this.wasLeft(ref, name));
    }
  }

  #line({ kind, field, message }, ref) {
    const line = document.createElement("p");
    const wrong = kind === "problem" && this.wasLeft(ref, field);
    line.className = `message ${wrong ? "wrong" : kind === "problem" ? "open" : "hint"}`;
    line.dataset.message = kind;
    if (field) line.dataset.for = field;
    line.textContent = message;
    line.title = message;
    return line;
  }

  /** The server refused: list everything at once and put the focus on the heading. */
  refuse(problems, refs, name) {
    const groups = Map.groupBy(problems, (problem) => (refs[problem.index] ? problem.index : null));
    const items = [...groups].map(([index, group]) => this.#entry(group, refs[index], name));
    this.list.replaceChildren(...items);
    this.title.textContent = problems.length === 1
      ? "Not submitted yet: one thing to mend"
      : `Not submitted yet: ${problems.length} things to mend`;
    for (const ref of refs) this.leaveAll(ref);
    this.#open(false);
  }

  #entry(group, ref, name) {
    const item = document.createElement("li");
    const sentences = group.map((problem) => problem.message).join(" ");
    const text = ref ? `${name(ref)}: ${sentences}` : sentences;
    if (!ref) {
      item.textContent = text;
      return item;
    }
    const button = document.createElement("button");
    button.type = "button";
    button.className = "problem";
    button.dataset.problem = group[0].index;
    button.textContent = text;
    button.addEventListener("click", () => {
      this.close();
      this.on.go(ref, group[0].field);
    });
    item.append(button);
    return item;
  }

  /** Say one sentence in the same place; quietly, when nobody asked for it just now. */
  tell(sentence, { quiet = false } = {}) {
    this.list.replaceChildren();
    this.title.textContent = sentence;
    this.#open(quiet);
  }

  #open(quiet) {
    if (this.panel.hidden) this.before = document.activeElement;
    this.panel.hidden = false;
    if (!quiet) this.title.focus();
  }

  close() {
    const inside = this.panel.contains(document.activeElement);
    this.panel.hidden = true;
    if (inside && this.before?.isConnected) this.before.focus({ preventScroll: true });
  }
}
