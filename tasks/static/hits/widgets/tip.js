/** The title a link leads to, shown over the text while one points at it, unless its words say so. */

const unreadable = "Its article is not in this collection";

export class Tip {
  constructor() {
    this.element = document.createElement("div");
    this.element.className = "tip";
    this.element.hidden = true;
    this.element.setAttribute("aria-hidden", "true");
    document.body.append(this.element);
    document.addEventListener("scroll", () => this.show(null), { passive: true });
  }

  show(title, near) {
    const words = near?.matches(".inert") ? unreadable : `→ ${title}`;
    this.element.hidden = !title || !near || (words !== unreadable && near.textContent.toLowerCase() === title.toLowerCase());
    if (this.element.hidden) return;
    this.element.textContent = words;
    const [line] = near.getClientRects();
    const width = this.element.offsetWidth;
    const left = Math.max(8, Math.min(line.left, document.documentElement.clientWidth - width - 8));
    this.element.style.translate = `${left}px ${line.top - this.element.offsetHeight - 4}px`;
  }
}
