// One tool: its contract in words, the form to try it, its recent calls, who publishes it, the raw definition.
import { a, button, code, dd, details, div, dl, dt, h2, header, li, p, section, span, summary, tableElement, tbody, td, tr, ul, use } from '../dom.js';
import { get } from '../api.js';
import { catalogue } from '../live.js';
import { copy } from '../parts/copy.js';
import { boxed, valueTree } from '../parts/json.js';
import { head } from '../parts/page.js';
import { empty, loaded, useLoaded } from '../parts/problem.js';
import { callState, chip } from '../parts/state.js';
import { to } from '../router.js';
import { holds } from '../session.js';
import { count, ms, name, only, plain, some } from '../text.js';
import { when } from '../time.js';
import { TryIt } from './tryit.js';

/** @typedef {import('../types.js').Sheet} Sheet */

/** @param {{ tool: string, query: URLSearchParams }} props */
export function ToolPage({ tool, query }) {
  const sheet = useLoaded((signal) => /** @type {Promise<Sheet>} */ (get(`/tools/${encodeURIComponent(tool)}`, { view: 'sheet' }, signal)), [tool], [catalogue.value]);
  const found = sheet.value;
  return div(
    { class: 'page' },
    p({ class: 'crumb' }, a({ href: to(['tools']) }, 'Catalogue')),
    head({
      title: tool,
      shown: span({ class: 'mono' }, name(tool)),
      beside: found ? badges(found) : null,
      right: found
        ? [
            found.source.kind === 'script' && holds('registry:write') ? a({ class: 'b', href: to(['scripts', tool]) }, 'Edit the script') : null,
            button({ class: 'b', type: 'button', onClick: () => copy(`${location.origin}${to(['tools', tool])}`, 'Copied the address') }, 'Copy the address'),
          ]
        : null,
    }),
    loaded(sheet, (one) => [
      p({ class: 'lead' }, plain(one.definition.description)),
      one.definition.deprecated
        ? div(
            { class: 'banner' },
            chip('warn', '◌', 'deprecated'),
            span(null, one.definition.deprecated.reason ? plain(one.definition.deprecated.reason) : 'Callers are told to use another tool.'),
            one.definition.deprecated.replacement ? a({ href: to(['tools', one.definition.deprecated.replacement]) }, 'Use ', name(one.definition.deprecated.replacement)) : null,
          )
        : null,
      div({ class: 'split' }, use(TryIt, { sheet: one, from: query.get('from') }), div({ class: 'stack' }, contract(one), use(Recent, { tool }), published(one), raw(one))),
    ]),
  );
}

/** @param {Sheet} sheet */
function badges({ definition, source }) {
  return [
    chip(definition.category === 'query' ? '' : 'accent', '', definition.category),
    chip('', '', `v${definition.version}`),
    definition.destructive ? chip('warn', '▲', 'destructive') : null,
    source.server ? a({ class: 'chip bare', href: to(['servers', source.server]) }, 'server ', name(source.server)) : source.kind === 'script' ? chip('', '', 'script') : null,
  ];
}

/** @param {Sheet} sheet */
function contract({ definition, policy, record, findings, tokens }) {
  const bad = findings.filter((one) => !['pass', 'guaranteed'].includes(one.outcome));
  const rows = /** @type {[string, any][]} */ ([
    ['Needs', definition.permissions.length ? definition.permissions.map((one) => [code(null, plain(one)), ' ']) : 'no grant'],
    ['Timeout', `${ms(policy.timeoutMs)} (${definition.responseTime})`],
    ['Repeats', definition.idempotent ? 'safe: repeating has no further effect' : definition.category === 'query' ? 'safe: it changes nothing' : 'not safe; use an idempotency key'],
    ['Cache', policy.cached ? `for ${some(definition.cacheTTL ?? 0, 'second')}` : definition.category === 'query' ? 'no' : 'never (it changes things)'],
    ['Approval', policy.needsApproval ? chip('hold', '‖', 'a person decides each call') : 'not needed'],
    ['At once', policy.parallel ? 'calls run in parallel' : 'one call at a time'],
    ['Record', record.of ? `${count(record.good)} of ${some(record.of, 'recent call')} good` : 'never called'],
    ['In a list', `about ${some(tokens, 'token')}`],
    ...(definition.derived?.length ? [/** @type {[string, any]} */ (['Filled in', plain(definition.derived.join(', '))])] : []),
  ]);
  return section(
    { class: 'card' },
    header(null, h2(null, 'Contract'), div({ class: 'right' }, bad.length ? chip('warn', '▲', some(bad.length, 'finding')) : chip('ok', '●', `${findings.length} of ${findings.length} checks`))),
    div(
      { class: 'body' },
      dl(
        { class: 'kv' },
        rows.map(([key, value]) => [dt(null, key), dd(null, value)]),
      ),
      bad.length
        ? ul(
            { class: 'findings' },
            bad.map((one) => li({ key: one.line }, '▲ ', plain(one.line), one.detail ? span({ class: 'note' }, ': ', plain(one.detail)) : null)),
          )
        : null,
      definition.tags.length
        ? div(
            { class: 'row' },
            definition.tags.map((tag) => a({ key: tag, class: 'chip bare', href: to(['tools'], { tag }) }, '#', name(tag))),
          )
        : null,
    ),
  );
}

/** @param {{ tool: string }} props */
function Recent({ tool }) {
  const calls = useLoaded((signal) => get('/executions', { tool, limit: 6 }, signal), [tool]);
  return section(
    { class: 'card' },
    header(null, h2(null, 'Recent calls'), div({ class: 'right' }, a({ href: to(['executions'], { q: only('tool', tool) }) }, 'All'))),
    loaded(calls, ({ executions }) =>
      executions.length
        ? tableElement(
            { class: 'table' },
            tbody(
              null,
              executions.map(
                /** @param {import('../types.js').Execution} one */ (one) =>
                  tr(
                    { key: one.executionId },
                    td({ class: 'tight' }, callState(one.status, true)),
                    td(null, a({ href: to(['executions', one.executionId], { q: only('tool', tool) }) }, when(one.startedAt))),
                    td(null, name(one.user)),
                    td({ class: 'num' }, ms(one.durationMs)),
                  ),
              ),
            ),
          )
        : empty('Never called.'),
    ),
  );
}

/** @param {Sheet} sheet */
function published({ published: list }) {
  return section(
    { class: 'card' },
    header(null, h2(null, 'Published as')),
    list.length
      ? tableElement(
          { class: 'table' },
          tbody(
            null,
            list.map((one) => tr({ key: one.profile + one.as }, td(null, a({ href: to(['profiles', one.profile]) }, name(one.profile))), td({ class: 'mono' }, name(one.as)))),
          ),
        )
      : empty('In no profile.'),
  );
}

/** @param {Sheet} sheet */
const raw = ({ definition }) => details({ class: 'card fold' }, summary(null, 'Raw definition'), div({ class: 'body' }, boxed(valueTree(definition), 'Raw definition', true)));
