// Differences: texts by words, JSON by lines, with hidden characters marked.
import { useState } from '../vendor/preact.js';
import { button, del, div, i, ins, span, use } from '../dom.js';
import { plain, some } from '../text.js';
import { diffLines, diffWordsWithSpace } from '../vendor/diff.js';

/** A text and what became of it, by words. @param {string} before @param {string} after */
export function wordDiff(before, after) {
  const parts = diffWordsWithSpace(before, after);
  return div(
    { class: 'diff', role: 'group', 'aria-label': 'Before and after' },
    before
      ? div(
          { class: 'del' },
          i({ 'aria-hidden': 'true' }, '−'),
          span(
            null,
            span({ class: 'sr' }, 'Before: '),
            parts.filter((part) => !part.added).map((part) => (part.removed ? del(null, plain(part.value)) : span(null, plain(part.value)))),
          ),
        )
      : null,
    after
      ? div(
          { class: 'add' },
          i({ 'aria-hidden': 'true' }, '+'),
          span(
            null,
            span({ class: 'sr' }, 'After: '),
            parts.filter((part) => !part.removed).map((part) => (part.added ? ins(null, plain(part.value)) : span(null, plain(part.value)))),
          ),
        )
      : null,
  );
}

const AROUND = 3;

/** @param {{ before: unknown, after: unknown }} props */
function LineDiff({ before, after }) {
  const [whole, setWhole] = useState(false);
  const text = (/** @type {unknown} */ value) => (value === undefined ? '' : `${JSON.stringify(value, null, 2)}\n`);
  /** @type {{ kind: '' | 'add' | 'del', line: string }[]} */
  const lines = diffLines(text(before), text(after)).flatMap((part) =>
    part.value
      .replace(/\n$/, '')
      .split('\n')
      .map((line) => ({ kind: /** @type {'' | 'add' | 'del'} */ (part.added ? 'add' : part.removed ? 'del' : ''), line })),
  );
  const near = lines.map((_, at) => whole || lines.slice(Math.max(0, at - AROUND), at + AROUND + 1).some((one) => one.kind));
  /** @type {any[]} */
  const rows = [];
  for (let at = 0; at < lines.length; at++) {
    if (near[at]) {
      const { kind, line } = lines[at];
      rows.push(div({ key: at, class: kind }, i(null, kind === 'add' ? '+' : kind === 'del' ? '−' : ' '), span(null, plain(line))));
    } else {
      const from = at;
      while (at + 1 < lines.length && !near[at + 1]) at++;
      rows.push(div({ key: from, class: 'skip-lines' }, i(null, '⋯'), button({ class: 'linkish', type: 'button', onClick: () => setWhole(true) }, `${some(at - from + 1, 'line')} alike`)));
    }
  }
  return div({ class: 'diff', role: 'group', 'aria-label': 'Lines before and after' }, rows);
}

/** @param {unknown} before @param {unknown} after */
export const jsonDiff = (before, after) => use(LineDiff, { before, after });
