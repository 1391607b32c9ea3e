/** The socket to the server: opened again whenever it is lost, and asked whether it still lives. */

// A page that is told one of these does not come back by itself.
const final = [4401, 4404];
const firstPause = 500;
// Short, so that both go on within seconds of its return.
const longestPause = 4_000;
// A server that was silent for so long is asked whether it is still there.
const silence = 45_000;
const patience = 4_000;

/** In place of a socket where a dialog is only looked at. */
export class NoLine {
  send() {
    return false;
  }

  check() {}

  close() {}
}

export class Line {
  /** most: bytes that the server takes at once, it closes the line on more;
      on: {message(message), open(), lost(tries), closed()}; open() comes before any message. */
  constructor({ url, token, most, on }) {
    Object.assign(this, { url, token, most, on });
    this.tries = 0;
    this.over = this.knows = false;
    window.addEventListener("online", () => this.check());
    window.addEventListener("offline", () => this.on.lost(this.tries));
    document.addEventListener("visibilitychange", () => document.hidden || this.check());
    window.addEventListener("pageshow", () => this.check());
    setInterval(() => this.#watch(), 5_000);
    this.#connect();
  }

  #connect() {
    clearTimeout(this.waiting);
    if (this.over) return;
    const socket = new WebSocket(this.url);
    this.socket = socket;
    this.heardAt = Date.now();
    socket.addEventListener("open", () => {
      if (socket !== this.socket) return;
      socket.send(JSON.stringify({ token: this.token, again: this.knows }));
      this.on.open();
    });
    socket.addEventListener("message", (event) => {
      if (socket !== this.socket) return;
      const message = JSON.parse(event.data);
      this.tries = 0;
      this.heardAt = Date.now();
      this.knows ||= message.type === "state";
      clearTimeout(this.asking);
      this.on.message(message);
    });
    socket.addEventListener("close", (event) => socket === this.socket && this.#lost(event.code));
  }

  #lost(code = 0) {
    const { socket } = this;
    this.socket = null;
    clearTimeout(this.asking);
    socket?.close();
    if (final.includes(code)) {
      this.over = true;
      this.on.closed();
      return;
    }
    this.tries += 1;
    this.on.lost(this.tries);
    const pause = Math.min(longestPause, firstPause * 2 ** (this.tries - 1));
    this.waiting = setTimeout(() => this.#connect(), pause * (0.75 + Math.random() / 2));
  }

  /** Send a message; false where there is no connection now, or it is too long. */
  send(message) {
    const text = JSON.stringify(message);
    const isTooLong = new TextEncoder().encode(text).length > this.most;
    if (this.socket?.readyState !== WebSocket.OPEN || isTooLong) return false;
    this.socket.send(text);
    return true;
  }

  /** The network or the eye has come back: is the connection still one? */
  check() {
    if (this.over) return;
    if (!this.socket) {
      this.#connect();
    } else if (this.send({ type: "look" })) {
      clearTimeout(this.asking);
      this.asking = setTimeout(() => this.#lost(), patience);
    }
  }

  #watch() {
    if (this.socket?.readyState === WebSocket.OPEN && Date.now() - this.heardAt > silence) this.check();
  }

  close() {
    this.over = true;
    clearTimeout(this.waiting);
    this.socket?.close();
  }
}
