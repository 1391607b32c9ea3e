/** Which linked articles were opened for a question: told where somebody says that there is no answer. */

export class Opened {
  /** place: where it is told; on: {open(title), sure(): no answer all the same}. */
  constructor({ dialogs, place, on }) {
    Object.assign(this, { dialogs, place, on });
    this.dialog = dialogs.get("unopened");
    this.first = this.dialog.querySelector("[data-action=open-first]");
    this.first.addEventListener("click", () => { this.dialog.close(); on.open(this.unread[0]); });
    this.dialog.querySelector("[data-action=none-all-the-same]").addEventListener("click", () => {
      this.dialog.close();
      on.sure();
    });
    this.restore(null);
  }

  /** Take over what was kept with a draft. */
  restore(ui) {
    this.titles = new Map(Object.entries(ui?.opened ?? {}));
    this.asked = new Set(ui?.asked ?? []);
  }

  /** What is to be kept with the draft. */
  get kept() {
    return { opened: Object.fromEntries(this.titles), asked: [...this.asked] };
  }

  /** Tell of another item: {id, passage, writer_links}. */
  show(item) {
    this.item = item;
    this.#tell();
  }

  /** An article was opened; true when it was not before. */
  add(title) {
    const known = this.titles.get(this.item.id) ?? [];
    if (known.includes(title)) return false;
    this.titles.set(this.item.id, [...known, title]);
    this.#tell();
    return true;
  }

  /** Whether "no answer" may be said; nobody who has opened nothing is asked twice. */
  may() {
    const { id } = this.item;
    if (this.titles.has(id) || this.asked.has(id) || !this.unread.length) return true;
    this.asked.add(id);
    this.first.textContent = `Open “${this.unread[0]}”`;
    this.dialogs.open("unopened");
    return false;
  }

  /** The articles that can be opened and were not, those that the writer picked first. */
  get unread() {
    const { id, passage, writer_links: wanted = [] } = this.item;
    const opened = this.titles.get(id) ?? [];
    const readable = passage.links.filter((link) => link.readable !== false).map((link) => link.title);
    const all = [...new Set(readable)].sort((one, other) => wanted.includes(other) - wanted.includes(one));
    return all.filter((title) => !opened.includes(title));
  }

  #tell() {
    const opened = this.titles.get(this.item.id) ?? [];
    const { writer_links: wanted = [] } = this.item;
    const left = this.unread.filter((title) => wanted.includes(title));
    const said = opened.length ? `You have opened ${named(opened)}.` : "You have not opened any of its articles.";
    const hint = left.length ? ` The writer also picked ${named(left)}.` : "";
    this.place.textContent = `${said}${opened.length ? hint : hint.replace("also ", "")} No evidence is needed.`;
  }
}

function named(titles) {
  const quoted = titles.map((title) => `“${title}”`);
  return quoted.length < 2 ? quoted.join("") : `${quoted.slice(0, -1).join(", ")} and ${quoted.at(-1)}`;
}
