// What was decided, by whom; and what is approved for a while.
import { useEffect } from '../vendor/preact.js';
import { a, button, code, details, div, li, section, span, summary, tableElement, tbody, td, th, thead, tr, ul, use } from '../dom.js';
import { get, send } from '../api.js';
import { approvals, follow } from '../live.js';
import { copyable } from '../parts/copy.js';
import { empty, loaded, useLoaded } from '../parts/problem.js';
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
                      td(null, name(one.user), ' ', one.key ? code(null, `${one.key}…`) : span({ class: 'note' }, 'without a key')),
                      td(null, name(one.by), ', ', when(one.created_at)),
                      td(null, letThrough(one)),
                      td({ class: 'tight' }, one.changed ? chip('warn', '◌', 'ended: the tool was changed', 'It lets nothing through: its tool is no longer what was shown when it was given.') : use(Left, { at: one.expires_at })),
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

/** Each call that it let through, by what it concerned. @param {import('../types.js').Standing} one */
const letThrough = ({ used, uses, last_used_at }) =>
  used
    ? details(
        null,
        summary(null, some(used, 'call'), ', last ', when(last_used_at)),
        ul(
          { class: 'plain-list' },
          uses.map((call) => li({ key: call.executionId }, a({ class: 'u', href: to(['executions', call.executionId]) }, plain(call.target || 'One call')), ', ', when(call.at))),
          used > uses.length ? li({ class: 'note' }, `and ${some(used - uses.length, 'earlier call')}`) : null,
        ),
      )
    : 'no call yet';

/** The time that is left. @param {{ at: string }} props */
export function Left({ at }) {
  const seconds = left(at);
  if (seconds <= 0) return chip('bad', '✕', 'expired');
  return chip(seconds < 120 ? 'bad' : seconds < 900 ? 'warn' : '', seconds < 900 ? '▲' : '◔', `expires in ${spanOf(seconds)}`);
}
