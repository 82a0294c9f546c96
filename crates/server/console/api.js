// Requests to the REST API with the session's proof; problems as errors; reading of event streams.

const BASE = '/api/v1';
const PROOF = 'toolroom.proof';

/** What the server, or the connection to it, refused. */
export class Problem extends Error {
  /** @param {number} status @param {any} body */
  constructor(status, body) {
    super(body?.detail ?? body?.error?.message ?? (status ? `The server answered with status ${status}.` : 'There is no connection to the server.'));
    this.status = status;
    /** @type {string} */
    this.code = body?.code ?? body?.error?.code ?? (status ? 'internal_error' : 'offline');
    /** @type {{ pointer: string, message: string, expected?: string, example?: unknown }[]} */
    this.errors = body?.errors?.map(/** @param {any} one */ (one) => ({ pointer: one.pointer, message: one.message ?? one.detail, expected: one.expected, example: one.example })) ?? [];
    /** @type {string | undefined} */
    this.traceId = body?.traceId ?? body?.metadata?.traceId;
    this.body = body;
  }
}

/** @param {string | null} value */
export function keepProof(value) {
  if (value) localStorage.setItem(PROOF, value);
  else localStorage.removeItem(PROOF);
}

/** Whether there may be a session: without this half there is none. */
export const hasProof = () => !!localStorage.getItem(PROOF);

/** Called when the server no longer knows the session. @type {{ ended: () => void }} */
export const hooks = { ended: () => {} };

/**
 * @typedef {object} Options
 * @property {unknown} [body]
 * @property {string} [text] A body that is JSON already, so that its numbers stay as they were written.
 * @property {Record<string, string | number | boolean | null | undefined>} [query]
 * @property {Record<string, string>} [headers]
 * @property {AbortSignal} [signal]
 * @property {string} [base] What stands before the path; the API if not given.
 */

/** @param {string} method @param {string} path @param {Options} [options] */
export async function open(method, path, { body, text, query, headers, signal, base = BASE } = {}) {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query ?? {})) if (value != null && value !== '') search.append(key, String(value));
  const address = base + path + (search.size ? `?${search}` : '');
  const proof = localStorage.getItem(PROOF);
  const sent = text ?? (body === undefined ? undefined : JSON.stringify(body));
  try {
    return await fetch(address, {
      method,
      body: sent,
      signal,
      credentials: 'same-origin',
      cache: 'no-store',
      redirect: 'error',
      headers: { ...(proof ? { 'X-Toolroom-Proof': proof } : {}), ...(sent === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem(0, null);
  }
}

/**
 * The answer with its text, whatever its status.
 * @param {string} method @param {string} path @param {Options} [options]
 */
export async function exchange(method, path, options) {
  const response = await open(method, path, options);
  const text = await response.text().catch(() => '');
  let value = null;
  try {
    value = text ? JSON.parse(text) : null;
  } catch {
    /* A page of a proxy, say: the status speaks for it. */
  }
  if (response.status === 401) hooks.ended();
  return { status: response.status, ok: response.ok, value, text, headers: response.headers };
}

/** @param {string} method @param {string} path @param {unknown} [body] @param {Options} [options] @returns {Promise<any>} */
export async function send(method, path, body, options) {
  const answer = await exchange(method, path, { body, ...options });
  if (!answer.ok) throw new Problem(answer.status, answer.value);
  return answer.value;
}

/** @param {string} path @param {Options['query']} [query] @param {AbortSignal} [signal] @returns {Promise<any>} */
export const get = (path, query, signal) => send('GET', path, undefined, { query, signal });

/** @typedef {{ id: string, event: string, data: any }} ServerEvent */

/**
 * Reads server-sent events until the stream ends.
 * @param {Response} response @param {(event: ServerEvent) => void} each
 */
export async function readEvents(response, each) {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return;
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += value.replaceAll('\r\n', '\n');
    for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
      const event = { id: '', event: 'message', data: '' };
      for (const line of rest.slice(0, end).split('\n')) {
        const [, field, text] = /^(\w+): ?(.*)$/.exec(line) ?? [];
        if (field === 'data') event.data += event.data ? `\n${text}` : text;
        else if (field === 'id' || field === 'event') event[field] = text;
      }
      rest = rest.slice(end + 2);
      if (event.data) each({ ...event, data: JSON.parse(event.data) });
    }
  }
}
