/** A text that is read in paragraphs: what stands between them belongs to it all the same. */

import { Offsets } from "./offsets.js";

/** Put the paragraphs of a text into `element` and let the reader read them as one document.

    passage: {text, paragraphs: [[start, end]], sentences?: [[start, end]], lang, dir}, all counted
    in code points of the text; a sentence lies inside one paragraph. */
export function readInParagraphs(reader, element, { text, paragraphs, sentences = [], lang, dir }) {
  const whole = new Offsets(text);
  const blocks = paragraphs.map(([start, end]) => ({
    element: Object.assign(document.createElement("p"), { className: "block", lang, dir }),
    text: whole.slice(start, end),
    base: start,
    sentences: sentences.filter(([from]) => start <= from && from < end).map(([from, to]) => [from - start, to - start]),
  }));
  element.replaceChildren(...blocks.map((block) => block.element));
  reader.fill(blocks, whole);
}
