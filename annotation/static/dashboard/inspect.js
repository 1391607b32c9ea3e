/* Grant and decline by key, outside text fields; ↑ and ↓ through the queue stay the browser's. */

const KEYS = { g: "grant", d: "decline" };

function isTyping(target) {
  return target.closest("input, textarea, select, [contenteditable]") !== null;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || isTyping(event.target)) return;
  const decision = KEYS[event.key];
  const button = decision && document.querySelector(`.decision [value="${decision}"]`);
  if (!button) return;
  event.preventDefault();
  const note = document.querySelector("#note");
  if (decision === "decline" && !note.value.trim()) {
    note.focus();
    return;
  }
  button.click();
});
