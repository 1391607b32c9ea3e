/* Decide by one key, outside text fields: a vote's letter keeps it, 0 excludes; ← and → go on. */

function isTyping(target) {
  return target.closest("input, textarea, select, [contenteditable]") !== null;
}

function found(key) {
  if (key === "ArrowRight") return document.querySelector(".neighbours [rel=next]");
  if (key === "ArrowLeft") return document.querySelector(".neighbours [rel=prev]");
  return document.querySelector(`[form=adjudicate][data-key="${CSS.escape(key.toLowerCase())}"]`);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || isTyping(event.target)) return;
  const button = found(event.key);
  if (!button) return;
  event.preventDefault();
  button.click();
});
