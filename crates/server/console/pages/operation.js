// One operation of the API: what it takes, what it gives, and a try of it.
import { useState } from '../vendor/preact.js';
import { a, button, code, details, div, form, h3, label, p, pre, span, strong, summary, textarea, use } from '../dom.js';
import { exchange } from '../api.js';
import { copy } from '../parts/copy.js';
import { boxed, read, tree, write } from '../parts/json.js';
import { shown } from '../parts/problem.js';
import { schemaOf } from '../parts/schema.js';
import { chip } from '../parts/state.js';
import { group } from '../schema/form.js';
import { least } from '../schema/values.js';
import { ms, plain } from '../text.js';

/** @typedef {import('../parts/json.js').Node} Node */
/** @typedef {{ id: string, method: string, path: string, tag: string, summary: string, parameters: any[], requestBody?: any, responses: Record<string, any>, 'x-access': string }} Op */
/** @typedef {{ status: number, text: string, ms: number, kind: string }} Answer */

const NOTHING = /** @type {Node} */ ({ kind: 'object', entries: [] });

/** @param {Op} op @param {any} document */
const parameters = (op, document) => op.parameters.map((one) => (one.$ref ? document.components.parameters[one.$ref.split('/').at(-1)] : one));

/** Whether the answer is only ever a stream, which a page cannot wait for the end of. @param {Op} op */
const endless = (op) => Object.keys(Object.values(op.responses)[0].content ?? {}).join() === 'text/event-stream' || '101' in op.responses;

/** @param {string} text */
const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

/** @param {{ op: Op, document: any }} props */
export function Operation({ op, document }) {
  const takes = op.requestBody?.content['application/json'].schema;
  return div(
    { class: 'body' },
    p(null, plain(op.summary)),
    p({ class: 'note' }, 'Who may: ', strong(null, op['x-access']), '. Name in generated clients: ', code(null, op.id), '.'),
    use(Try, { op, document, takes }),
    takes ? div({ class: 'stack tight' }, h3(null, 'Body'), schemaOf(takes, document)) : null,
    div(
      { class: 'stack tight' },
      h3(null, 'Answers'),
      Object.entries(op.responses).map(([status, answer]) =>
        details(
          { key: status, class: 'answer' },
          summary(null, code(null, status === 'default' ? 'otherwise' : status), ' ', plain(answer.description), ' ', span({ class: 'note' }, Object.keys(answer.content ?? {}).join(', '))),
          Object.entries(answer.content ?? {}).map(([media, { schema }]) => div({ key: media, class: 'inner' }, schemaOf(schema, document))),
        ),
      ),
    ),
  );
}

/** @param {{ op: Op, document: any, takes: any }} props */
function Try({ op, document, takes }) {
  const known = parameters(op, document);
  const schema = { type: 'object', properties: Object.fromEntries(known.map((one) => [one.name, { description: one.description, ...one.schema }])), required: known.filter((one) => one.required).map((one) => one.name) };
  const [node, setNode] = useState(/** @type {Node} */ (NOTHING));
  const [body, setBody] = useState(() => write(takes ? (least(takes, document) ?? NOTHING) : NOTHING));
  const [answer, setAnswer] = useState(/** @type {Answer | null} */ (null));
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const [busy, setBusy] = useState(false);

  const request = () => {
    const values = JSON.parse(write(node));
    let path = op.path;
    const search = new URLSearchParams();
    /** @type {Record<string, string>} */ const headers = {};
    for (const one of known) {
      const value = values[one.name];
      if (one.in === 'path') path = path.replace(`{${one.name}}`, encodeURIComponent(value ?? ''));
      else if (value === undefined || value === '') continue;
      else if (one.in === 'query') search.set(one.name, String(value));
      else headers[one.name] = String(value);
    }
    return { path: path + (search.size ? `?${search}` : ''), headers };
  };
  const send = async () => {
    setBusy(true);
    setProblem(null);
    const { path, headers } = request();
    const began = performance.now();
    try {
      const got = await exchange(op.method, path, { base: '', headers, ...(takes ? { text: body } : {}) });
      setAnswer({ status: got.status, text: got.text, ms: performance.now() - began, kind: got.headers.get('content-type') ?? '' });
    } catch (error) {
      setProblem(error);
    }
    setBusy(false);
  };
  const curl = () => {
    const { path, headers } = request();
    const all = { 'X-API-Key': '$KEY', ...headers, ...(takes ? { 'Content-Type': 'application/json' } : {}) };
    const lines = Object.entries(all).map(([name, value]) => `-H ${value === '$KEY' ? `"${name}: ${value}"` : quoted(`${name}: ${value}`)}`);
    return [`curl -s${op.method === 'GET' ? '' : ` -X ${op.method}`} ${quoted(location.origin + path)}`, ...lines, ...(takes ? [`-d ${quoted(body)}`] : [])].join(' ');
  };

  return form(
    { class: 'stack try', 'aria-label': 'Try it', onSubmit: (event) => (event.preventDefault(), send()) },
    known.length ? div({ class: 'stack' }, h3(null, 'Parameters'), group({ form: { root: document, errors: [], resolved: {}, leave: () => {} }, schema, node, set: (next) => setNode(next ?? NOTHING), pointer: '', label: '', needed: true })) : null,
    takes ? div({ class: 'field' }, label({ for: 'try-body' }, 'Body, as JSON'), textarea({ class: 'in mono', id: 'try-body', spellcheck: false, value: body, onInput: (event) => setBody(event.currentTarget.value) })) : null,
    div(
      { class: 'row' },
      endless(op) ? p({ class: 'note' }, 'This answers with a stream; try it with curl.') : button({ class: 'b primary', type: 'submit', disabled: busy }, `Send ${op.method}`),
      button({ class: 'b quiet', type: 'button', onClick: () => copy(curl(), 'Copied as curl') }, 'Copy as curl'),
      op.method === 'GET' || endless(op) ? null : span({ class: 'note' }, 'It is done for real, in your name.'),
    ),
    problem ? shown(problem) : null,
    answer ? use(Shown, { answer, api: op.path.startsWith('/api/v1/') }) : null,
  );
}

/** @param {{ answer: Answer, api: boolean }} props */
function Shown({ answer, api }) {
  const good = answer.status < 400;
  let body = null;
  try {
    body = answer.text ? boxed(tree(read(answer.text)), 'The answer', true) : null;
  } catch {
    body = boxed(pre(null, plain(answer.text)), 'The answer', true);
  }
  return div(
    { class: 'stack tight', role: 'status', 'aria-label': 'The answer' },
    div({ class: 'row' }, chip(good ? 'ok' : 'bad', good ? '●' : '✕', `Status ${answer.status}`), span({ class: 'note' }, ms(answer.ms), ' ', answer.kind)),
    answer.status !== 401 ? null : api ? p({ class: 'note' }, a({ href: '/console/' }, 'Log in to the console'), ', then try again: your session counts here too.') : p({ class: 'note' }, 'A session counts below /api/v1 alone. Copy this as curl, and use a key.'),
    body,
  );
}
