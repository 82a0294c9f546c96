// A conversation: what is said in it, as it comes in, and coming back to a stream that was cut off.
import { signal } from './vendor/preact.js';
import { get, open, Problem, readEvents, send } from './api.js';

/** @typedef {{ kind: 'tool', id: string, name: string, input: any, output?: any, failed?: boolean, receipt?: { text: string }, executionId?: string }} ToolPart */
/** @typedef {{ id: string, action: string, task_id: any, task_title: any, expires_at: string, message: string, undo?: string }} Confirmation */
/** @typedef {ToolPart | { kind: 'text', text: string, source: string } | { kind: 'confirmation', ask: Confirmation, over?: boolean } | { kind: 'question', ask: { id: string, question: string, choices: string[], expires_at: string }, over?: boolean } | { kind: 'problem', problem: any }} Part */
/** @typedef {{ role: 'user' | 'assistant', at: string, parts: Part[] }} Message */
/** @typedef {{ id: string | null, title: string, profile: string, messages: Message[], run: string | null, loading: boolean, error: any }} Talk */

/** @param {string | null} id @returns {Talk} */
const blank = (id) => ({ id, title: '', profile: 'default', messages: [], run: null, loading: id !== null, error: null });

/** The conversation on screen. @type {import('@preact/signals').Signal<Talk>} */
export const talk = signal(blank(null));
/** Goes up when the list of conversations may be different. */
export const talks = signal(0);

/** @param {Partial<Talk>} change */
const set = (change) => {
  talk.value = { ...talk.value, ...change };
};

/** @param {string | null} id */
export async function openTalk(id) {
  if (id === talk.value.id && (id !== null || !talk.value.messages.length)) return;
  talk.value = blank(id);
  if (!id) return;
  try {
    const found = await get(`/conversations/${id}`);
    if (talk.value.id === id) talk.value = { ...blank(id), loading: false, title: found.title, profile: found.profile, messages: found.messages.map(stored) };
  } catch (error) {
    if (talk.value.id === id) set({ loading: false, error });
  }
}

/** @param {any} one @param {number} at @param {any[]} all @returns {Message} */
function stored(one, at, all) {
  const data = one.metadata ?? {};
  const isLast = at === all.length - 1;
  /** @type {Part[]} */
  const parts = (data.tool_calls ?? []).map((/** @type {any} */ call) => ({
    kind: 'tool',
    id: call.tool_call_id,
    name: call.name,
    input: call.input,
    output: call.output,
    failed: !!call.output?.error,
    executionId: call.execution_id,
  }));
  if (one.content) parts.push({ kind: 'text', text: one.content, source: data.receipts?.length ? 'receipt' : 'model' });
  if (data.pending_confirmation) parts.push({ kind: 'confirmation', ask: data.pending_confirmation, over: !isLast });
  if (data.pending_question) parts.push({ kind: 'question', ask: data.pending_question, over: !isLast });
  return { role: one.role, at: one.created_at, parts };
}

/**
 * Says something. The yes to a question carries its id, so that it counts for that one and no other.
 * @param {string} message @param {{ profile?: string, confirmation?: string }} [how]
 */
export async function say(message, { profile, confirmation } = {}) {
  const old = talk.value.messages.map((one) => ({ ...one, parts: one.parts.map((part) => (part.kind === 'confirmation' || part.kind === 'question' ? { ...part, over: true } : part)) }));
  const at = new Date().toISOString();
  set({ messages: [...old, { role: 'user', at, parts: [{ kind: 'text', text: message, source: 'user' }] }, { role: 'assistant', at, parts: [] }], run: '…' });
  const body = {
    message,
    ...(talk.value.id ? { conversation_id: talk.value.id } : profile ? { profile } : {}),
    ...(confirmation ? { confirmation_id: confirmation } : {}),
    context: { timezone: Intl.DateTimeFormat().resolvedOptions().timeZone },
  };
  let last = '';
  let done = false;
  const take = (/** @type {import('./api.js').ServerEvent} */ event) => {
    if (event.id) last = event.id;
    if (event.event === 'done') done = true;
    apply(event);
  };
  try {
    const response = await open('POST', '/chat', { body, query: { stream: true }, headers: { Accept: 'text/event-stream', 'Idempotency-Key': crypto.randomUUID() } });
    if (!response.ok) throw new Problem(response.status, await response.json().catch(() => null));
    await readEvents(response, take).catch(() => {});
    for (let tries = 0; !done && last && tries < 20; tries++) {
      await new Promise((resolve) => setTimeout(resolve, Math.min(5000, 300 * 2 ** tries)));
      const again = await open('GET', `/chat/${last.split(':')[0]}`, { headers: { 'Last-Event-ID': last, Accept: 'text/event-stream' } }).catch(() => null);
      if (again?.status === 204) break;
      if (again?.ok) await readEvents(again, take).catch(() => {});
    }
  } catch (problem) {
    part({ kind: 'problem', problem });
  }
  set({ run: null });
  talks.value += 1;
}

export const cancel = () => {
  const { run } = talk.value;
  if (run && run !== '…') send('POST', `/chat/${run}/cancel`).catch(() => {});
};

/** @param {Part} next */
function part(next) {
  const { messages } = talk.value;
  const last = messages[messages.length - 1];
  const before = last.parts[last.parts.length - 1];
  let parts;
  if (next.kind === 'text' && before?.kind === 'text' && before.source === next.source) parts = [...last.parts.slice(0, -1), { ...before, text: before.text + next.text }];
  else if (next.kind === 'tool' && last.parts.some((one) => one.kind === 'tool' && one.id === next.id))
    parts = last.parts.map((one) => (one.kind === 'tool' && one.id === next.id ? { ...one, ...next, input: next.input ?? one.input } : one));
  else parts = [...last.parts, next];
  set({ messages: [...messages.slice(0, -1), { ...last, parts }] });
}

/** The last words count no more. @param {string} text */
function withdraw(text) {
  const { messages } = talk.value;
  const last = messages[messages.length - 1];
  const before = last.parts[last.parts.length - 1];
  if (before?.kind !== 'text' || !before.text.endsWith(text)) return;
  const left = before.text.slice(0, -text.length);
  const parts = left ? [...last.parts.slice(0, -1), { ...before, text: left }] : last.parts.slice(0, -1);
  set({ messages: [...messages.slice(0, -1), { ...last, parts }] });
}

/** @param {import('./api.js').ServerEvent} event */
function apply({ event, data }) {
  if (event === 'started') set({ id: data.conversation_id, run: data.run_id });
  if (event === 'text') part({ kind: 'text', text: data.text, source: data.source });
  if (event === 'withdrawn') withdraw(data.text);
  if (event === 'tool_started') part({ kind: 'tool', id: data.tool_call_id, name: data.name, input: data.input, executionId: data.execution_id });
  if (event === 'tool_finished')
    part(
      /** @type {ToolPart} */ ({
        kind: 'tool',
        id: data.tool_call_id,
        name: data.name,
        input: undefined,
        output: data.output,
        failed: data.failed,
        receipt: data.receipt,
        ...(data.execution_id ? { executionId: data.execution_id } : {}),
      }),
    );
  if (event === 'confirmation') part({ kind: 'confirmation', ask: data.pending_confirmation });
  if (event === 'question') part({ kind: 'question', ask: data.pending_question });
}
