/** Code points, code units and graphemes of one text: the page counts as Python does. */

const segmenter = typeof Intl.Segmenter === "function"
  ? new Intl.Segmenter(undefined, { granularity: "grapheme" })
  : null;

export class Offsets {
  constructor(text) {
    this.text = text;
    this.plain = !/[\ud800-\udfff]/.test(text);
    if (!this.plain) this.#count();
    this.graphemes = segmenter?.segment(text);
  }

  #count() {
    this.points = new Uint32Array(this.text.length + 1);
    const units = [];
    let unit = 0;
    for (const character of this.text) {
      this.points.fill(units.length, unit, unit + character.length);
      units.push(unit);
      unit += character.length;
    }
    this.points[unit] = units.length;
    units.push(unit);
    this.units = Uint32Array.from(units);
  }

  /** Length in code points. */
  get length() {
    return this.plain ? this.text.length : this.units.length - 1;
  }

  toPoint(unit) {
    return this.plain ? unit : this.points[unit];
  }

  toUnit(point) {
    const inside = Math.max(0, Math.min(point, this.length));
    return this.plain ? inside : this.units[inside];
  }

  /** The text between two code points, as Python's text[start:end]. */
  slice(start, end) {
    return this.text.slice(this.toUnit(start), this.toUnit(end));
  }

  /** The grapheme that holds this code unit, as {start, end} in code units. */
  grapheme(unit) {
    const found = this.graphemes?.containing(unit);
    if (found) return { start: found.index, end: found.index + found.segment.length };
    let start = unit;
    while (start > 0 && /[\p{M}\u200d\udc00-\udfff]/u.test(this.text[start])) start -= 1;
    let end = unit + 1;
    while (end < this.text.length && /[\p{M}\u200d\ufe0f\udc00-\udfff]/u.test(this.text[end])) end += 1;
    return { start, end };
  }

  /** A selection in code units, widened to whole graphemes and trimmed of white space;
      {start, end} in code points, or null when nothing is left. */
  snap(from, to) {
    let start = from < this.text.length ? this.grapheme(from).start : from;
    let end = to;
    if (to > 0 && to < this.text.length) {
      const last = this.grapheme(to);
      if (last.start < to) end = last.end;
    }
    while (start < end) {
      const first = this.grapheme(start);
      if (this.text.slice(first.start, first.end).trim()) break;
      start = first.end;
    }
    while (end > start) {
      const last = this.grapheme(end - 1);
      if (this.text.slice(last.start, last.end).trim()) break;
      end = last.start;
    }
    return start < end ? { start: this.toPoint(start), end: this.toPoint(end) } : null;
  }
}
