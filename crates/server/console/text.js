// Text of strangers as text; numbers, sizes and durations in words.
import { bdi } from './dom.js';

/** What a stranger wrote, as text; elements show what it hides. @param {unknown} value */
export const plain = (value) => (value == null ? '' : String(value));

/** A name of a stranger, which cannot turn what stands around it. @param {unknown} value */
export const name = (value) => bdi(null, plain(value));

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

/** @param {number} value */
export const count = (value) => whole.format(value);

/** 812,345 as "812 k". @param {number} value */
export function short(value) {
  if (value < 10_000) return count(value);
  if (value < 1_000_000) return `${count(value / 1000)} k`;
  return `${(value / 1_000_000).toFixed(value < 10_000_000 ? 1 : 0)} M`;
}

/** A word of the filter of the log. @param {string} key @param {string} value */
export const only = (key, value) => `${key}:${/^[^\s"]+$/.test(value) ? value : JSON.stringify(value)}`;

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
