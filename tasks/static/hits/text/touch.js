/** Fingers select without a drag that ends: a button offers to mark what they selected. */

let button = null;
let reader = null;
let byFinger = false;

function build() {
  button = document.createElement("button");
  button.type = "button";
  button.className = "button touch-mark";
  button.dataset.action = "mark-selection";
  button.textContent = "Mark these words";
  button.hidden = true;
  // Pressing a button would drop the selection before the click arrives.
  button.addEventListener("pointerdown", (event) => event.preventDefault());
  button.addEventListener("click", () => {
    reader?.mark();
    button.hidden = true;
  });
  document.body.append(button);
  document.addEventListener("pointerdown", (event) => { byFinger = event.pointerType !== "mouse"; }, true);
  document.addEventListener("selectionchange", place);
}

function place() {
  const selection = document.getSelection();
  const usable = byFinger && reader?.enabled && reader.selected();
  button.hidden = !usable;
  if (!usable) return;
  const lines = selection.getRangeAt(0).getClientRects();
  const last = lines[lines.length - 1];
  button.style.left = `${Math.max(8, Math.min(last.left, window.innerWidth - button.offsetWidth - 8))}px`;
  button.style.top = `${Math.min(last.bottom + 12, window.innerHeight - button.offsetHeight - 8)}px`;
}

/** Offer the button for selections in this reader. */
export function offerMark(candidate) {
  if (!button) build();
  candidate.element.addEventListener("pointerdown", () => { reader = candidate; });
}
