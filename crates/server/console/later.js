// What is loaded when it is first needed: the palette, the table of keys, messages, the page to log in, styles of pages.
import { signal } from './vendor/preact.js';
import { div, use } from './dom.js';

/** @type {Map<string, Promise<void>>} */
const sheets = new Map();

/** A style sheet of ours, once. @param {string} file */
export function sheet(file) {
  const known = sheets.get(file);
  if (known) return known;
  const made = new Promise((/** @type {(value: void) => void} */ done) => {
    const link = document.createElement('link');
    link.rel = 'stylesheet';
    link.href = new URL(file, import.meta.url).href;
    link.onload = link.onerror = () => done();
    document.head.append(link);
  });
  sheets.set(file, made);
  return made;
}

const SOURCES = {
  palette: () => Promise.all([import('./palette.js'), sheet('style/forms.css'), sheet('style/palette.css')]).then(([found]) => found.Palette),
  help: () => Promise.all([import('./help.js'), sheet('style/forms.css'), sheet('style/palette.css')]).then(([found]) => found.Help),
  toasts: () => import('./parts/toasts.js').then((found) => found.Toasts),
  login: () => Promise.all([import('./pages/login.js'), sheet('style/forms.css'), sheet('style/login.css')]).then(([found]) => found.Login),
};

/** @type {import('@preact/signals').Signal<Record<string, any>>} */
const here = signal({});
export const wanted = { palette: signal(false), help: signal(false), toasts: signal(false) };

/** @param {keyof typeof SOURCES} what */
async function load(what) {
  if (!here.value[what]) {
    const found = await SOURCES[what]();
    here.value = { ...here.value, [what]: found };
  }
}

/** Shown as soon as it is there and wanted. @param {keyof typeof SOURCES} what */
export function later(what) {
  if (what !== 'login' && !wanted[what].value) return null;
  if (!here.value[what]) {
    load(what);
    return null;
  }
  return use(here.value[what], {});
}

/** The place of short messages, there before the first of them so that it is read out. */
export const messages = () => div({ class: 'toasts', role: 'status', 'aria-live': 'polite' }, later('toasts'));

export const openPalette = () => {
  wanted.palette.value = true;
};
export const openHelp = () => {
  wanted.help.value = true;
};
