// Long texts of strangers: cut, with a button for the rest; their first sentence; what hides in them.
import { useState } from '../vendor/preact.js';
import { button, codePoint, HIDDEN, span, use } from '../dom.js';
import { count, plain } from '../text.js';

const LONG = 2000;

/** A text of any length: cut, with a button for the rest. @param {{ text: string }} props */
function LongText({ text }) {
  const [whole, setWhole] = useState(false);
  if (text.length <= LONG || whole) return span(null, plain(text));
  return span(null, plain(text.slice(0, LONG)), '… ', button({ class: 'linkish', type: 'button', onClick: () => setWhole(true) }, `Show all ${count(text.length)} characters`));
}

/** @param {unknown} value */
export const long = (value) => use(LongText, { text: value == null ? '' : String(value) });

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

/** The first sentence of a description. @param {string} text */
export const sentence = (text) => /^[\s\S]*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text;
