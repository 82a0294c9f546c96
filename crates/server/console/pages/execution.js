// One call: the steps it took and the one that ended it, what was sent and answered, what it wrote, its trace.
import { useState } from '../vendor/preact.js';
import { a, button, code, dd, div, dl, dt, h2, h3, header, li, ol, p, pre, rect, section, span, strong, svg, use } from '../dom.js';
import { exchange, get, Problem } from '../api.js';
import { asCommand, asCurl, callTool } from '../calls.js';
import { icon } from '../icons.js';
import { copy, copyButton } from '../parts/copy.js';
import { boxed, inside, read, tree, write } from '../parts/json.js';
import { long } from '../parts/long.js';
import { loaded, useLoaded } from '../parts/problem.js';
import { callState, chip } from '../parts/state.js';
import { go, to } from '../router.js';
import { ms, name, only, plain, some } from '../text.js';
import { fullTime, stamp, when } from '../time.js';

/** @typedef {import('../types.js').Execution} Execution */
/** @typedef {{ row: Execution, node: import('../parts/json.js').Node }} Read */

const STEPS = ['resolve', 'permit', 'params', 'limit', 'admit', 'run', 'answer'];
// The log names the steps at which it looks at the clock; the first four are timed together.
/** @type {Record<string, string>} */
const LOGGED = { checks: 'limit', permission: 'permit', parameters: 'params', 'rate limit': 'limit', admission: 'admit' };

/** @param {{ id: string, line: string, close: () => void }} props */
export function Detail({ id, line, close }) {
  const one = useLoaded(
    async (signal) => {
      const answer = await exchange('GET', `/executions/${encodeURIComponent(id)}`, { signal });
      if (!answer.ok) throw new Problem(answer.status, answer.value);
      return /** @type {Read} */ ({ row: answer.value, node: read(answer.text) });
    },
    [id],
  );
  return section(
    { class: 'card detail', 'aria-label': 'One call' },
    loaded(one, ({ row, node }) => [
      header(
        null,
        button({ class: 'b small quiet icon-only back', type: 'button', 'aria-label': 'Back to the list', onClick: close }, icon('back')),
        h2({ class: 'mono' }, a({ class: 'bare', href: to(['tools', row.tool]) }, name(row.tool))),
        callState(row.status),
        div({ class: 'right' }, button({ class: 'b small quiet icon-only', type: 'button', 'aria-label': 'Close', title: 'Close (Esc)', onClick: close }, icon('close'))),
      ),
      div(
        { class: 'body scroll', tabIndex: 0, role: 'region', 'aria-label': 'Detail' },
        use(Actions, { row, node }),
        failure(row),
        facts(row, line),
        steps(row),
        part('Parameters', inside(node, 'input')),
        part(row.truncated ? 'Result (cut by the log)' : 'Result', inside(node, 'output')),
        row.lines?.length ? lines(row) : null,
        row.hints?.reasoning ? div({ class: 'stack tight' }, h3(null, 'Hints'), p({ class: 'ink-2' }, plain(row.hints.reasoning))) : null,
        use(Trace, { row }),
      ),
    ]),
  );
}

/** @param {Read} props */
function Actions({ row, node }) {
  const [dry, setDry] = useState(/** @type {any} */ (null));
  const input = inside(node, 'input');
  const params = input ? write(input) : '{}';
  const compact = JSON.stringify(row.input ?? {});
  const again = async () => {
    const answer = await callTool(row.tool, params, { dryRun: true });
    setDry(answer.value);
  };
  return div(
    { class: 'stack tight' },
    div(
      { class: 'row' },
      button({ class: 'b small primary', type: 'button', onClick: again }, 'Dry run again'),
      button({ class: 'b small', type: 'button', onClick: () => go(to(['tools', row.tool], { from: row.executionId })) }, 'Edit and call'),
      button(
        {
          class: 'b small',
          type: 'button',
          onClick: () =>
            copy(asCurl(row.tool, compact), 'Copied as curl'),
        },
        'Copy as curl',
      ),
      button({ class: 'b small', type: 'button', onClick: () => copy(asCommand(row.tool, compact), 'Copied as command') }, 'Copy as command'),
    ),
    dry
      ? div(
          { class: `banner ${dry.error ? 'bad' : ''}`, role: 'status' },
          dry.error
            ? [strong(null, 'It would be refused: '), span(null, plain(dry.error.message))]
            : [strong(null, 'It would go through.'), span(null, dry.data?.needsApproval ? 'It would wait for a person. Nothing was changed.' : 'Nothing was changed.')],
        )
      : null,
  );
}

/** @param {Execution} row */
function failure(row) {
  if (!row.message && !row.detail) return null;
  const waits = row.status === 'pending';
  return div(
    { class: `problem ${waits ? 'holds' : ''}` },
    row.message ? p(null, strong(null, long(row.message))) : null,
    row.detail ? boxed(pre(null, long(row.detail)), 'What the tool said') : null,
    div(
      { class: 'row' },
      row.code ? a({ class: 'note', href: `/docs/errors#${row.code}`, target: '_blank', rel: 'noopener noreferrer' }, row.code) : null,
      row.outcome ? chip(row.outcome === 'applied' ? 'warn' : '', '', `outcome: ${row.outcome}`) : null,
      waits ? a({ class: 'b small hold', href: to(['approvals', row.approvalId]) }, 'Open approvals') : null,
    ),
  );
}

