/* Keeps a part of the page up to date, unless somebody is using it or the tab is hidden. */

const FAILED = 4;

class LivePart {
  constructor(part) {
    this.part = part;
    this.address = part.dataset.live;
    this.wait = Number(part.dataset.liveSeconds) * 1000;
    this.failures = 0;
    this.shown = null;
  }

  isInUse() {
    const focused = document.activeElement;
    const selection = document.getSelection();
    const selecting = selection && !selection.isCollapsed && this.part.contains(selection.anchorNode);
    return document.hidden || selecting || (this.part.contains(focused) && focused !== this.part);
  }

  async refresh() {
    if (this.isInUse()) return;
    try {
      const reply = await fetch(this.address, { headers: { Accept: "text/html" } });
      if (!reply.ok || reply.redirected) throw new Error(String(reply.status));
      const html = await reply.text();
      if (html !== this.shown && !this.isInUse()) this.part.innerHTML = html;
      this.shown = html;
      this.failures = 0;
    } catch {
      this.failures += 1;
    }
  }

  keep() {
    const patience = Math.min(2 ** this.failures, 2 ** FAILED);
    setTimeout(async () => {
      await this.refresh();
      this.keep();
    }, this.wait * patience);
  }
}

for (const part of document.querySelectorAll("[data-live]")) new LivePart(part).keep();
