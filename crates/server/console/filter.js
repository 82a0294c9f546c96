// The filter of the log: one line of words such as `tool:create-* status:error since:1h`, into a query and a test.
import { only } from './text.js';

/** @typedef {import('./types.js').Execution} Execution */

/** The words that can stand before a colon, and what they filter. */
export const FIELDS = {
  tool: 'Name of a tool, * for any characters',
  status: 'ok, error, timeout, cancelled, pending, running, interrupted',
  code: 'Code of an error',
  user: 'Who called',
  agent: 'Through which agent',
  edge: 'By which way in: mcp, rest, chat, cli, console',
  profile: 'Under which profile',
  since: 'For the last 1h, 30m, 7d, or from a date on',
  until: 'Up to a date',
  trace: 'All calls of a trace',
  min: 'At least that many milliseconds',
  cached: 'yes: answered from the cache',
  failed: 'yes: failed or timed out',
  counted: 'yes: what the overview counts, which is calls that have ended',
};
const YES_NO = ['cached', 'failed', 'counted'];
export const STATUSES = ['ok', 'error', 'timeout', 'cancelled', 'pending', 'running', 'interrupted'];

/** @typedef {{ fields: [string, string][], words: string[], wrong: string[] }} Filter */

/** @param {string} line @returns {Filter} */
export function readFilter(line) {
  /** @type {Filter} */
  const filter = { fields: [], words: [], wrong: [] };
  for (const [, key, quoted, bare, word] of line.matchAll(/(?:^|\s)(?:(\w+):(?:("(?:[^"\\]|\\.)*")|(\S*))|(\S+))/g)) {
    if (key === undefined) filter.words.push(word);
    else if (!(key in FIELDS)) filter.wrong.push(key);
    else if (quoted || bare) filter.fields.push([key, quoted ? unquoted(quoted) : bare]);
  }
  return filter;
}

/** @param {string} text */
function unquoted(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text.slice(1, -1);
  }
}

/** `1h` as an instant. @param {string} text @param {number} now */
export function instant(text, now = Date.now()) {
  const [, many, unit] = /^(\d+)\s*(s|m|h|d|w)$/.exec(text) ?? [];
  if (many) return new Date(now - Number(many) * { s: 1e3, m: 6e4, h: 36e5, d: 864e5, w: 6048e5 }[/** @type {'s'} */ (unit)]).toISOString();
  const date = new Date(text);
  return Number.isNaN(date.valueOf()) ? null : date.toISOString();
}

/** The parameters of a request. @param {Filter} filter @returns {Record<string, string>} */
export function toQuery({ fields, words }) {
  /** @type {Record<string, string>} */
  const query = {};
  for (const [key, value] of fields) {
    if (key === 'since' || key === 'until') {
      const at = instant(value);
      if (at) query[key] = at;
    } else query[{ trace: 'traceId', min: 'minMs' }[key] ?? key] = YES_NO.includes(key) ? String(value !== 'no') : value;
  }
  if (words.length) query.q = words.join(' ');
  return query;
}

/** @param {string} pattern @param {string} text */
function like(pattern, text) {
  const parts = pattern
    .split('*')
    .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 'su').test(text);
}

/** Whether a row that has just come belongs in the list. @param {Filter} filter @param {Execution} row */
export function fits({ fields, words }, row) {
  /** @type {Record<string, (value: string) => boolean>} */
  const tests = {
    tool: (value) => like(value, row.tool),
    status: (value) => row.status === value,
    code: (value) => like(value, row.code ?? ''),
    user: (value) => row.user === value,
    agent: (value) => like(value, row.agentId),
    edge: (value) => row.edge === value,
    profile: (value) => row.profile === value,
    trace: (value) => row.traceId.replaceAll('-', '') === value.replaceAll('-', ''),
    since: (value) => Date.parse(row.startedAt) >= Date.parse(instant(value) ?? '1970'),
    until: (value) => Date.parse(row.startedAt) < Date.parse(instant(value) ?? '9999'),
    min: (value) => (row.durationMs ?? -1) >= Number(value),
    cached: (value) => row.cached === (value !== 'no'),
    failed: (value) => ['error', 'timeout'].includes(row.status) === (value !== 'no'),
    counted: (value) => (row.endedAt !== undefined && row.edge !== 'system') === (value !== 'no'),
  };
  return fields.every(([key, value]) => tests[key](value)) && words.every((word) => JSON.stringify(row).toLowerCase().includes(word.toLowerCase()));
}

/** What the word under the cursor could become. @param {string} word @param {Record<string, string[]>} known @returns {{ text: string, about: string }[]} */
export function completions(word, known) {
  const colon = word.indexOf(':');
  if (colon < 0)
    return Object.entries(FIELDS)
      .filter(([key]) => key.startsWith(word))
      .map(([key, about]) => ({ text: `${key}:`, about }));
  const [key, start] = [word.slice(0, colon), word.slice(colon + 1).toLowerCase()];
  const values = key === 'status' ? STATUSES : key === 'since' ? ['15m', '1h', '24h', '7d'] : YES_NO.includes(key) ? ['yes', 'no'] : (known[key] ?? []);
  return values
    .filter((value) => value.toLowerCase().includes(start) && value.toLowerCase() !== start)
    .slice(0, 8)
    .map((value) => ({ text: only(key, value), about: '' }));
}
