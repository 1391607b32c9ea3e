/** Calls somebody who looks elsewhere: by the title, and by sound and notification as they like. */

import { tone } from "../page/sound.js";

export class Call {
  /** sounds(): whether the worker wants to hear it. */
  constructor({ sounds }) {
    this.sounds = sounds;
    this.quietTitle = document.title;
    this.words = "";
  }

  /** Show words in the title as long as they hold; "" when nothing is to be done. */
  show(words) {
    if (words === this.words) return;
    this.words = words;
    document.title = words ? `● ${words}` : this.quietTitle;
    // The page around this one holds the tab's title.
    window.parent.postMessage({ collector: "title", title: words }, "*");
    if (!words) return this.notification?.close();
    if (this.sounds()) tone();
    if (!document.hasFocus()) this.#notify(words);
    return undefined;
  }

  #notify(words) {
    if (window.Notification?.permission !== "granted") return;
    try {
      this.notification = new Notification(words, { tag: "collector-dialog" });
      this.notification.onclick = () => window.focus();
    } catch {
      // Some browsers know notifications of workers alone.
    }
  }
}
