/** The page's own dialogs: instructions, report, return; opened and closed in one way. */

export class Dialogs {
  constructor() {
    this.byName = new Map();
    for (const dialog of document.querySelectorAll("dialog[data-dialog]")) {
      this.byName.set(dialog.dataset.dialog, dialog);
      dialog.addEventListener("click", (event) => {
        const outside = event.target === dialog && !inside(dialog, event);
        if (outside || event.target.closest("[data-action=close]")) dialog.close();
      });
    }
  }

  get(name) {
    return this.byName.get(name);
  }

  open(name) {
    const dialog = this.get(name);
    if (!dialog || dialog.open) return dialog;
    document.querySelector("[data-menu]:popover-open")?.hidePopover();
    dialog.returnValue = "";
    dialog.showModal();
    dialog.querySelector("h2")?.focus();
    return dialog;
  }
}

function inside(dialog, { clientX, clientY }) {
  const box = dialog.getBoundingClientRect();
  return clientX >= box.left && clientX <= box.right && clientY >= box.top && clientY <= box.bottom;
}

/** Instructions: open by themselves once per version, or always when asked for. */
export function showInstructions({ dialogs, state, api }) {
  const dialog = dialogs.get("instructions");
  const { version, seen } = state.instructions;
  if (!seen || state.preferences.instructions_open) dialogs.open("instructions");
  if (seen) return;
  dialog.addEventListener("close", () => {
    // Whoever was called away has not read them.
    if (dialog.returnValue === "interrupted") return;
    api.post("instructions_seen", { version }).catch(() => {
      // They open again next time: better twice than never.
    });
  }, { once: true });
}

/** Report a problem with this HIT to the requester; what was sent leaves the work in sight again. */
export function listenToReports({ dialogs, api, announcer }) {
  const dialog = dialogs.get("report");
  const words = dialog.querySelector("[data-report-text]");
  const note = dialog.querySelector("[data-report-note]");
  const send = dialog.querySelector("[data-action=send-report]");
  const before = note.textContent;
  dialog.querySelector("form").addEventListener("submit", async (event) => {
    event.preventDefault();
    if (send.disabled) return;
    if (!words.value.trim()) {
      note.textContent = "Write in a few words what is wrong, then press Send.";
      words.focus();
      return;
    }
    send.disabled = true;
    note.textContent = "Sending…";
    try {
      const { status, body } = await api.post("problem", { message: words.value });
      if (status === 200) {
        words.value = "";
        note.textContent = before;
        dialog.close();
        announcer.show(body.message);
      } else note.textContent = body.message ?? "Not sent: the server refused it. Press Send again.";
    } catch {
      note.textContent = "Not sent: the server could not be reached. Your words are kept; press Send again.";
    }
    send.disabled = false;
  });
}

/** Return the HIT: save first, then the marketplace's page around us asks, in its own words.

leaving: what only the task knows of leaving it, said in the same question. */
export function listenToReturn({ draft, messages, leaving = "" }) {
  if (leaving) window.parent.postMessage({ leaving }, "*");
  for (const button of document.querySelectorAll("[data-action=return]")) {
    button.addEventListener("click", async () => {
      document.querySelector("[data-menu]:popover-open")?.hidePopover();
      const saved = await draft.save();
      if (saved || draft.stopped) window.parent.postMessage({ collector: "return" }, "*");
      else messages.tell("Not returned: what you have written could not be saved. Check your connection and press Return again.");
    });
  }
}
