/** The one deadline is the marketplace's, which shows it, speaks of it and gives more time.

The page only plays its tone when ten minutes remain, and tells its server of more time: the frame's
new address proves it. */

const loudSeconds = 600;

export class Clock {
  /** serverNow, expiresAt: seconds since 1970; extend(address) → the new end; on: {loud()}. */
  constructor({ serverNow, expiresAt, extend, on }) {
    Object.assign(this, { expiresAt, on });
    this.skew = serverNow - Date.now() / 1000;
    this.tick();
    setInterval(() => this.tick(), 1000);
    window.addEventListener("message", async ({ source, data }) => {
      if (source !== window.parent || data?.marketplace !== "extended") return;
      this.expiresAt = await extend(String(data.address)) ?? this.expiresAt;
      this.wasLoud = false;
    });
  }

  get secondsLeft() {
    return Math.round(this.expiresAt - (Date.now() / 1000 + this.skew));
  }

  tick() {
    if (this.wasLoud || this.secondsLeft > loudSeconds) return;
    this.wasLoud = true;
    this.on.loud();
  }
}

/** Say to our own server that the marketplace has given more time; returns the new end. */
export function follower(api) {
  return async (address) => {
    try {
      const { status, body } = await api.post("extend", { address });
      return status === 200 ? body.expires_at : undefined;
    } catch {
      // The next time this page is opened, its address says so again.
      return undefined;
    }
  };
}
