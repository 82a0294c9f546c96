// The console: session, frame and the page of the address.
import { effect, render, signal, useEffect, useErrorBoundary, useRef } from './vendor/preact.js';
import { a, button, div, h1, header, kbd, li, main, nav, p, span, ul, use, visible } from './dom.js';
import { icon } from './icons.js';
import * as live from './live.js';
import { focusNext, tabTitle } from './parts/page.js';
import { bars, shown } from './parts/problem.js';
import { go, place, to } from './router.js';
import { session, start } from './session.js';
import { notifications } from './settings.js';
import { install } from './shortcuts.js';
import { later, messages, openPalette, sheet } from './later.js';

/** @typedef {{ path: string[], query: URLSearchParams }} PageProps */

/** A page by its file, its export and its styles. @param {string} file @param {string} name @param {string[]} styles @returns {() => Promise<(props: PageProps) => any>} */
const loads = (file, name, ...styles) => async () => (await Promise.all([import(`./pages/${file}.js`), ...styles.map(sheet)]))[0][name];

/** By the first part of the address. */
const PAGES = /** @type {Record<string, () => Promise<(props: PageProps) => any>>} */ ({
  '': loads('overview', 'Overview', 'style/overview.css'),
  chat: loads('chat', 'ChatPage', 'style/forms.css', 'style/chat.css', 'style/code.css'),
  approvals: loads('approvals', 'Approvals', 'style/forms.css', 'style/approvals.css', 'style/code.css'),
  executions: loads('executions', 'Executions', 'style/forms.css', 'style/executions.css', 'style/code.css'),
  tools: loads('catalogue', 'Catalogue', 'style/forms.css', 'style/tools.css', 'style/code.css'),
  servers: loads('servers', 'Servers', 'style/forms.css', 'style/code.css', 'style/tools.css'),
  profiles: loads('profiles', 'Profiles', 'style/forms.css', 'style/lists.css'),
  scripts: loads('scripts', 'Scripts', 'style/forms.css', 'style/tools.css', 'style/code.css'),
  tasks: loads('tasks', 'Tasks', 'style/forms.css', 'style/lists.css'),
  cards: loads('cards', 'Cards', 'style/forms.css', 'style/lists.css'),
  keys: loads('keys', 'Keys', 'style/forms.css', 'style/lists.css'),
  settings: loads('settings', 'Settings', 'style/forms.css', 'style/lists.css'),
});

/** @typedef {{ path: string, label: string, icon: import('./icons.js').IconName, count?: () => number, says?: string, needs?: string }} Entry */
/** @type {Entry[][]} */
const ENTRIES = [
  [
    { path: '', label: 'Overview', icon: 'overview' },
    { path: 'chat', label: 'Chat', icon: 'chat' },
    { path: 'approvals', label: 'Approvals', icon: 'approvals', count: () => live.waiting.value, says: 'wait' },
    { path: 'executions', label: 'Executions', icon: 'executions' },
  ],
  [
    { path: 'tools', label: 'Catalogue', icon: 'tools' },
    { path: 'servers', label: 'Servers', icon: 'servers', count: () => live.inReview.value, says: 'wait for review' },
    { path: 'profiles', label: 'Profiles', icon: 'profiles' },
    { path: 'scripts', label: 'Scripts', icon: 'scripts' },
  ],
  [
    { path: 'tasks', label: 'Tasks', icon: 'tasks', needs: 'tasks' },
    { path: 'cards', label: 'Cards', icon: 'cards', needs: 'cards' },
    { path: 'keys', label: 'Keys', icon: 'keys' },
    { path: 'settings', label: 'Settings', icon: 'settings' },
  ],
];
const TABS = ['', 'approvals', 'executions', 'tools'];

/** Those whose tools are there. */
export const entries = () => ENTRIES.map((group) => group.filter(({ needs }) => !needs || session.value?.resources.includes(needs)));

/** @param {Entry} entry */
function entryLink({ path, label, icon: shape, count, says }) {
  const many = count?.() ?? 0;
  const isHere = (place.value.path[0] ?? '') === path;
  return a({ class: 'to', href: to([path]), title: label, 'aria-current': isHere ? 'page' : undefined },
    icon(shape), span({ class: 'label' }, label), many ? span({ class: 'count' }, many, span({ class: 'sr' }, ` ${says}`)) : null);
}

const Rail = () => nav({ class: 'rail', 'aria-label': 'Pages' },
  a({ class: 'brand', href: to([]) }, span({ class: 'mark', 'aria-hidden': 'true' }), span({ class: 'label' }, 'Toolroom')),
  entries().map((group) => ul(null, group.map((entry) => li({ key: entry.path }, entryLink(entry))))));

