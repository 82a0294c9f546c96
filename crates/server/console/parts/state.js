// States as a shape, a word and a colour, never colour alone.
import { i, span } from '../dom.js';

/** @typedef {'ok' | 'warn' | 'bad' | 'hold' | 'accent' | ''} Tone */

/** @type {Record<string, [Tone, string, string]>} */
const CALL = {
  ok: ['ok', '●', 'ok'],
  error: ['bad', '✕', 'error'],
  timeout: ['warn', '▲', 'timeout'],
  cancelled: ['warn', '▲', 'cancelled'],
  pending: ['hold', '‖', 'waits for a person'],
  running: ['accent', '◐', 'running'],
  interrupted: ['warn', '◌', 'interrupted'],
};
/** @type {Record<string, [Tone, string]>} */
const SERVER = { ready: ['ok', '●'], connecting: ['accent', '◐'], waiting: ['warn', '▲'], down: ['bad', '✕'], invalid: ['bad', '✕'], disabled: ['', '◌'], idle: ['', '◌'], stopped: ['', '◌'] };

/** @param {Tone} tone @param {string} shape @param {import('../dom.js').Child} word @param {string} [title] */
export const chip = (tone, shape, word, title) => span({ class: `chip ${tone}`, title }, shape ? i({ 'aria-hidden': 'true' }, shape) : null, word);

/** @param {string} status @param {boolean} [brief] */
export function callState(status, brief) {
  const [tone, shape, word] = CALL[status] ?? ['', '◌', status];
  return chip(tone, shape, brief && status === 'pending' ? 'waits' : word, word);
}

/** @param {{ state: string, reason?: string }} server */
export const serverState = ({ state, reason }) => {
  const login = state !== 'ready' && /log ?in|token|401/i.test(reason ?? '');
  const [tone, shape] = SERVER[state] ?? ['', '◌'];
  return chip(tone, shape, login ? `${state}, wants a login` : state);
};

/** @type {Record<string, [Tone, string]>} */
const IMPACT = { breaking: ['bad', '✕'], behaviour: ['warn', '▲'], metadata: ['', '●'] };
/** @param {string} impact */
export const impactState = (impact) => chip(IMPACT[impact]?.[0] ?? '', IMPACT[impact]?.[1] ?? '', impact);
