// Keys, and the focus. Single keys work only outside of fields, and can be switched off.
import { openHelp, openPalette } from './later.js';
import { go, to } from './router.js';
import { singleKeys } from './settings.js';

/** @type {Record<string, string>} */
const GO = { o: '', c: 'chat', a: 'approvals', e: 'executions', t: 'tools', s: 'servers', p: 'profiles', k: 'keys' };

/** What the page on screen does on a key. @type {Map<string, (event: KeyboardEvent) => void>} */
const ofPage = new Map();

/** For the time a page is shown. Returns how to stop. @param {Record<string, (event: KeyboardEvent) => void>} keys */
export function onKeys(keys) {
  for (const [key, act] of Object.entries(keys)) ofPage.set(key, act);
  return () => {
    for (const [key, act] of Object.entries(keys)) if (ofPage.get(key) === act) ofPage.delete(key);
  };
}

/** @param {EventTarget | null} target */
const writes = (target) => target instanceof HTMLElement && (target.isContentEditable || !!target.shadowRoot || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

export function install() {
  // What has the focus may go away with what was done: the title of the page takes it over.
  /** @type {EventTarget | null} */
  let last = null;
  document.addEventListener('focusin', ({ target }) => {
    last = target;
  });
  new MutationObserver(() => {
    if (!(last instanceof Element) || last.isConnected || document.activeElement !== document.body) return;
    last = null;
    document.querySelector('h1')?.focus({ preventScroll: true });
  }).observe(document.body, { childList: true, subtree: true });
  // When `g` was pressed last. Zero would be the moment at which the page was opened.
  let leading = -Infinity;
  document.addEventListener('keydown', (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      openPalette();
      return;
    }
    if ((event.ctrlKey || event.metaKey) && event.key === 'Enter') {
      ofPage.get(event.shiftKey ? 'ctrl+shift+enter' : 'ctrl+enter')?.(event);
      return;
    }
    if (event.key === 'Escape' && !document.querySelector('dialog[open]')) {
      ofPage.get('escape')?.(event);
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || writes(event.target) || document.querySelector('dialog[open]')) return;
    if (event.key === 'Enter' || event.key.startsWith('Arrow')) {
      ofPage.get(event.key.toLowerCase())?.(event);
      return;
    }
    if (singleKeys.value !== 'on') return;
    if (performance.now() - leading < 1500 && event.key in GO) {
      leading = -Infinity;
      event.preventDefault();
      go(to([GO[event.key]]));
      return;
    }
    leading = event.key === 'g' ? performance.now() : -Infinity;
    if (event.key === '?') {
      event.preventDefault();
      openHelp();
      return;
    }
    if (event.key === '/') {
      const field = document.querySelector('main [data-filter]');
      if (field instanceof HTMLElement) {
        event.preventDefault();
        field.focus();
      }
      return;
    }
    ofPage.get(event.key)?.(event);
  });
}
