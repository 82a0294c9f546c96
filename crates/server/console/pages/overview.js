// Overview: what needs a person now, five figures, one chart, what costs most. Every figure opens the calls behind it.
import { useEffect, useMemo, useState } from '../vendor/preact.js';
import { a, button, div, h2, header, li, p, section, span, strong, tableElement, tbody, td, th, thead, tr, ul, use } from '../dom.js';
import { exchange, get } from '../api.js';
import { approvals, follow, servers, waiting } from '../live.js';
import { chart } from '../parts/chart.js';
import { copyable } from '../parts/copy.js';
import { empty } from '../parts/empty.js';
import { head } from '../parts/page.js';
import { bars, loaded, useLoaded } from '../parts/problem.js';
import { chip, serverState } from '../parts/state.js';
import { go, to } from '../router.js';
import { count, ms, name, percent, plain, short, some } from '../text.js';
import { left, now, span as spanOf } from '../time.js';

/** @typedef {import('../types.js').Stats} Stats */

/** @type {Record<string, { title: string, seconds: number, step: number }>} */
const RANGES = { '1h': { title: 'The last hour', seconds: 3600, step: 60 }, '24h': { title: 'The last 24 hours', seconds: 86_400, step: 900 }, '7d': { title: 'The last 7 days', seconds: 604_800, step: 7200 }, '30d': { title: 'The last 30 days', seconds: 2_592_000, step: 28_800 } };
const BY = { tool: 'By tool', user: 'By user', agent: 'By agent', code: 'By code', edge: 'By way in' };

/** @param {import('../main.js').PageProps} props */
export function Overview({ query }) {
  const key = query.get('range') ?? '1h';
  const range = RANGES[key] ?? RANGES['1h'];
  const by = query.get('by') ?? 'tool';
  const [turn, setTurn] = useState(0);
  // A busy log asks for new figures at most every ten seconds.
  useEffect(() => { let last = Date.now(); return follow(() => { if (Date.now() - last > 10_000) { last = Date.now(); setTurn((n) => n + 1); } }); }, []);
  const stats = useLoaded((signal) => /** @type {Promise<Stats>} */ (get('/stats', { since: new Date(Date.now() - range.seconds * 1000).toISOString(), step: range.step, by }, signal)), [key, by], [turn]);
  const ready = useLoaded(async (signal) => (await exchange('GET', '/readyz', { signal })).value, [], [servers.value]);
  return div({ class: 'page' },
    head({
      title: 'Overview', beside: ready.value ? (ready.value.ready ? chip('ok', '●', 'ready') : chip('bad', '✕', 'not ready')) : null,
      right: div({ class: 'segments', role: 'group', 'aria-label': 'Time' }, Object.keys(RANGES).map((one) => a({ key: one, href: to([], { range: one === '1h' ? null : one, by: query.get('by') }), 'aria-current': one === key ? 'true' : undefined }, one.replace(/(\d+)(\D)/, '$1 $2')))),
    }),
    use(Needs, { ready: ready.value }),
    loaded(stats, (found) => {
      const sum = (/** @type {number[]} */ list) => list.reduce((total, one) => total + one, 0);
      const calls = sum(found.total.calls);
      if (!calls && !found.groups.length) return section({ class: 'card' }, empty('No calls in this time. Make one:', copyable('toolroom call get-status'), true));
      return [figures(found, key), use(Timeline, { stats: found, title: range.title }), div({ class: 'split' }, costs(found, by, key), glance())];
    }));
}

/** @param {{ ready: any }} props */
function Needs({ ready }) {
  const oldest = approvals.value?.[0];
  const review = (servers.value ?? []).filter((one) => one.pendingReview);
  const down = (servers.value ?? []).filter((one) => ['down', 'invalid', 'waiting'].includes(one.state));
  const edits = ['registry', 'profiles', 'journal', 'store'].map((key) => ready?.checks?.[key]).filter((one) => one && !one.ok);
  if (!oldest && !review.length && !down.length && !edits.length) return null;
  return ul({ class: 'needs', 'aria-label': 'What needs you' },
    oldest ? li({ class: 'card hold line' }, strong(null, `${some(waiting.value, 'request')} ${waiting.value === 1 ? 'waits' : 'wait'} for you`), span({ class: 'ink-2' }, `the oldest for ${spanOf((now.value - Date.parse(oldest.created_at)) / 1000)}; the next expires in ${spanOf(left(oldest.expires_at))}`), a({ class: 'right', href: to(['approvals']) }, 'Open approvals')) : null,
    review.map((one) => li({ key: one.name, class: 'card hold line' }, strong(null, some(one.pendingReview, 'definition'), ' of ', name(one.name), one.pendingReview === 1 ? ' waits for review' : ' wait for review'), span({ class: 'ink-2' }, 'their tools are refused until then'), a({ class: 'right', href: to(['servers', one.name]) }, 'Review'))),
    down.map((one) => li({ key: one.name, class: 'card bad line' }, strong(null, name(one.name), ` is ${one.state}`), span({ class: 'ink-2' }, plain(one.reason)), a({ class: 'right', href: to(['servers', one.name]) }, 'Open the server'))),
    edits.map((one, index) => li({ key: index, class: 'card bad line' }, strong(null, plain(one.reason)), a({ class: 'right', href: to(['settings']) }, 'Open the doctor'))));
}