/** @param {Execution} row @param {string} line */
function facts(row, line) {
  const these = (/** @type {string} */ key, /** @type {string} */ value) =>
    a({ class: 'bare dotted', title: 'Only these', href: to(['executions', row.executionId], { q: only(key, value) }) }, name(value));
  const marks = [row.cached && 'from the cache', row.dryRun && 'dry run', row.replayed && 'replayed'].filter(Boolean);
  return dl(
    { class: 'kv' },
    dt(null, 'Started'),
    dd(null, when(row.startedAt), span({ class: 'note' }, ` ${stamp(row.startedAt)}`)),
    dt(null, 'Took'),
    dd(
      null,
      row.durationMs == null ? 'not ended' : ms(row.durationMs),
      marks.length ? [' ', chip('', '', marks.join(', '))] : null,
      row.bytesOut ? span({ class: 'note' }, ` ${some(row.bytesOut, 'byte')} out, about ${some(Math.ceil(row.bytesOut / 4), 'token')}`) : null,
    ),
    dt(null, 'Caller'),
    dd(null, these('user', row.user), ', through ', these('agent', row.agentId), ' ', span({ class: 'note' }, plain(row.agentVersion)), ', by ', these('edge', row.edge)),
    dt(null, 'Profile'),
    dd(null, these('profile', row.profile)),
    row.conversationId ? [dt(null, 'Chat'), dd(null, a({ href: to(['chat', row.conversationId]) }, 'Open the conversation'))] : null,
    dt(null, 'Execution'),
    dd({ class: 'with-copy' }, code(null, row.executionId), copyButton(row.executionId, 'Copy the execution id')),
    dt(null, 'Trace'),
    dd(
      { class: 'with-copy' },
      a({ class: 'bare dotted mono', href: to(['executions', row.executionId], { q: `trace:${row.traceId}` }) }, plain(row.traceId)),
      copyButton(row.traceId, 'Copy the trace id'),
    ),
  );
}

/** @param {Execution} row */
function steps(row) {
  if (!row.steps?.length) return null;
  const taken = new Map(row.steps.map((step) => [LOGGED[step.name] ?? step.name, step]));
  const last = STEPS.indexOf([...taken.keys()].at(-1) ?? '');
  const failed = !['ok', 'running'].includes(row.status);
  const tone = row.status === 'pending' ? 'hold' : 'bad';
  return div(
    { class: 'stack tight' },
    h3(null, 'Steps'),
    ol(
      { class: 'steps' },
      STEPS.map((step, index) => {
        const timed = taken.get(step);
        const end = failed && index === last;
        return li(
          { key: step, class: end ? tone : index <= last ? 'done' : 'not' },
          span(null, end ? (tone === 'hold' ? '‖ ' : '✕ ') : index <= last ? '✓ ' : '', step),
          span({ class: 'note', title: timed?.name === 'checks' ? 'With the steps before' : undefined }, timed ? ms(timed.us / 1000) : ''),
        );
      }),
    ),
  );
}

/** @param {string} title @param {import('../parts/json.js').Node | undefined} node */
function part(title, node) {
  if (!node) return null;
  return div({ class: 'stack tight' }, div({ class: 'row' }, h3({ class: 'grow' }, title), copyButton(write(node), `Copy: ${title}`)), boxed(tree(node), title));
}

/** @param {Execution} row */
const lines = (row) =>
  div(
    { class: 'stack tight' },
    h3(null, 'Log lines'),
    boxed(
      ol(
        { class: 'lines' },
        row.lines?.map((line, index) =>
          li(
            { key: index, class: line.stream === 'stderr' ? 'err' : '' },
            span({ class: 'note mono', title: fullTime(line.at) }, stamp(line.at)),
            span({ class: 'note' }, line.level ?? line.stream),
            span({ class: 'mono pre' }, long(line.text)),
          ),
        ),
      ),
      'Log lines',
    ),
  );

/** The calls of the same trace, as bars on one line of time. @param {{ row: Execution }} props */
function Trace({ row }) {
  const all = useLoaded((signal) => get('/executions', { traceId: row.traceId, limit: 50 }, signal), [row.traceId]);
  /** @type {Execution[]} */
  const calls = (all.value?.executions ?? []).slice().sort(/** @param {Execution} x @param {Execution} y */ (x, y) => x.startedAt.localeCompare(y.startedAt));
  if (calls.length < 2) return null;
  const from = Date.parse(calls[0].startedAt);
  const width = Math.max(1, ...calls.map((call) => Date.parse(call.startedAt) - from + (call.durationMs ?? 1)));
  return div(
    { class: 'stack tight' },
    h3(null, `Trace, ${calls.length} calls`),
    ol(
      { class: 'trace' },
      calls.map((call) =>
        li(
          { key: call.executionId },
          a({ class: 'mono', href: to(['executions', call.executionId]), 'aria-current': call.executionId === row.executionId ? 'true' : undefined }, name(call.tool)),
          svg(
            { viewBox: '0 0 100 8', preserveAspectRatio: 'none', 'aria-hidden': 'true', class: call.status === 'ok' ? '' : 'bad' },
            rect({ x: ((Date.parse(call.startedAt) - from) / width) * 100, y: 1, width: Math.max(1, ((call.durationMs ?? 1) / width) * 100), height: 6, rx: 1 }),
          ),
          span({ class: 'note num' }, ms(call.durationMs)),
        ),
      ),
    ),
  );
}
