/** One tab stop for a group of buttons: arrows go from one to the next. */

const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** root: the group; selector: its buttons, which may come and go. Returns a function to call
    when they have changed. */
export function roving(root, selector) {
  const buttons = () => [...root.querySelectorAll(selector)].filter((button) => !button.disabled);
  const settle = (chosen) => {
    const all = buttons();
    const stop = all.includes(chosen)
      ? chosen
      : all.find((button) => button.getAttribute("aria-current") === "true") ?? all[0];
    for (const button of all) button.tabIndex = button === stop ? 0 : -1;
  };
  root.addEventListener("focusin", (event) => event.target.matches(selector) && settle(event.target));
  root.addEventListener("keydown", (event) => {
    if (!event.target.matches(selector) || event.ctrlKey || event.altKey || event.metaKey) return;
    const all = buttons();
    const back = getComputedStyle(root).direction === "rtl" && event.key.match(/Left|Right/) ? -1 : 1;
    let next = all.indexOf(event.target) + (steps[event.key] ?? 0) * back;
    if (event.key === "Home") next = 0;
    else if (event.key === "End") next = all.length - 1;
    else if (!steps[event.key]) return;
    event.preventDefault();
    all[(next + all.length) % all.length].focus();
  });
  settle(null);
  return () => settle(root.contains(document.activeElement) ? document.activeElement : null);
}
