/** What one item needs to be complete, and which of it is there. */

export class Checklist {
  constructor(root) {
    this.root = root;
  }

  /** parts: [[what is needed, whether it is there], …] in the order of the page. */
  show(parts) {
    const said = JSON.stringify(parts);
    if (said === this.said) return;
    this.said = said;
    this.root.replaceChildren(...parts.map(([label, done]) => {
      const item = Object.assign(document.createElement("li"), { textContent: label });
      item.toggleAttribute("data-done", Boolean(done));
      item.append(Object.assign(document.createElement("span"), { className: "unseen", textContent: done ? ": there" : ": missing" }));
      return item;
    }));
  }
}

/** True when everything that is needed is there. */
export function isWhole(parts) {
  return parts.every(([, done]) => done);
}

/** Where to go on from an item: to the next one, from the last to the first that is not done; -1
    for nowhere. states: of all items, "done" for what is complete. */
export function following(index, states) {
  if (index < states.length - 1) return index + 1;
  return states.findIndex((state, at) => at !== index && state !== "done");
}
