// Short messages at the edge of the page, with a step where one fits; toasts.js shows them.
import { signal } from '../vendor/preact.js';
import { wanted } from '../later.js';

/** @typedef {{ id: number, text: import('../dom.js').Child, tone?: 'bad', step?: { label: string, act: () => void } }} Toast */
/** @type {import('@preact/signals').Signal<Toast[]>} */
export const toasts = signal(/** @type {Toast[]} */ ([]));
let next = 1;

/** @param {import('../dom.js').Child} text @param {{ tone?: 'bad', step?: Toast['step'], seconds?: number }} [how] */
export function toast(text, { tone, step, seconds = step ? 10 : tone ? 8 : 4 } = {}) {
  const id = next++;
  wanted.toasts.value = true;
  toasts.value = [...toasts.value.slice(-3), { id, text, tone, step }];
  setTimeout(() => close(id), seconds * 1000);
}

/** @param {number} id */
export const close = (id) => {
  toasts.value = toasts.value.filter((one) => one.id !== id);
};
