// Keys. Single ones work only outside of fields, and can be switched off.
import { signal } from './vendor/preact.js';
import { kbd, p, tableElement, tbody, td, tr } from './dom.js';
import { dialogBox } from './parts/dialog.js';
import { openPalette } from './palette.js';
import { go, to } from './router.js';
import { singleKeys } from './settings.js';

const help = signal(false);
/** @type {Record<string, string>} */
const GO = { o: '', c: 'chat', a: 'approvals', e: 'executions', t: 'tools', s: 'servers', p: 'profiles', k: 'keys' };

/** What the page on screen does on a key. @type {Map<string, (event: KeyboardEvent) => void>} */
const ofPage = new Map();

/** For the time a page is shown. Returns how to stop. @param {Record<string, (event: KeyboardEvent) => void>} keys */
export function onKeys(keys) {
  for (const [key, act] of Object.entries(keys)) ofPage.set(key, act);
  return () => { for (const [key, act] of Object.entries(keys)) if (ofPage.get(key) === act) ofPage.delete(key); };
}

/** @param {EventTarget | null} target */
const writes = (target) => target instanceof HTMLElement && (target.isContentEditable || !!target.shadowRoot || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

export function install() {
  let leading = 0;
  document.addEventListener('keydown', (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') { event.preventDefault(); openPalette(); return; }
    if ((event.ctrlKey || event.metaKey) && event.key === 'Enter') { ofPage.get(event.shiftKey ? 'ctrl+shift+enter' : 'ctrl+enter')?.(event); return; }
    if (event.key === 'Escape' && !document.querySelector('dialog[open]')) { ofPage.get('escape')?.(event); return; }
    if (event.ctrlKey || event.metaKey || event.altKey || writes(event.target) || document.querySelector('dialog[open]')) return;
    if (event.key === 'Enter' || event.key.startsWith('Arrow')) { ofPage.get(event.key.toLowerCase())?.(event); return; }
    if (singleKeys.value !== 'on') return;
    if (performance.now() - leading < 1500 && event.key in GO) { leading = 0; event.preventDefault(); go(to([GO[event.key]])); return; }
    leading = event.key === 'g' ? performance.now() : 0;
    if (event.key === '?') { event.preventDefault(); help.value = true; return; }
    if (event.key === '/') {
      const field = document.querySelector('main [data-filter]');
      if (field instanceof HTMLElement) { event.preventDefault(); field.focus(); }
      return;
    }
    ofPage.get(event.key)?.(event);
  });
}

const KEYS = [
  [['Ctrl', 'K'], 'Palette: go to a page, tool, server or call; run a command'],
  [['g', 'then', 'o c a e t s p k'], 'Overview, Chat, Approvals, Executions, Tools, Servers, Profiles, Keys'],
  [['/'], 'Into the filter'],
  [['j', 'k', 'Enter', 'Esc'], 'Down, up, open, close'],
  [['f'], 'Follow the log, or stop'],
  [['a', 'd'], 'Go to Approve or Deny; Enter does it'],
  [['Ctrl', 'Enter'], 'Dry run; with Shift: call'],
  [['1', '2', '3', '4'], 'Rate a card, after Space has shown its answer'],
  [['?'], 'This table'],
];

export const Help = () => (help.value ? dialogBox({
  title: 'Keys', close: () => { help.value = false; },
  body: [
    tableElement({ class: 'table keys-table' }, tbody(null, KEYS.map(([keys, does]) => tr(null,
      td({ class: 'tight' }, /** @type {string[]} */ (keys).map((key) => (key === 'then' ? ' then ' : [kbd(null, key), ' ']))), td(null, does))))),
    p({ class: 'note' }, 'Single keys work outside of fields. Settings can switch them off.'),
  ],
}) : null);
