// What was decided, by whom; and what is approved for a while.
import { useEffect } from '../vendor/preact.js';
import { a, button, code, div, section, span, tableElement, tbody, td, th, thead, tr, use } from '../dom.js';
import { get, send } from '../api.js';
import { approvals, follow } from '../live.js';
import { copyable } from '../parts/copy.js';
import { empty } from '../parts/empty.js';
import { loaded, useLoaded } from '../parts/problem.js';
import { chip } from '../parts/state.js';
import { toast } from '../parts/toast.js';
import { to } from '../router.js';
import { name, plain, some } from '../text.js';
import { left, span as spanOf, when } from '../time.js';

/** @typedef {import('../types.js').Approval} Approval */

export function Decided() {
  const list = useLoaded((signal) => get('/approvals', { all: true, limit: 100 }, signal), [], [approvals.value?.length]);
  return section(
    { class: 'card' },
    loaded(list, ({ approvals: found }) => {
      const rows = found.filter(/** @param {Approval} one */ (one) => one.state !== 'open');
      if (!rows.length) return empty('Nothing was decided yet.');
      return div(
        { class: 'scroll-x', tabIndex: 0, role: 'region', 'aria-label': 'What was decided' },
        tableElement(
          { class: 'table' },
          thead(
            null,
            tr(
              null,
              ['When', 'What', 'Who asked', 'Decision', 'By'].map((text) => th({ key: text, scope: 'col' }, text)),
            ),
          ),
          tbody(
            null,
            rows.map(
              /** @param {Approval} one */ (one) =>
                tr(
                  { key: one.id },
                  td({ class: 'tight' }, when(one.decidedAt ?? one.created_at)),
                  td(null, one.executionId ? a({ class: 'mono', href: to(['executions', one.executionId]) }, name(one.tool)) : span({ class: 'mono' }, name(one.tool))),
                  td(null, name(one.user ?? '')),
                  td(null, decision(one), one.reason ? span({ class: 'note' }, ' ', plain(one.reason)) : null),
                  td(null, name(one.decidedBy ?? '')),
                ),
            ),
          ),
        ),
      );
    }),
  );
}

/** @param {Approval} one */
function decision(one) {
  if (one.state === 'denied') return chip('bad', '✕', 'denied');
  if (one.state === 'expired' || one.state === 'lapsed' || one.state === 'withdrawn') return chip('warn', '◌', one.state);
  return chip('ok', '●', one.kind === 'question' ? 'answered' : one.state === 'used' ? 'approved, used' : one.state);
}

export function StandingList() {
  const list = useLoaded((signal) => get('/approvals/standing', {}, signal), []);
  useEffect(() => follow(() => list.reload()), []);
  return section(
    { class: 'card' },
    loaded(list, ({ standing }) =>
      standing.length
        ? div(
            { class: 'scroll-x', tabIndex: 0, role: 'region', 'aria-label': 'What is approved for a while' },
            tableElement(
              { class: 'table' },
              thead(
                null,
                tr(
                  null,
                  ['Tool', 'Whose key', 'Given by', 'Let through', 'Ends'].map((text) => th({ key: text, scope: 'col' }, text)),
                  th({ class: 'tight' }, span({ class: 'sr' }, 'Take back')),
                ),
              ),
              tbody(
                null,
                standing.map(
                  /** @param {import('../types.js').Standing} one */ (one) =>
                    tr(
                      { key: one.id },
                      td(null, a({ class: 'mono', href: to(['tools', one.tool]) }, name(one.tool))),
                      td(null, name(one.user), ' ', code(null, `${one.key}…`)),
                      td(null, name(one.by), ', ', when(one.created_at)),
                      td(
                        null,
                        a({ class: 'u', href: to(['executions'], { q: `tool:${one.tool} user:${one.user}` }) }, some(one.used, 'call')),
                        one.last_used_at ? [', last ', when(one.last_used_at)] : null,
                      ),
                      td({ class: 'tight' }, use(Left, { at: one.expires_at })),
                      td(
                        { class: 'tight' },
                        button(
                          {
                            class: 'b small danger',
                            type: 'button',
                            onClick: () =>
                              send('DELETE', `/approvals/standing/${one.id}`).then(
                                () => {
                                  toast('Taken back.');
                                  list.reload();
                                },
                                (error) => toast(error.message, { tone: 'bad' }),
                              ),
                          },
                          'Take back',
                        ),
                      ),
                    ),
                ),
              ),
            ),
          )
        : empty(['No tool is approved for a while. “Approve for 8 hours” on a waiting call lets its tool through for that key. The command line does the same: '], copyable('toolroom approvals list')),
    ),
  );
}

/** The time that is left. @param {{ at: string }} props */
export function Left({ at }) {
  const seconds = left(at);
  if (seconds <= 0) return chip('bad', '✕', 'expired');
  return chip(seconds < 120 ? 'bad' : seconds < 900 ? 'warn' : '', seconds < 900 ? '▲' : '◔', `expires in ${spanOf(seconds)}`);
}
