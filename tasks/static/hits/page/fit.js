/** Keeps sticky columns usable when they are higher than the window: they stick by their foot. */

export function fit(columns) {
  const bar = document.querySelector(".bar");
  const work = document.querySelector(".work");
  const place = () => {
    let foot = 0;
    for (const column of columns) {
      const top = Math.min(bar.offsetHeight, window.innerHeight - column.offsetHeight);
      column.style.setProperty("--stick", `${top}px`);
      if (getComputedStyle(column).bottom === "0px") foot = column.offsetHeight;
    }
    work.style.setProperty("--foot", `${foot}px`);
  };
  const observer = new ResizeObserver(place);
  for (const column of columns) observer.observe(column);
  window.addEventListener("resize", place);
  place();
}
