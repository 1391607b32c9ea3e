/** Finding words in a text: case and the usual accents do not matter. */

import { Offsets } from "./offsets.js";

// Latin, Greek and Cyrillic accents, and Arabic vowel marks; the vowel signs of Indic scripts
// are letters to their readers and stay.
const accents = /[\u0300-\u036f\u064b-\u0652\u0670]/g;

function fold(text) {
  return text.normalize("NFD").replace(accents, "").toLowerCase();
}

/** The folded text, and for each of its code units the code point it came from. */
function folded(text) {
  let out = "";
  const from = [];
  let point = 0;
  for (const character of text) {
    const piece = fold(character);
    for (let i = 0; i < piece.length; i += 1) from.push(point);
    out += piece;
    point += 1;
  }
  from.push(point);
  return { out, from };
}

export class Search {
  constructor(text) {
    this.text = text;
  }

  /** Where the words occur: [{start, end}] in code points, in order, not overlapping. */
  find(words) {
    const wanted = fold(words.trim());
    if (!wanted) return [];
    this.folded ??= folded(this.text);
    this.offsets ??= new Offsets(this.text);
    const { out, from } = this.folded;
    const hits = [];
    for (let at = out.indexOf(wanted); at >= 0; at = out.indexOf(wanted, at + wanted.length)) {
      hits.push({ start: from[at], end: Math.max(from[at] + 1, from[at + wanted.length]) });
    }
    return hits;
  }
}
