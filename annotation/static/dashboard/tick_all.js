/* Tick every row of a list, or none where all are ticked; without this, rows are ticked one by one. */

for (const button of document.querySelectorAll("[data-ticks]")) {
  const boxes = [...button.form.querySelectorAll(`input[type=checkbox][name="${button.dataset.ticks}"]`)];
  button.hidden = boxes.length < 2;
  button.addEventListener("click", () => {
    const missing = boxes.some((box) => !box.checked);
    for (const box of boxes) box.checked = missing;
  });
}
