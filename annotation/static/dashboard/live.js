/* Keeps a part of the page up to date, unless somebody is using it or the tab is hidden. */

const FAILED = 4;
// A server that was away is seen within seconds of its return.
const AWAY_MS = 4_000;
const AWAY = "The server does not answer: this is how it was. The page goes on by itself.";

class LivePart {
  constructor(part) {
    this.part = part;
    this.address = part.dataset.live;
    this.wait = Number(part.dataset.liveSeconds) * 1000;
    this.failures = 0;
    this.shown = null;
    this.away = document.createElement("p");
    this.away.className = "faint";
    this.away.setAttribute("role", "status");
    this.away.hidden = true;
    part.before(this.away);
  }

  isInUse() {
    const focused = document.activeElement;
    const selection = document.getSelection();
    const selecting = selection && !selection.isCollapsed && this.part.contains(selection.anchorNode);
    return document.hidden || selecting || (this.part.contains(focused) && focused !== this.part);
  }

  async refresh() {
    if (this.isInUse()) return;
    let reply;
    try {
      reply = await fetch(this.address, { headers: { Accept: "text/html" } });
      const html = await reply.text();
      if (!reply.ok || reply.redirected) throw new Error(String(reply.status));
      if (html !== this.shown && !this.isInUse()) this.part.innerHTML = html;
      this.shown = html;
      this.failures = 0;
    } catch {
      this.failures += 1;
    }
    const said = this.failures && (!reply || reply.status >= 500) ? AWAY : "";
    if (this.away.textContent !== said) this.away.textContent = said;
    this.away.hidden = !said;
  }

  keep() {
    const patience = Math.min(2 ** this.failures, 2 ** FAILED);
    const pause = this.away.textContent ? Math.min(AWAY_MS, this.wait) : this.wait * patience;
    setTimeout(async () => {
      await this.refresh();
      this.keep();
    }, pause);
  }
}

for (const part of document.querySelectorAll("[data-live]")) new LivePart(part).keep();
