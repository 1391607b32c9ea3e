/** JSON over POST with the page's token; no cookies. */

export class Api {
  constructor(urls, token) {
    Object.assign(this, { urls, token });
  }

  /** Returns {status, body}; rejects only when no answer came. */
  async post(name, payload, { keepalive = false, timeoutSeconds = 30 } = {}) {
    const body = JSON.stringify(payload);
    const response = await fetch(this.urls[name], {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${this.token}` },
      body,
      credentials: "omit",
      // Browsers refuse to keep more than 64 kB alive after the page has gone.
      keepalive: keepalive && body.length < 20000,
      signal: keepalive ? undefined : AbortSignal.timeout(timeoutSeconds * 1000),
    });
    let answer = {};
    try {
      answer = await response.json();
    } catch {
      // A proxy's error page is not JSON; its status still counts.
    }
    return { status: response.status, body: answer };
  }
}

const NOT_SENT = "A worker would hand this in now. In a trial nothing is kept.";

const NOT_KEPT = "Only what this worker searched for and opened is kept.";

/** In a trial: the requester's own pages answer what keeps nothing, and nothing else is asked. */
export class TrialApi {
  /** trial: {urls, token}, or of a kept page {answers}: by what was asked for, under what words;
      undefined where nobody answers. */
  constructor({ urls = {}, token = "", answers = {} } = {}) {
    Object.assign(this, { urls, token, answers });
  }

  /** Returns {status, body} as Api does, and never rejects. */
  async post(name, payload) {
    const known = this.answers[name]?.[payload.query ?? payload.title];
    if (known) return { status: 200, body: known };
    if (!this.urls[name]) {
      return { status: 404, body: { message: name === "search" || name === "article" ? NOT_KEPT : NOT_SENT } };
    }
    try {
      const response = await fetch(this.urls[name], {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-CSRFToken": this.token },
        body: JSON.stringify(payload),
      });
      return { status: response.status, body: await response.json() };
    } catch {
      return { status: 503, body: {} };
    }
  }
}
