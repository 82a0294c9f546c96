// The one stream of events, into signals. It is closed while the tab is hidden and goes on where it was.
import { computed, signal } from './vendor/preact.js';
import { get, hooks, open, Problem, readEvents } from './api.js';

/** @typedef {import('./types.js').Approval} Approval */
/** @typedef {import('./types.js').Server} Server */
/** @typedef {import('./types.js').Execution} Execution */

/** @type {import('@preact/signals').Signal<{ state: 'connecting' | 'live' | 'offline', since: number }>} */
export const connection = signal({ state: 'connecting', since: Date.now() });
/** What waits for a person; `null` until it is known. @type {import('@preact/signals').Signal<Approval[] | null>} */
export const approvals = signal(/** @type {any} */ (null));
/** @type {import('@preact/signals').Signal<Server[] | null>} */
export const servers = signal(/** @type {any} */ (null));
/** Goes up when the catalogue has changed. */
export const catalogue = signal(0);
/** Goes up when events were lost, and lists must be read again. */
export const lost = signal(0);

export const waiting = computed(() => approvals.value?.length ?? 0);
export const inReview = computed(() => servers.value?.reduce((sum, server) => sum + (server.pendingReview ?? 0), 0) ?? 0);

/** @type {Set<(rows: Execution[], skipped: number) => void>} */
const followers = new Set();
/** Calls back with new rows of the log. Returns how to stop. @param {(rows: Execution[], skipped: number) => void} each */
export function follow(each) {
  followers.add(each);
  return () => { followers.delete(each); };
}

// Browsers open six connections to a host, for all tabs together: one tab reads the stream and tells the others.
const channel = globalThis.BroadcastChannel ? new BroadcastChannel('toolroom.events') : null;
/** @type {AbortController | null} */
let turn = null;
let leads = false;
let started = false;
let last = '';
let wake = () => {};

/** @param {'connecting' | 'live' | 'offline'} state */
function set(state) {
  if (connection.value.state !== state) connection.value = { state, since: Date.now() };
  if (leads) channel?.postMessage({ state });
}

channel?.addEventListener('message', ({ data }) => {
  if (data.hello && leads) channel.postMessage({ state: connection.value.state });
  if (leads || !started) return;
  if (data.event) take(data.event);
  if (data.state) {
    // Events may have passed between the last words of one tab and the first of the next.
    if (data.state === 'live' && connection.value.state !== 'live') readLists().catch(() => {});
    set(data.state);
  }
});

export function start() {
  if (!started) {
    started = true;
    document.addEventListener('visibilitychange', () => (document.hidden ? pause() : connect()));
    addEventListener('online', () => wake());
  }
  connect();
}

export function pause() {
  turn?.abort();
  turn = null;
}

/** Asks what the others know, and waits for its turn to read the stream. */
function connect() {
  if (turn || document.hidden) return;
  const mine = turn = new AbortController();
  channel?.postMessage({ hello: true });
  const read = async () => { leads = true; await readStream(mine.signal); leads = false; };
  if (!navigator.locks || !channel) { read(); return; }
  navigator.locks.request('toolroom.events', { signal: mine.signal }, read).catch(() => {});
}

/** @param {AbortSignal} signal */
async function readStream(signal) {
  for (let failures = 0; !signal.aborted;) {
    try {
      const response = await open('GET', '/events', { query: { topics: 'executions,approvals,servers,catalogue' }, signal, headers: last ? { 'Last-Event-ID': last } : {} });
      if (response.status === 401) { hooks.ended(); return; }
      if (!response.ok) throw new Problem(response.status, null);
      // The lists come after the stream has begun, so that nothing falls between them.
      if (!last || failures) await readLists();
      failures = 0;
      set('live');
      await readEvents(response, (event) => { take(event); channel?.postMessage({ event }); });
      throw new Problem(0, null);
    } catch {
      if (signal.aborted) return;
      failures += 1;
      set(failures > 1 ? 'offline' : 'connecting');
      const wait = Math.min(8000, 250 * 2 ** failures) * (0.8 + Math.random() * 0.4);
      await new Promise((/** @type {(value: void) => void} */ done) => { wake = done; setTimeout(done, wait); signal.addEventListener('abort', () => done(), { once: true }); });
    }
  }
}

/** What came while lists were read, and may be newer than they are. @type {import('./api.js').ServerEvent[] | null} */
let meanwhile = null;

async function readLists() {
  const come = meanwhile = /** @type {import('./api.js').ServerEvent[]} */ ([]);
  const [waits, known] = await Promise.all([readApprovals(), get('/servers')]);
  approvals.value = waits;
  servers.value = known.servers;
  if (meanwhile === come) meanwhile = null;
  for (const event of come) take(event);
}

/** Oldest deadline first. @returns {Promise<Approval[]>} */
async function readApprovals() {
  const found = (await get('/approvals')).approvals;
  return found.sort(/** @param {Approval} x @param {Approval} y */ (x, y) => x.expires_at.localeCompare(y.expires_at));
}

/** @param {import('./api.js').ServerEvent} event */
function take({ id, event, data }) {
  if (id) last = id;
  if (meanwhile && (event === 'approval' || event === 'server')) meanwhile.push({ id, event, data });
  if (event === 'execution') for (const each of followers) each(data.rows, data.skipped ?? 0);
  if (event === 'approval') upsertApproval(data);
  if (event === 'server') {
    const others = servers.value?.filter((one) => one.name !== data.name) ?? [];
    servers.value = data.removed ? others : [...others, data].sort((x, y) => x.name.localeCompare(y.name));
  }
  if (event === 'catalogue') catalogue.value += 1;
  if (event === 'lost') { lost.value += 1; readLists().catch(() => {}); }
}

/** New ones are added at the end, so that nothing moves under the pointer. @param {Approval} one */
export function upsertApproval(one) {
  const known = approvals.value ?? [];
  if (one.state !== 'open') approvals.value = known.filter((other) => other.id !== one.id);
  else if (known.some((other) => other.id === one.id)) approvals.value = known.map((other) => (other.id === one.id ? one : other));
  else approvals.value = [...known, one];
}