function TabBar() {
  const all = entries().flat();
  const rest = all.filter((entry) => !TABS.includes(entry.path));
  const list = useRef(/** @type {HTMLUListElement | null} */ (null));
  useEffect(() => { if (list.current?.matches(':popover-open')) list.current.hidePopover(); }, [place.value]);
  const isRest = rest.some((entry) => entry.path === place.value.path[0]);
  return nav({ class: 'tabbar', 'aria-label': 'Pages' },
    all.filter((entry) => TABS.includes(entry.path)).map(entryLink),
    button({ type: 'button', 'aria-current': isRest ? 'page' : undefined, popovertarget: 'more-pages' }, icon('more'), 'More'),
    ul({ class: 'more-list', id: 'more-pages', popover: 'auto', ref: list }, rest.map((entry) => li({ key: entry.path }, entryLink(entry)))));
}

const STATES = { live: 'Live', connecting: 'Connecting', offline: 'Offline' };

function Bar() {
  const { state } = live.connection.value;
  const who = session.value;
  return header({ class: 'bar' },
    button({ class: 'find', type: 'button', onClick: () => openPalette() }, icon('search'), span(null, 'Search, or run a command'), kbd(null, 'Ctrl K')),
    div({ class: 'who' },
      span({ class: 'link-state', 'data-state': state, role: 'status' }, STATES[state]),
      span({ class: 'user' }, `${who?.user}${who?.owner ? ' · owner' : ''}`)));
}

function Offline() {
  const { state, since } = live.connection.value;
  if (state !== 'offline') return null;
  return p({ class: 'offline', role: 'alert' }, `No connection since ${new Date(since).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })}; trying again. What you see may be old.`);
}

/** @type {import('@preact/signals').Signal<{ of: string, Page: any, error?: unknown }>} */
const page = signal({ of: '?', Page: null });

effect(() => {
  const of = place.value.path[0] ?? '';
  if (of === page.peek().of) return;
  const from = PAGES[of];
  const show = (/** @type {any} */ Page, /** @type {unknown} */ error) => { if ((place.peek().path[0] ?? '') === of) page.value = { of, Page, error }; };
  if (of === 'login') { if (session.value) go(to([]), { replace: true }); return; }
  if (!from) show(null, null);
  else from().then((Page) => show(Page, undefined), (error) => show(null, error));
});

/** @param {{ of: string }} props */
function Content({ of }) {
  const [error, reset] = useErrorBoundary();
  const own = useRef(place.value);
  const { Page, error: broken } = page.value;
  useEffect(() => reset(), [of]);
  if (error || broken) return div({ class: 'page' }, shown(error ?? broken, [{ label: 'Load the page again', act: () => location.reload() }]));
  if (page.value.of === '?') return bars();
  if (!Page) return div({ class: 'page' }, h1(null, 'There is no such page'), p(null, a({ class: 'b', href: to([]) }, 'Open the overview')));
  // While the next page is loaded, this one keeps its own address.
  if ((place.value.path[0] ?? '') === of) own.current = place.value;
  return use(Page, { path: own.current.path.slice(1), query: own.current.query });
}

function App() {
  if (session.value === undefined) return bars();
  if (session.value === null) return later('login');
  return [
    a({ class: 'skip', href: '#main' }, 'Skip to the content'),
    use(Rail, {}), use(Bar, {}), use(Offline, {}),
    main({ id: 'main', tabIndex: -1 }, use(Content, { of: page.value.of, key: page.value.of })),
    use(TabBar, {}), later('palette'), later('help'), messages(),
  ];
}

let shownPath = location.pathname;
effect(() => {
  const { path } = place.value;
  if (location.pathname !== shownPath) { shownPath = location.pathname; focusNext.wanted = path.length < 2 || !['executions', 'approvals', 'chat'].includes(path[0]); }
});
effect(() => {
  const many = session.value ? live.waiting.value : 0;
  document.title = `${many ? `(${many}) ` : ''}${tabTitle.value === 'Toolroom' ? '' : `${visible(tabTitle.value)} · `}Toolroom`;
});

let known = -1;
effect(() => {
  const many = live.waiting.value;
  if (many > known && known >= 0 && notifications.value === 'on' && document.hidden && globalThis.Notification?.permission === 'granted') {
    new Notification('Toolroom', { body: many === 1 ? 'A call waits for you.' : `${many} calls wait for you.`, tag: 'toolroom-approvals' });
  }
  if (live.approvals.value) known = many;
});

effect(() => { if (session.value) live.start(); else live.pause(); });
install();
render(use(App, {}), /** @type {HTMLElement} */ (document.getElementById('app')));
start();
