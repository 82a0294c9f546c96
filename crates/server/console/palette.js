// The palette: go to a page, tool, server or call, or run a command, by typing a few letters.
import { useEffect, useLayoutEffect, useRef, useState } from './vendor/preact.js';
import { dialog, input, li, span, ul } from './dom.js';
import { sentence } from './parts/long.js';
import { get } from './api.js';
import { icon } from './icons.js';
import * as live from './live.js';
import { wanted } from './later.js';
import { entries } from './main.js';
import { go, to } from './router.js';
import { theme } from './settings.js';
import { plain } from './text.js';

/** @typedef {{ label: string, note: string, icon: import('./icons.js').IconName, act: () => void }} Item */

const open = wanted.palette;

/** @type {Promise<import('./types.js').Brief[]> | null} */
let tools = null;

/** @param {string} text @param {string} words */
const fits = (text, words) =>
  words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.toLowerCase().includes(word));

/** @param {string} words @param {import('./types.js').Brief[]} known @returns {Item[]} */
function found(words, known) {
  const visit = (/** @type {string} */ address) => () => go(address);
  /** @type {Item[]} */
  const all = [
    ...entries().flat().map(({ path, label, icon }) => ({ label, note: 'page', icon, act: visit(to([path])) })),
    ...known.map((tool) => ({ label: tool.name, note: sentence(tool.about), icon: /** @type {const} */ ('tools'), act: visit(to(['tools', tool.name])) })),
    ...(live.servers.value ?? []).map((server) => ({ label: server.name, note: `server, ${server.state}`, icon: /** @type {const} */ ('servers'), act: visit(to(['servers', server.name])) })),
    { label: 'New key', note: 'command', icon: 'keys', act: visit(to(['keys'], { new: '1' })) },
    { label: 'New tool from a script', note: 'command', icon: 'scripts', act: visit(to(['scripts', 'new'])) },
    { label: 'Add a server', note: 'command', icon: 'servers', act: visit(to(['servers'], { new: '1' })) },
    {
      label: 'Approve the next',
      note: live.waiting.value ? `command, ${live.waiting.value} wait` : 'command, nothing waits',
      icon: 'approvals',
      act: visit(to(['approvals', live.approvals.value?.[0]?.id])),
    },
    { label: 'Errors of the last hour', note: 'command', icon: 'executions', act: visit(to(['executions'], { q: 'failed:yes since:1h' })) },
    {
      label: 'Dark theme',
      note: 'command',
      icon: 'settings',
      act: () => {
        theme.value = 'dark';
      },
    },
    {
      label: 'Light theme',
      note: 'command',
      icon: 'settings',
      act: () => {
        theme.value = 'light';
      },
    },
  ];
  if (/^[0-9a-f]{8}-[0-9a-f-]{20,}$/i.test(words)) all.unshift({ label: words, note: 'execution', icon: 'executions', act: visit(to(['executions', words])) });
  const hits = words ? all.filter((item) => fits(`${item.label} ${item.note}`, words)) : all.filter((item) => item.note === 'page' || item.note.startsWith('command'));
  return hits.sort((x, y) => Number(fits(y.label, words)) - Number(fits(x.label, words))).slice(0, 50);
}

export function Palette() {
  const [words, setWords] = useState('');
  const [at, setAt] = useState(0);
  const [known, setKnown] = useState(/** @type {import('./types.js').Brief[]} */ ([]));
  const box = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const isOpen = open.value;
  const version = live.catalogue.value;
  useEffect(() => {
    tools = null;
  }, [version]);
  useLayoutEffect(() => {
    if (!isOpen) return;
    const from = document.activeElement;
    setWords('');
    setAt(0);
    box.current?.showModal();
    field.current?.focus();
    tools ??= get('/tools', { view: 'brief' }).then((answer) => answer.tools);
    tools.then(setKnown, () => {
      tools = null;
    });
    return () => {
      if (from instanceof HTMLElement && from.isConnected && document.activeElement === document.body) from.focus();
    };
  }, [isOpen]);
  useLayoutEffect(() => {
    box.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [at]);
  if (!isOpen) return null;
  const items = found(words.trim(), known);
  const close = () => {
    open.value = false;
  };
  const pick = (/** @type {Item | undefined} */ item) => {
    if (!item) return;
    box.current?.close();
    close();
    item.act();
  };
  const keys = (/** @type {KeyboardEvent} */ event) => {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (move) {
      event.preventDefault();
      setAt((at + move + items.length) % Math.max(1, items.length));
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      pick(items[at]);
    }
  };
  return dialog(
    {
      ref: box,
      class: 'palette',
      'aria-label': 'Search and commands',
      onClose: close,
      onClick: (event) => {
        if (event.target === box.current) box.current?.close();
      },
    },
    input({
      ref: field,
      type: 'text',
      role: 'combobox',
      'aria-expanded': true,
      'aria-controls': 'palette-items',
      'aria-autocomplete': 'list',
      'aria-activedescendant': items.length ? `palette-${at}` : undefined,
      'aria-label': 'Search tools, calls, servers, or run a command',
      placeholder: 'Go to a page, tool, server, call; or a command',
      autocomplete: 'off',
      value: words,
      onInput: (event) => {
        setWords(event.currentTarget.value);
        setAt(0);
      },
      onKeyDown: keys,
    }),
    ul(
      { id: 'palette-items', role: 'listbox', 'aria-label': 'Results' },
      items.map((item, index) =>
        li(
          { key: `${item.note}${item.label}`, id: `palette-${index}`, role: 'option', 'aria-selected': index === at, onClick: () => pick(item), onMouseMove: () => setAt(index) },
          icon(item.icon),
          span({ class: 'name' }, plain(item.label)),
          span({ class: 'note' }, plain(item.note)),
        ),
      ),
      items.length ? null : li({ role: 'option', 'aria-disabled': true, 'aria-selected': false }, 'Nothing fits.'),
    ),
  );
}