/** @param {Stats} stats @param {string} since */
function figures({ total, times, groups, step }, since) {
  const sum = (/** @type {number[]} */ list) => list.reduce((all, one) => all + one, 0);
  const calls = sum(total.calls);
  const errors = sum(total.errors);
  const cached = sum(total.cached);
  const tokens = groups.reduce((all, one) => all + one.tokensOut, 0);
  const minutes = (total.calls.length * step) / 60;
  const worst = [...groups].sort((x, y) => y.errors - x.errors)[0];
  const figure = (/** @type {string} */ label, /** @type {any} */ value, /** @type {any} */ note, /** @type {string} */ q, /** @type {string} */ tone = '') => a({ key: label, class: `card figure ${tone}`, href: to(['executions'], { q: `${q} since:${since}`.trim() }) }, span({ class: 'ink-2' }, label), span({ class: 'big' }, value), span({ class: 'note' }, note));
  return div({ class: 'figures' },
    figure('Calls', count(calls), `${(calls / minutes).toFixed(calls / minutes < 10 ? 1 : 0)} a minute`, ''),
    figure('Errors', count(errors), [percent(errors, calls), worst?.errors ? ['; most: ', name(worst.key)] : null], 'status:error', errors ? 'some-bad' : ''),
    figure('p50 / p99', [times.p50.toFixed(1), ' / ', count(times.p99), span({ class: 'unit' }, ' ms')], 'time of a call', `min:${Math.floor(times.p99)}`),
    figure('From the cache', percent(cached, calls), some(cached, 'call'), ''),
    figure('Answers', short(tokens), 'tokens, estimated', ''));
}

/** @param {{ stats: Stats, title: string }} props */
function Timeline({ stats, title }) {
  const { times, lines } = useMemo(() => {
    const from = Date.parse(stats.from) / 1000;
    return {
      times: stats.total.calls.map((_, index) => from + index * stats.step),
      lines: [
        { label: 'Calls', color: 'accent', values: stats.total.calls, fill: true },
        { label: 'Errors', color: 'bad', values: stats.total.errors },
        { label: 'p99', color: 'ink-3', values: stats.total.p99, dash: [3, 3], scale: 'ms' },
      ],
    };
  }, [stats]);
  const most = Math.max(...stats.total.calls);
  const sentence = `Between ${count(Math.min(...stats.total.calls))} and ${count(most)} calls ${stats.step === 60 ? 'a minute' : `per ${spanOf(stats.step)}`}; ${some(stats.total.errors.reduce((sum, one) => sum + one, 0), 'error')}; the slowest p99 was ${ms(Math.max(...stats.total.p99))}.`;
  return section({ class: 'card' }, header(null, h2(null, title), div({ class: 'right note' }, 'Drag to see the calls of a time')),
    div({ class: 'body' }, chart({ times, lines, sentence, zoomed: (from, until) => go(to(['executions'], { q: `since:${new Date(from * 1000).toISOString().slice(0, 19)}Z until:${new Date(until * 1000).toISOString().slice(0, 19)}Z` })) })));
}

/** @param {Stats} stats @param {string} by @param {string} since */
function costs({ groups }, by, since) {
  const most = Math.max(1, ...groups.map((one) => one.ms));
  const word = by === 'edge' ? 'edge' : by;
  return section({ class: 'card' },
    header(null, h2(null, 'What costs most'), div({ class: 'right' }, div({ class: 'segments small', role: 'group', 'aria-label': 'Grouped' }, Object.entries(BY).map(([key, text]) => button({ key, type: 'button', 'aria-pressed': key === by, onClick: () => go(to([], { range: since === '1h' ? null : since, by: key === 'tool' ? null : key })) }, text.replace('By ', '')))))),
    div({ class: 'scroll-x', tabIndex: 0, role: 'region', 'aria-label': 'What costs most' }, tableElement({ class: 'table costs' },
      thead(null, tr(null, th({ scope: 'col' }, by === 'edge' ? 'Way in' : by[0].toUpperCase() + by.slice(1)), ['Calls', 'Time', 'p99', 'Tokens out', 'Errors'].map((text) => th({ key: text, class: 'num', scope: 'col' }, text)))),
      tbody(null, groups.slice(0, 12).map((one) => tr({ key: one.key },
        td({ class: 'cost' }, a({ class: by === 'tool' ? 'mono' : '', href: to(['executions'], { q: one.key === 'ok' ? `status:ok since:${since}` : `${word}:${/\s/.test(one.key) ? `"${one.key}"` : one.key} since:${since}` }) }, name(one.key)), use(Share, { part: one.ms / most })),
        td({ class: 'num' }, count(one.calls)), td({ class: 'num' }, ms(one.ms)), td({ class: 'num' }, ms(one.p99)), td({ class: 'num' }, short(one.tokensOut)), td({ class: `num ${one.errors ? 'bad-ink' : ''}` }, one.errors ? percent(one.errors, one.calls) : '0')))))));
}

/** How much of the largest. @param {{ part: number }} props */
function Share({ part }) {
  return span({ class: 'share', 'aria-hidden': 'true', ref: (at) => { if (at) at.style.setProperty('--part', String(part)); } });
}

const glance = () => section({ class: 'card' }, header(null, h2(null, 'Servers'), div({ class: 'right' }, a({ href: to(['servers']) }, 'All'))),
  servers.value === null ? bars() : servers.value.length ? tableElement({ class: 'table' }, tbody(null, servers.value.map((one) => tr({ key: one.name },
    td(null, a({ href: to(['servers', one.name]) }, name(one.name))), td({ class: 'tight' }, one.pendingReview ? chip('hold', '‖', `${one.pendingReview} to review`) : serverState(one)), td({ class: 'num' }, some(one.open, 'tool'))))))
    : p({ class: 'empty' }, 'No other server is connected.'));
