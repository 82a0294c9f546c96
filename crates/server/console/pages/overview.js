// Overview: what needs a person now, five figures, one chart, what costs most. Every figure opens the calls behind it.
import { useEffect, useMemo, useState } from '../vendor/preact.js';
import { a, button, div, h2, header, li, p, section, span, strong, tableElement, tbody, td, th, thead, tr, ul, use } from '../dom.js';
import { exchange, get } from '../api.js';
import { approvals, follow, servers, waiting } from '../live.js';
import { chart } from '../parts/chart.js';
import { copyable } from '../parts/copy.js';
import { head } from '../parts/page.js';
import { bars, empty, loaded, useLoaded } from '../parts/problem.js';
import { chip, serverState } from '../parts/state.js';
import { go, to } from '../router.js';
import { count, ms, name, only, percent, plain, short, some } from '../text.js';
import { left, now, span as spanOf } from '../time.js';

/** @typedef {import('../types.js').Stats} Stats */

/** @type {Record<string, { title: string, seconds: number, step: number }>} */
const RANGES = { '1h': { title: 'The last hour', seconds: 3600, step: 60 }, '24h': { title: 'The last 24 hours', seconds: 86_400, step: 900 }, '7d': { title: 'The last 7 days', seconds: 604_800, step: 7200 }, '30d': { title: 'The last 30 days', seconds: 2_592_000, step: 28_800 } };
const BY = { tool: 'tool', user: 'user', agent: 'agent', code: 'code', edge: 'way in' };

/** @param {import('../main.js').PageProps} props */
export function Overview({ query }) {
  const key = query.get('range') ?? '1h';
  const range = RANGES[key] ?? RANGES['1h'];
  const by = /** @type {Record<string, string>} */ (BY)[query.get('by') ?? ''] ? query.get('by') ?? '' : 'tool';
  const [turn, setTurn] = useState(0);
  // A busy log asks for new figures at most every ten seconds.
  useEffect(() => { let last = Date.now(); return follow(() => { if (Date.now() - last > 10_000) { last = Date.now(); setTurn((n) => n + 1); } }); }, []);
  // From the beginning of a step on, so that the links can name exactly the calls that were counted.
  const since = () => new Date(Math.floor((Date.now() / 1000 - range.seconds) / range.step) * range.step * 1000).toISOString();
  const stats = useLoaded((signal) => /** @type {Promise<Stats>} */ (get('/stats', { since: since(), step: range.step, by }, signal)), [key, by], [turn]);
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
      if (!calls && !found.groups.length) return section({ class: 'card' }, empty(['No calls in this time. ', a({ href: to(['tools']) }, 'Try a tool'), ' here, ', a({ href: to(['profiles', 'default']) }, 'connect a client'), ', or make the first call from the command line:'], copyable('toolroom call get-status'), true));
      return [figures(found), use(Timeline, { stats: found, title: range.title }), div({ class: 'split' }, costs(found, by, key), glance())];
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
    review.map((one) => li({ key: one.name, class: 'card hold line' }, strong(null, some(one.pendingReview, 'definition'), ' of ', name(one.name), one.pendingReview === 1 ? ' waits for review' : ' wait for review'), span({ class: 'ink-2' }, one.pendingReview === 1 ? 'it is refused until then' : 'they are refused until then'), a({ class: 'right', href: to(['servers', one.name]) }, 'Review'))),
    down.map((one) => li({ key: one.name, class: 'card bad line' }, strong(null, name(one.name), ` is ${one.state}`), span({ class: 'ink-2' }, plain(one.reason)), a({ class: 'right', href: to(['servers', one.name]) }, 'Open the server'))),
    edits.map((one, index) => li({ key: index, class: 'card bad line' }, strong(null, plain(one.reason)), a({ class: 'right', href: to(['settings']) }, 'Open the doctor'))));
}

/** The calls that were counted, and of these the ones that words of the filter say. @param {Stats} stats @param {string} [q] */
const counted = ({ from, until }, q = '') => to(['executions'], { q: `${q} counted:yes since:${from} until:${new Date(Date.parse(until) + 1).toISOString()}`.trim() });

/** The slowest of them: times are counted in steps of a fifth, and this is where the step of this one begins. @param {number} ms */
const slow = (ms) => `min:${Math.floor(ms * 917) / 1000}`;

