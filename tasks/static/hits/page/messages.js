/** Advice and problems: what the server said of each question, and where it is shown. */

export class Messages {
  /** element: where the current question's advice stands; on.go(ref, field): jump there. */
  constructor({ element, panel, on }) {
    Object.assign(this, { element, panel, on });
    this.title = panel.querySelector("[data-problems-title]");
    this.list = panel.querySelector("[data-problem-list]");
    this.byRef = new Map();
    this.left = new WeakMap();
    panel.querySelector("[data-action=close-problems]").addEventListener("click", () => this.close());
    panel.addEventListener("keydown", (event) => event.key === "Escape" && this.close());
    document.addEventListener("focusin", ({ target }) => this.#makeWay(target));
  }

  /** Take in a check; asked: for each question in the order sent, {ref, sent: its values then}. */
  receive({ problems = [], hints = [] }, asked) {
    this.byRef.clear();
    for (const [kind, list] of [["problem", problems], ["hint", hints]]) {
      for (const { index, field, message } of list) {
        const { ref, sent } = asked[index] ?? {};
        if (!ref) continue;
        if (!this.byRef.has(ref)) this.byRef.set(ref, []);
        this.byRef.get(ref).push({ kind, field, message, sent });
      }
    }
  }

  /** What is said of a question and not yet mended: the next check would drop the rest. */
  of(ref) {
    return (this.byRef.get(ref) ?? []).filter(({ field, sent }) => !isMended(ref, sent, field));
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
  refuse(problems, asked, name) {
    const refs = asked.map(({ ref }) => ref);
    const groups = Map.groupBy(problems, ({ index }) => (refs[index] ? index : null));
    const alike = Map.groupBy(groups, ([index, group]) => index === null ? index : sentences(group).join("\n"));
    const items = [...alike.values()].flatMap((these) => this.#entries(these, refs, name));
    this.list.replaceChildren(...items);
    this.title.textContent = problems.length === 1
      ? "Not submitted yet: one thing to mend"
      : `Not submitted yet: ${problems.length} things to mend`;
    for (const ref of refs) this.leaveAll(ref);
    this.#open(false);
  }

  /** What is wrong with several questions alike is said once, with a button for each of them. */
  #entries(these, refs, name) {
    const [[first, group]] = these;
    if (first === null) return group.map(({ message }) => make("li", message));
    const item = make("li");
    const go = make("p");
    for (const [index, [{ field }]] of these) {
      const button = make("button", name(refs[index]), "problem");
      button.type = "button";
      button.dataset.problem = index;
      button.addEventListener("click", () => {
        this.close();
        this.on.go(refs[index], field);
      });
      go.append(button);
    }
    item.append(go, ...sentences(group).map((sentence) => make("p", sentence)));
    return [item];
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

  /** Nobody writes under the list: it closes, and Submit opens it again. */
  #makeWay(element) {
    // A dialog or a menu lies over the list, not under it.
    if (this.panel.hidden || this.panel.contains(element) || element.closest("dialog, [popover]")) return;
    const [list, under] = [this.panel, element].map((one) => one.getBoundingClientRect());
    const isBeside = list.right <= under.left || under.right <= list.left;
    if (!isBeside && list.top < under.bottom && under.top < list.bottom) this.panel.hidden = true;
  }

  close() {
    const inside = this.panel.contains(document.activeElement);
    this.panel.hidden = true;
    if (inside && this.before?.isConnected) this.before.focus({ preventScroll: true });
  }
}

/** True when what was missing is there by now, or another type of answer makes it needless. */
function isMended(ref, sent, field) {
  const [now, then] = [ref.fields ?? ref, sent.fields ?? sent];
  if (Boolean(now.skipped) !== Boolean(then.skipped)) return true;
  return (now.type ?? null) !== (then.type ?? null) || (isBlank(then[field]) && !isBlank(now[field]));
}

function isBlank(value) {
  return value !== undefined && !value?.length;
}

function sentences(group) {
  return group.map(({ message }) => message);
}

function make(tag, textContent = "", className = "") {
  return Object.assign(document.createElement(tag), { textContent, className });
}
