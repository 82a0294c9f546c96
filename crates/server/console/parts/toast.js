// Short messages at the edge of the page, with a step where one fits.
import { signal } from '../vendor/preact.js';
import { button, div, span } from '../dom.js';
import { icon } from '../icons.js';

/** @typedef {{ id: number, text: import('../dom.js').Child, tone?: 'bad', step?: { label: string, act: () => void } }} Toast */
/** @type {import('@preact/signals').Signal<Toast[]>} */
const toasts = signal(/** @type {Toast[]} */ ([]));
let next = 1;

/** @param {import('../dom.js').Child} text @param {{ tone?: 'bad', step?: Toast['step'], seconds?: number }} [how] */
export function toast(text, { tone, step, seconds = step ? 10 : tone ? 8 : 4 } = {}) {
  const id = next++;
  toasts.value = [...toasts.value.slice(-3), { id, text, tone, step }];
  setTimeout(() => close(id), seconds * 1000);
}

/** @param {number} id */
const close = (id) => {
  toasts.value = toasts.value.filter((one) => one.id !== id);
};

export const Toasts = () =>
  div(
    { class: 'toasts', role: 'status', 'aria-live': 'polite' },
    toasts.value.map((one) =>
      div(
        { key: one.id, class: `toast ${one.tone ?? ''}` },
        span(null, one.text),
        one.step
          ? button(
              {
                class: 'b small',
                type: 'button',
                onClick: () => {
                  close(one.id);
                  one.step?.act();
                },
              },
              one.step.label,
            )
          : null,
        button({ class: 'b small quiet icon-only', type: 'button', 'aria-label': 'Close', onClick: () => close(one.id) }, icon('close')),
      ),
    ),
  );
