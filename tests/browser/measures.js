/** Measures a page as a reader sees it: what is in sight, lines, scrollbars, shifts. */

/** Those of the selectors' elements that are not wholly in the window, with where they are. */
function outOfSight(selectors) {
  return selectors.flatMap((selector) => {
    const elements = [...document.querySelectorAll(selector)];
    if (!elements.length) return [`${selector}: missing`];
    return elements.filter((element) => !isSeen(element)).map((element) => {
      const { top, bottom, left, right } = element.getBoundingClientRect();
      return `${selector}: ${[left, top, right, bottom].map(Math.round)} of ${innerWidth}×${innerHeight}`;
    });
  });
}

/** True when every line of the element is in the window and nothing else lies over it. */
function isSeen(element) {
  const { top, bottom, left, right, width, height } = element.getBoundingClientRect();
  if (!width || !height || top < 0 || left < 0 || bottom > innerHeight || right > innerWidth) return false;
  return [...element.getClientRects()].every((box) => {
    const places = [[box.left + 2, box.top + 2], [box.right - 2, box.bottom - 2]];
    return places.every(([x, y]) => {
      const hit = document.elementFromPoint(x, y);
      return hit && (element.contains(hit) || hit.contains(element));
    });
  });
}

/** How many of an element's lines are wholly in the window. */
function linesInSight(selector) {
  const range = document.createRange();
  range.selectNodeContents(document.querySelector(selector));
  const seen = [...range.getClientRects()].filter(({ top, bottom }) => top >= 0 && bottom <= innerHeight);
  return new Set(seen.map(({ bottom }) => Math.round(bottom / 8))).size;
}

/** Every element that scrolls, or could: [name]. The window's own scrollbar is "html". */
function scrollers() {
  const root = document.scrollingElement;
  const found = root.scrollHeight > root.clientHeight || root.scrollWidth > root.clientWidth ? ["html"] : [];
  for (const element of document.querySelectorAll("body, body *")) {
    const { overflowX, overflowY, display, visibility } = getComputedStyle(element);
    if (display === "none" || visibility === "hidden" || element.closest("dialog")) continue;
    const upright = /auto|scroll/.test(overflowY) && element.scrollHeight > element.clientHeight;
    const sideways = /auto|scroll/.test(overflowX) && element.scrollWidth > element.clientWidth;
    if (upright || sideways) found.push(`${element.tagName}.${element.className}`);
  }
  return found;
}

/** Visible text whose letters are smaller than `least` pixels: ["12: words"]. */
function smallerThan(least, selector) {
  const small = [];
  for (const element of document.querySelectorAll(selector)) {
    const size = Number.parseFloat(getComputedStyle(element).fontSize);
    if (element.checkVisibility() && size < least) small.push(`${size}: ${element.textContent.trim().slice(0, 40)}`);
  }
  return small;
}

/** The number of characters on each line of an element's text but the last. */
function lines(element) {
  const counts = [];
  let lineTop = -Infinity;
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    for (let at = 0; at < node.data.length; at += 1) {
      range.setStart(node, at);
      range.setEnd(node, at + 1);
      const box = range.getClientRects()[0];
      if (!box) continue;
      if (box.top > lineTop + box.height / 2) {
        counts.push(0);
        lineTop = box.top;
      }
      counts[counts.length - 1] += 1;
    }
  }
  return counts.slice(0, -1);
}

function linesOf(selector) {
  return [...document.querySelectorAll(selector)].filter((element) => element.checkVisibility()).flatMap(lines);
}

/** The primary buttons in sight. */
function primaries() {
  return [...document.querySelectorAll(".primary")].filter((button) => button.checkVisibility()).map((button) => button.textContent.trim());
}

/** Every shift of the layout after the first paint: [{at, value, moved}]. What moved earlier,
    while the styles and scripts were still on their way, nobody has seen. */
function shifts() {
  const name = (node) => `${node?.nodeName}.${node?.className ?? ""}`;
  const [painted] = performance.getEntriesByName("first-paint");
  const seen = (entries) => entries.filter(({ startTime }) => startTime >= painted.startTime).map((entry) => ({
    at: Math.round(entry.startTime - painted.startTime),
    value: entry.value,
    moved: entry.sources.map(({ node, previousRect, currentRect }) =>
      `${name(node)} ${previousRect.x},${previousRect.y} → ${currentRect.x},${currentRect.y}`),
  }));
  return new Promise((resolve) => {
    const observer = new PerformanceObserver((list) => resolve(seen(list.getEntries())));
    observer.observe({ type: "layout-shift", buffered: true });
    setTimeout(() => resolve([]), 300);
  });
}

/** How far under the window's top the first line stands of what one reads; numbers to press are none. */
function firstLine() {
  const tops = [];
  const walker = document.createTreeWalker(document.querySelector(".reading"), NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.data.trim() || node.parentElement.closest("button") || !node.parentElement.checkVisibility()) continue;
    range.selectNodeContents(node);
    tops.push(range.getBoundingClientRect().top);
  }
  return Math.min(...tops);
}

/** The boxes of the selector's elements: [{left, top, right, bottom}]. */
function boxes(selector) {
  return [...document.querySelectorAll(selector)].map((element) => {
    const { left, top, right, bottom } = element.getBoundingClientRect();
    return { left, top, right, bottom };
  });
}
