// A refusal: what happened, its code, the trace id, and the next step. And the states of what is loaded.
import { useEffect, useRef, useState } from '../vendor/preact.js';
import { a, button, code, div, i, p, span, strong, use } from '../dom.js';
import { Problem } from '../api.js';
import { plain } from '../text.js';
import { copyButton } from './copy.js';

/** @typedef {{ label: string, act: () => void } | { label: string, href: string }} Step */

/** @param {{ problem: any, next?: Step[] }} props */
function Shown({ problem, next = [] }) {
  const known = problem instanceof Problem;
  const grant = known && problem.status === 403 ? /[\w-]+:[\w*-]+/.exec(problem.message)?.[0] : null;
  return div(
    { class: 'problem', role: 'alert' },
    p(null, strong(null, plain(known ? problem.message : `This page failed: ${problem?.message ?? problem}`))),
    grant ? p({ class: 'note' }, 'The grant ', code(null, grant), ' is missing. The owner can make a key that has it on the page Keys.') : null,
    known && problem.errors.length
      ? div(
          null,
          problem.errors.map((one) => p({ class: 'note' }, code(null, plain(one.pointer || '/')), ' ', plain(one.message))),
        )
      : null,
    div(
      { class: 'row' },
      next.map((step) => ('href' in step ? a({ class: 'b small', href: step.href }, step.label) : button({ class: 'b small', type: 'button', onClick: step.act }, step.label))),
      known && problem.status ? a({ class: 'note', href: `/docs/errors#${problem.code}`, target: '_blank', rel: 'noopener noreferrer' }, problem.code) : null,
      known && problem.traceId ? span({ class: 'note row' }, 'Trace ', code(null, problem.traceId.slice(0, 8)), copyButton(problem.traceId, 'Copy the trace id')) : null,
    ),
  );
}

/** @param {any} problem @param {Step[]} [next] */
export const shown = (problem, next) => use(Shown, { problem, next });

/** Nothing here yet: one sentence on what would be here, and one action. @param {import('../dom.js').Child} text @param {import('../dom.js').Child} [action] @param {boolean} [center] */
export const empty = (text, action, center) => div({ class: `empty ${center ? 'center' : ''}` }, p(null, text), action);

/** Grey bars while something loads; they show after 200 ms. */
export const bars = () => div({ class: 'bars late', role: 'status' }, span({ class: 'sr' }, 'Loading'), i(null), i(null), i(null));

/**
 * Something from the server. Read again when what it depends on changes; the old value stays until the new one is there.
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} read
 * @param {unknown[]} depends
 * @param {unknown[]} [again] Changes of these read again without forgetting what was shown.
 * @returns {{ value: T | undefined, error: any, reload: () => void, set: (value: T) => void }}
 */
export function useLoaded(read, depends, again = []) {
  const [state, setState] = useState(/** @type {{ value?: T, error?: any, of?: string }} */ ({}));
  const [turn, setTurn] = useState(0);
  const of = JSON.stringify(depends);
  const newest = useRef('');
  newest.current = of;
  useEffect(() => {
    const stop = new AbortController();
    read(stop.signal).then(
      (value) => {
        if (!stop.signal.aborted) setState({ value, of });
      },
      (error) => {
        if (!stop.signal.aborted) setState((old) => ({ value: old.of === of ? old.value : undefined, error, of }));
      },
    );
    return () => stop.abort();
  }, [of, turn, ...again]);
  const fresh = state.of === of;
  return { value: fresh ? state.value : undefined, error: fresh ? state.error : undefined, reload: () => setTurn((n) => n + 1), set: (value) => setState({ value, of: newest.current }) };
}

/**
 * @template T
 * @param {{ value: T | undefined, error: any, reload: () => void }} one
 * @param {(value: T) => any} draw
 */
export function loaded(one, draw) {
  if (one.error && one.value === undefined) return shown(one.error, [{ label: 'Try again', act: one.reload }]);
  return one.value === undefined ? bars() : draw(one.value);
}
