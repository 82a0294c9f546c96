// What a person chose for this browser: theme, density, single keys.
import { effect, signal } from './vendor/preact.js';

/** @param {string} key @param {string} usual */
function kept(key, usual) {
  const one = signal(localStorage.getItem(key) ?? usual);
  effect(() => {
    if (one.value === usual) localStorage.removeItem(key);
    else localStorage.setItem(key, one.value);
  });
  return one;
}

export const theme = kept('toolroom.theme', 'system');
export const density = kept('toolroom.density', 'dense');
export const singleKeys = kept('toolroom.keys', 'on');
export const notifications = kept('toolroom.notify', 'off');

effect(() => {
  document.documentElement.dataset.theme = theme.value;
});
effect(() => {
  document.documentElement.dataset.density = density.value;
});

/** The height of a row. */
export const rowHeight = () => (density.value === 'roomy' ? 40 : 32);
