// A typed function per element: `div({ class: 'card' }, 'text')`. Text is always a text node, and hides nothing.
import { h } from './vendor/preact.js';

/** @typedef {import('preact').ComponentChild | import('preact').ComponentChild[]} Child */
/** @typedef {import('preact').JSX.IntrinsicElements} Elements */
/** @typedef {{ [Tag in keyof Elements]: (props?: (Elements[Tag] & { [data: `data-${string}`]: unknown }) | null, ...children: Child[]) => import('preact').VNode }} Table */

/** Characters that hide or turn text: controls, zero width, bidirectional marks, variation selectors, tags. */
export const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}\u{e0100}-\u{e01ef}]/gu;

/** @param {string} character */
export const codePoint = (character) => `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

/** A text for where no element can stand, with hidden characters as words. @param {unknown} text */
export const visible = (text) => String(text).replace(HIDDEN, (character) => `[${codePoint(character)}]`);

/** Text with hidden characters as their code in a box. @param {any} child @returns {any} */
function boxes(child) {
  if (Array.isArray(child)) return child.map(boxes);
  if (typeof child !== 'string' || child.search(HIDDEN) < 0) return child;
  const hidden = child.match(HIDDEN) ?? [];
  return child.split(HIDDEN).map((text, at) => (at ? [h('span', { class: 'hidden-char', title: 'A character that cannot be seen' }, codePoint(hidden[at - 1])), text] : text));
}

/** Attributes that are read or heard. */
const SAID = ['title', 'aria-label', 'placeholder', 'alt'];

const table = /** @type {Table} */ (new Proxy({}, {
  /** @param {string} tag */
  get: (_, tag) => /** @param {any} props @param {any[]} children */ (props, ...children) => {
    for (const key of SAID) if (props?.[key]) props[key] = visible(props[key]);
    return h(tag, props ?? null, ...(tag === 'option' ? children.map(visible) : boxes(children)));
  },
}));

export const {
  a, article, aside, bdi, button, circle, code, datalist, dd, del, details, dialog, div, dl, dt, em, fieldset, figcaption,
  figure, footer, form, h1, h2, h3, header, i, img, input, ins, kbd, label, legend, li, main, nav, ol, option, p, path, pre,
  rect, section, select, small, span, strong, summary, svg, table: tableElement, tbody, td, textarea, th, thead, time, tr, ul,
} = table;

/**
 * A component as an element.
 * @template P
 * @param {(props: P) => any} component
 * @param {P & { key?: string | number }} props
 */
export const use = (component, props) => h(/** @type {any} */ (component), /** @type {any} */ (props));
