// A small subset of Markdown, as elements: paragraphs, lists, code, emphasis. No links, no pictures, no HTML.
import { code, em, li, ol, p, pre, strong, ul } from './dom.js';
import { plain } from './text.js';

/** @param {string} text @returns {any[]} */
function inline(text) {
  /** @type {any[]} */
  const out = [];
  let from = 0;
  for (const match of text.matchAll(/`([^`\n]+)`|\*\*([^*\n]+)\*\*|(?<![\w*])\*([^*\s][^*\n]*)\*(?![\w*])/g)) {
    out.push(plain(text.slice(from, match.index)));
    out.push(match[1] !== undefined ? code(null, plain(match[1])) : match[2] !== undefined ? strong(null, plain(match[2])) : em(null, plain(match[3])));
    from = match.index + match[0].length;
  }
  out.push(plain(text.slice(from)));
  return out;
}

/** @param {string} text */
export function markdown(text) {
  /** @type {any[]} */
  const out = [];
  const lines = text.split('\n');
  for (let at = 0; at < lines.length;) {
    const line = lines[at];
    if (/^\s*$/.test(line)) {
      at++;
      continue;
    }
    if (line.startsWith('```')) {
      const from = ++at;
      while (at < lines.length && !lines[at].startsWith('```')) at++;
      out.push(pre({ class: 'box' }, plain(lines.slice(from, at++).join('\n'))));
      continue;
    }
    const kind = /^\s*[-*] /.test(line) ? /^\s*[-*] / : /^\s*\d+[.)] /.test(line) ? /^\s*\d+[.)] / : null;
    if (kind) {
      const items = [];
      for (; at < lines.length && kind.test(lines[at]); at++) items.push(li({ key: at }, inline(lines[at].replace(kind, ''))));
      out.push(line.trim()[0] === '-' || line.trim()[0] === '*' ? ul({ class: 'md' }, items) : ol({ class: 'md' }, items));
      continue;
    }
    const from = at;
    while (at < lines.length && !/^\s*$/.test(lines[at]) && !lines[at].startsWith('```') && (at === from || !/^\s*([-*]|\d+[.)]) /.test(lines[at]))) at++;
    out.push(p({ class: 'md' }, inline(lines.slice(from, at).join('\n'))));
  }
  return out;
}
