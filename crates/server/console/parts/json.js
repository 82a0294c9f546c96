// JSON as it was written: numbers are not parsed and printed again; folded from the third level on.
import { useState } from '../vendor/preact.js';
import { button, div, span, use } from '../dom.js';
import { plain, some } from '../text.js';

/** @typedef {{ kind: 'object', entries: [string, Node][] } | { kind: 'array', items: Node[] } | { kind: 'text', value: string } | { kind: 'bare', raw: string }} Node */

/** Reads JSON into nodes that keep the text of numbers. @param {string} text @returns {Node} */
export function read(text) {
  let at = 0;
  const space = () => {
    while (/\s/.test(text[at] ?? '')) at++;
  };
  const string = () => {
    const from = at++;
    while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
    return /** @type {string} */ (JSON.parse(text.slice(from, ++at)));
  };
  /** @returns {Node} */
  const node = () => {
    space();
    if (text[at] === '{' || text[at] === '[') {
      const isObject = text[at++] === '{';
      /** @type {[string, Node][]} */ const entries = [];
      /** @type {Node[]} */ const items = [];
      for (space(); at < text.length && text[at] !== '}' && text[at] !== ']'; space()) {
        if (text[at] === ',') {
          at++;
          continue;
        }
        if (!isObject) {
          items.push(node());
          continue;
        }
        const key = string();
        space();
        at++;
        entries.push([key, node()]);
      }
      at++;
      return isObject ? { kind: 'object', entries } : { kind: 'array', items };
    }
    if (text[at] === '"') return { kind: 'text', value: string() };
    const from = at;
    while (at < text.length && !/[\s,\]}]/.test(text[at])) at++;
    if (at === from) throw new SyntaxError('not JSON');
    return { kind: 'bare', raw: text.slice(from, at) };
  };
  return node();
}

/** The node at some keys. @param {Node} node @param {(string | number)[]} path @returns {Node | undefined} */
export function inside(node, ...path) {
  /** @type {Node | undefined} */
  let here = node;
  for (const key of path) {
    if (here?.kind === 'object') here = here.entries.find(([known]) => known === key)?.[1];
    else if (here?.kind === 'array') here = here.items[Number(key)];
    else return undefined;
  }
  return here;
}

/** The node as text again. @param {Node} node @param {number} [indent] @returns {string} */
export function write(node, indent = 0) {
  const pad = '  '.repeat(indent + 1);
  const end = `\n${'  '.repeat(indent)}`;
  if (node.kind === 'text') return JSON.stringify(node.value);
  if (node.kind === 'bare') return node.raw;
  if (node.kind === 'array') return node.items.length ? `[\n${node.items.map((one) => pad + write(one, indent + 1)).join(',\n')}${end}]` : '[]';
  return node.entries.length ? `{\n${node.entries.map(([key, one]) => `${pad}${JSON.stringify(key)}: ${write(one, indent + 1)}`).join(',\n')}${end}}` : '{}';
}

const MANY = 100;

/** @param {{ node: Node, level: number, label?: string, last: boolean }} props */
function Branch({ node, level, label, last }) {
  const size = node.kind === 'object' ? node.entries.length : node.kind === 'array' ? node.items.length : 0;
  const [open, setOpen] = useState(level < 2 || size === 0);
  const [all, setAll] = useState(false);
  const key = label === undefined ? null : [span({ class: 'k' }, '"', plain(label), '"'), span({ class: 'p' }, ': ')];
  const comma = last ? null : span({ class: 'p' }, ',');
  if (node.kind === 'text')
    return div(
      null,
      key,
      span({ class: 's' }, '"', plain(all || node.value.length < 2000 ? node.value : `${node.value.slice(0, 2000)}…`), '"'),
      all || node.value.length < 2000 ? null : button({ type: 'button', onClick: () => setAll(true) }, 'show all'),
      comma,
    );
  if (node.kind === 'bare') return div(null, key, span({ class: /^[-\d]/.test(node.raw) ? 'n' : 'l' }, plain(node.raw)), comma);
  const [from, to] = node.kind === 'object' ? ['{', '}'] : ['[', ']'];
  if (!size) return div(null, key, span({ class: 'p' }, from + to), comma);
  const toggle = (/** @type {string} */ text) => button({ type: 'button', 'aria-expanded': open, onClick: () => setOpen(!open) }, text);
  if (!open) return div(null, key, span({ class: 'p' }, from), toggle(some(size, node.kind === 'object' ? 'field' : 'item')), span({ class: 'p' }, to), comma);
  /** @type {[string | undefined, Node][]} */
  const kids = node.kind === 'object' ? node.entries : node.items.map((one) => [undefined, one]);
  const seen = all ? kids : kids.slice(0, MANY);
  return div(
    null,
    key,
    span({ class: 'p' }, from),
    level >= 2 ? toggle('fold') : null,
    div(
      { class: 'kids' },
      seen.map(([name, one], at) => use(Branch, { key: at, node: one, level: level + 1, label: name, last: at === kids.length - 1 })),
      seen.length < kids.length ? button({ type: 'button', onClick: () => setAll(true) }, `${some(kids.length - MANY, 'more')}`) : null,
    ),
    span({ class: 'p' }, to),
    comma,
  );
}

/** @param {Node} node */
export const tree = (node) => div({ class: 'json' }, use(Branch, { node, level: 0, last: true }));

/** A value that was parsed already. @param {unknown} value */
export const valueTree = (value) => tree(read(JSON.stringify(value ?? null)));

/** In a scrolling box that the keyboard can reach. @param {import('../dom.js').Child} what @param {string} label @param {boolean} [tall] */
export const boxed = (what, label, tall) => div({ class: `box ${tall ? 'tall' : ''}`, tabIndex: 0, role: 'region', 'aria-label': label }, what);
