// Says beside a HIT that needs a wide window when this one is too narrow for it.
const notes = document.querySelectorAll("p[data-least-width]");

function compare() {
  for (const note of notes) {
    const isNarrow = window.innerWidth < Number(note.dataset.leastWidth);
    note.classList.toggle("is-too-narrow", isNarrow);
    const words = note.dataset.tooNarrow.replace("{n}", window.innerWidth);
    note.querySelector("strong").textContent = isNarrow ? words : "";
  }
}

compare();
window.addEventListener("resize", compare);