/** @param {Stats} stats */
function figures(stats) {
  const { total, times, groups, step } = stats;
  const sum = (/** @type {number[]} */ list) => list.reduce((all, one) => all + one, 0);
  const calls = sum(total.calls);
  const errors = sum(total.errors);
  const cached = sum(total.cached);
  const tokens = groups.reduce((all, one) => all + one.tokensOut, 0);
  const rate = calls / ((total.calls.length * step) / 60);
  const worst = [...groups].sort((x, y) => y.errors - x.errors)[0];
  const figure = (/** @type {string} */ label, /** @type {any} */ value, /** @type {any} */ note, /** @type {string} */ q, /** @type {string} */ tone = '') => a({ key: label, class: `card figure ${tone}`, href: counted(stats, q) }, span({ class: 'ink-2' }, label), span({ class: 'big' }, value), span({ class: 'note' }, note));
  return div({ class: 'figures' },
    figure('Calls', count(calls), `${rate.toFixed(rate < 10 ? 1 : 0)} a minute`, ''),
    figure('Errors', count(errors), [percent(errors, calls), worst?.errors ? ['; most: ', name(worst.key)] : null], 'failed:yes', errors ? 'some-bad' : ''),
    figure('p50 / p99', [times.p50.toFixed(1), ' / ', count(times.p99), span({ class: 'unit' }, ' ms')], 'time of a call', slow(times.p99)),
    figure('From the cache', percent(cached, calls), some(cached, 'call'), 'cached:yes'),
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
  // Points stand for steps: whole ones are opened.
  const edge = (/** @type {number} */ at, /** @type {number} */ more) => new Date((Math.floor(at / stats.step) + more) * stats.step * 1000).toISOString();
  const most = Math.max(...stats.total.calls);
  const sentence = `Between ${count(Math.min(...stats.total.calls))} and ${count(most)} calls ${stats.step === 60 ? 'a minute' : `per ${spanOf(stats.step)}`}; ${some(stats.total.errors.reduce((sum, one) => sum + one, 0), 'error')}; the slowest p99 was ${ms(Math.max(...stats.total.p99))}.`;
  return section({ class: 'card' }, header(null, h2(null, title), div({ class: 'right note' }, 'Drag to see the calls of a time')),
    div({ class: 'body' }, chart({ times, lines, sentence, zoomed: (from, until) => go(counted({ ...stats, from: edge(from, 0), until: edge(until, 1) })) })));
}

/** @param {Stats} stats @param {string} by @param {string} since */
function costs(stats, by, since) {
  const { groups } = stats;
  const most = Math.max(1, ...groups.map((one) => one.ms));
  const these = (/** @type {string} */ key) => (by === 'code' && key === 'ok' ? 'status:ok' : only(by, key));
  // The first link is as wide as its row: all its numbers are of the same calls, but for two.
  return section({ class: 'card' },
    header(null, h2(null, 'What costs most'), div({ class: 'right' }, div({ class: 'segments small', role: 'group', 'aria-label': 'Grouped' }, Object.entries(BY).map(([key, text]) => button({ key, type: 'button', 'aria-pressed': key === by, onClick: () => go(to([], { range: since === '1h' ? null : since, by: key === 'tool' ? null : key })) }, text))))),
    div({ class: 'scroll-x', tabIndex: 0, role: 'region', 'aria-label': 'What costs most' }, tableElement({ class: 'table costs' },
      thead(null, tr(null, [BY[/** @type {'tool'} */ (by)], 'calls', 'time', 'p99', 'tokens out', 'errors'].map((text, at) => th({ key: text, class: at ? 'num' : '', scope: 'col' }, at === 3 ? text : text[0].toUpperCase() + text.slice(1))))),
      tbody(null, groups.slice(0, 12).map((one) => tr({ key: one.key },
        td({ class: 'cost' }, a({ class: by === 'tool' ? 'mono' : '', href: counted(stats, these(one.key)) }, name(one.key)), use(Share, { part: one.ms / most })),
        td({ class: 'num' }, count(one.calls)), td({ class: 'num' }, ms(one.ms)), td({ class: 'num' }, a({ href: counted(stats, `${these(one.key)} ${slow(one.p99)}`) }, ms(one.p99))), td({ class: 'num' }, short(one.tokensOut)), td({ class: 'num' }, one.errors ? a({ class: 'bad-ink', href: counted(stats, `${these(one.key)} failed:yes`) }, percent(one.errors, one.calls)) : '0')))))));
}

/** How much of the largest. @param {{ part: number }} props */
function Share({ part }) {
  return span({ class: 'share', 'aria-hidden': 'true', ref: (at) => { if (at) at.style.setProperty('--part', String(part)); } });
}

const glance = () => section({ class: 'card' }, header(null, h2(null, 'Servers'), div({ class: 'right' }, a({ href: to(['servers']) }, 'All'))),
  servers.value === null ? bars() : servers.value.length ? tableElement({ class: 'table' }, tbody(null, servers.value.map((one) => tr({ key: one.name },
    td(null, a({ href: to(['servers', one.name]) }, name(one.name))), td({ class: 'tight' }, one.pendingReview ? chip('hold', '‖', `${one.pendingReview} to review`) : serverState(one)), td({ class: 'num' }, some(one.open, 'tool'))))))
    : p({ class: 'empty' }, 'No other server is connected.'));
