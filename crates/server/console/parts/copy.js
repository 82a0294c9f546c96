// Copying with one click, and saying so.
import { button, code, div, pre } from '../dom.js';
import { icon } from '../icons.js';
import { toast } from './toast.js';

/** @param {string} text @param {string} [what] */
export async function copy(text, what = 'Copied') {
  try {
    await navigator.clipboard.writeText(text);
    toast(`${what}.`);
  } catch {
    toast('The browser did not allow copying. Select the text instead.', { tone: 'bad' });
  }
}

/** @param {string} text @param {string} label */
export const copyButton = (text, label) => button({ class: 'b small quiet icon-only', type: 'button', title: label, 'aria-label': label, onClick: () => copy(text) }, icon('copy'));

/** A command or a snippet. @param {string} text @param {string} [label] */
export const copyable = (text, label = 'Copy') => div({ class: 'copy' }, text.includes('\n') ? pre(null, text) : code(null, text), copyButton(text, label));
