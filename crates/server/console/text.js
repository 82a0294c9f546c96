// Text of strangers, shown whole and as text; numbers, sizes and durations in words.
import { useState } from './vendor/preact.js';
import { bdi, button, span, use } from './dom.js';

/** Characters that hide or turn text: controls, zero width, bidirectional marks, variation selectors, tags. */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}\u{e0100}-\u{e01ef}]/gu;

/** @param {string} character */
export const codePoint = (character) => `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

/**
 * The hidden characters of a text, each with how often it occurs.
 * @param {string} text
 */
export function hiddenIn(text) {
  /** @type {Map<string, number>} */
  const found = new Map();
  for (const [character] of text.matchAll(HIDDEN)) found.set(codePoint(character), (found.get(codePoint(character)) ?? 0) + 1);
  return found;
}

/**
 * A text as children of an element, with hidden characters as their code in a box.
 * @param {unknown} value
 * @returns {import('./dom.js').Child[]}
 */
export function plain(value) {
  const text = typeof value === 'string' ? value : value == null ? '' : String(value);
  /** @type {import('./dom.js').Child[]} */
  const out = [];
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    if (match.index > from) out.push(text.slice(from, match.index));
    out.push(span({ class: 'hidden-char', title: 'A character that cannot be seen' }, codePoint(match[0])));
    from = match.index + match[0].length;
  }
  if (from < text.length) out.push(text.slice(from));
  return out;
}

/** A name of a stranger, which cannot turn what stands around it. @param {unknown} value */
export const name = (value) => bdi(null, plain(value));

const LONG = 2000;

/** A text of any length: cut, with a button for the rest. @param {{ text: string }} props */
function LongText({ text }) {
  const [whole, setWhole] = useState(false);
  if (text.length <= LONG || whole) return span(null, plain(text));
  return span(null, plain(text.slice(0, LONG)), '… ', button({ class: 'linkish', type: 'button', onClick: () => setWhole(true) }, `Show all ${count(text.length)} characters`));
}

/** @param {unknown} value */
export const long = (value) => use(LongText, { text: value == null ? '' : String(value) });

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

/** @param {number} value */
export const count = (value) => whole.format(value);

/** 812,345 as "812 k". @param {number} value */
export function short(value) {
  if (value < 10_000) return count(value);
  if (value < 1_000_000) return `${count(value / 1000)} k`;
  return `${(value / 1_000_000).toFixed(value < 10_000_000 ? 1 : 0)} M`;
}

/** @param {number} many @param {string} noun @param {string} [plural] */
export const some = (many, noun, plural = `${noun}s`) => `${count(many)} ${many === 1 ? noun : plural}`;

/** Milliseconds in the unit that reads best. @param {number | null | undefined} value */
export function ms(value) {
  if (value == null) return '';
  if (value < 0.1 && value > 0) return `${count(value * 1000)} µs`;
  if (value < 10) return `${value.toFixed(1)} ms`;
  if (value < 1000) return `${count(value)} ms`;
  return value < 120_000 ? `${(value / 1000).toFixed(value % 1000 ? 1 : 0)} s` : `${count(value / 60_000)} min`;
}

/** @param {number} part @param {number} of */
export function percent(part, of) {
  if (!of) return '0 %';
  const value = (part / of) * 100;
  return `${value === 0 || value >= 10 ? count(value) : value.toFixed(1)} %`;
}

/** The first sentence of a description. @param {string} text */
export const sentence = (text) => /^[\s\S]*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text;
