/** Finds words in a document of the page, so that a hand can go there. */

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const rightToLeft = /[\p{Script=Arabic}\p{Script=Hebrew}]/u;

/** The blocks of a document by its name, with their text: [{element, text}]. */
function blocksOf(name) {
  const root = document.querySelector(`[data-document="${CSS.escape(name)}"]`);
  const blocks = name === "question" ? [root.firstElementChild] : [...root.querySelectorAll(".block")];
  return blocks.map((element) => ({ element, text: element.textContent }));
}

function textsOf(name) {
  return blocksOf(name).map(({ text }) => text);
}

/** The DOM range of the code units [start, end) of an element. */
function rangeOf(element, start, end) {
  const range = document.createRange();
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let before = 0;
  let isOpen = false;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const after = before + node.data.length;
    if (!isOpen && start < after) {
      range.setStart(node, start - before);
      isOpen = true;
    }
    if (isOpen && end <= after) {
      range.setEnd(node, end - before);
      return range;
    }
    before = after;
  }
  throw new Error(`No text at ${start}-${end}`);
}

function boxOf(element, start, end) {
  const boxes = [...rangeOf(element, start, end).getClientRects()].filter(({ width }) => width > 0);
  const left = Math.min(...boxes.map((box) => box.left));
  const right = Math.max(...boxes.map((box) => box.right));
  return { left, right, middle: (boxes[0].top + boxes[0].bottom) / 2 };
}

/** Where the words stand: {element, from, to, text} in code units; scrolled into sight. */
function find({ document: name, words, occurrence }) {
  let left = occurrence;
  for (const { element, text } of blocksOf(name)) {
    for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + 1)) {
      if (left === 0) {
        show(element, at, at + words.length);
        return { element, text, from: at, to: at + words.length };
      }
      left -= 1;
    }
  }
  throw new Error(`“${words}” does not stand in ${name}`);
}

/** Scroll as a wheel would, until nothing sticky lies over the words. */
function show(element, start, end) {
  const box = rangeOf(element, start, end).getBoundingClientRect();
  const head = Math.max(0, ...[...document.querySelectorAll(".bar, .rail, .question-head")]
    .map((sticky) => sticky.getBoundingClientRect().bottom));
  const columns = getComputedStyle(document.querySelector(".panel, .talk")).bottom;
  const foot = columns === "0px" ? document.querySelector(".panel, .talk").getBoundingClientRect().top : innerHeight;
  if (box.top < head + 4) scrollBy(0, box.top - head - 40);
  else if (box.bottom > foot - 4) scrollBy(0, box.bottom - foot + 40);
}

/** The two points between which a hand drags to select exactly these words. */
function pathOver(wanted) {
  const { element, text, from, to } = find(wanted);
  const graphemes = [...segmenter.segment(text)].filter(({ index }) => index >= from && index < to);
  const [first, last] = [graphemes[0], graphemes.at(-1)];
  const point = ({ index, segment }, isStart) => {
    const box = boxOf(element, index, index + segment.length);
    const inside = Math.min(2, (box.right - box.left) / 4);
    const isLeft = isStart !== rightToLeft.test(segment);
    return { x: isLeft ? box.left + inside : box.right - inside, y: box.middle };
  };
  return { start: point(first, true), end: point(last, false) };
}

/** The middle of the words, to press on them. */
function pointAt(wanted) {
  const { element, from, to } = find(wanted);
  const box = rangeOf(element, from, to).getClientRects()[0];
  return { x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2 };
}

/** Where the words and the caret stand, counted in graphemes of all blocks of the document. */
function stepsTo({ document: name, words, occurrence }) {
  const count = (piece) => [...segmenter.segment(piece)].length;
  const { focusNode, focusOffset } = window.getSelection();
  let caret = null;
  let start = null;
  let left = occurrence;
  let before = 0;
  for (const { element, text } of blocksOf(name)) {
    for (let at = text.indexOf(words); at >= 0 && start === null; at = text.indexOf(words, at + 1)) {
      if (left === 0) start = before + count(text.slice(0, at));
      left -= 1;
    }
    if (focusNode && element.contains(focusNode)) {
      const range = document.createRange();
      range.selectNodeContents(element);
      range.setEnd(focusNode, focusOffset);
      caret = before + count(range.toString());
    }
    before += count(text);
  }
  const [{ element }] = blocksOf(name);
  return { start, caret, inside: count(words), isRightToLeft: getComputedStyle(element).direction === "rtl" };
}
