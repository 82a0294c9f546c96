// Catalogue: every tool, searched as one types; a tool's own page is in tool.js.
import { useEffect, useMemo, useState } from '../vendor/preact.js';
import { a, button, div, input, option, section, select, span, use } from '../dom.js';
import { get } from '../api.js';
import { icon } from '../icons.js';
import { catalogue } from '../live.js';
import { rowsOf } from '../parts/list.js';
import { sentence } from '../parts/long.js';
import { head } from '../parts/page.js';
import { bars, empty, loaded, useLoaded } from '../parts/problem.js';
import { chip } from '../parts/state.js';
import { go, to } from '../router.js';
import { holds } from '../session.js';
import { name, plain, some } from '../text.js';

/** @typedef {import('../types.js').Brief} Brief */

const ROW = 52;
const ONLY = { destructive: 'Destructive', deprecated: 'Deprecated', unused: 'Never called in 30 days' };

/** @param {import('../main.js').PageProps} props */
export function Catalogue({ path, query }) {
  const [Tool, setTool] = useState(/** @type {any} */ (null));
  const isScript = path[0] === 'new' || path[1] === 'edit';
  useEffect(() => {
    if (isScript) go(to(['scripts', path[0]]), { replace: true });
  }, [isScript]);
  const isTool = !!path[0] && !isScript;
  useEffect(() => {
    if (isTool && !Tool) import('./tool.js').then((found) => setTool(() => found.ToolPage));
  }, [isTool]);
  return isTool ? (Tool ? use(Tool, { key: path[0], tool: path[0], query }) : bars()) : use(List, { query });
}

/** @param {Brief} tool @param {string} words */
function score(tool, words) {
  const at = tool.name.toLowerCase();
  if (!words) return 1;
  if (at.startsWith(words)) return 4;
  if (at.includes(words)) return 3;
  const all = `${at} ${tool.about} ${tool.tags.join(' ')} ${tool.server ?? ''}`.toLowerCase();
  return words.split(/[\s-_]+/).every((word) => all.includes(word)) ? 2 : 0;
}

/** @param {{ query: URLSearchParams }} props */
function List({ query }) {
  const all = useLoaded(
    async (signal) => {
      /** @type {Brief[]} */
      const tools = [];
      let cursor = null;
      do {
        const page = await get('/tools', { view: 'brief', limit: 500, cursor }, signal);
        tools.push(...page.tools);
        cursor = page.nextCursor;
      } while (cursor);
      return tools;
    },
    [],
    [catalogue.value],
  );
  const [words, setWords] = useState(query.get('q') ?? '');
  const filter = Object.fromEntries(['category', 'tag', 'source', 'server', 'only'].map((key) => [key, query.get(key) ?? '']));
  const put = (/** @type {Record<string, string>} */ change) => go(to(['tools'], { q: words, ...filter, ...change }), { replace: true });
  useEffect(() => {
    const later = setTimeout(() => {
      if ((query.get('q') ?? '') !== words) put({});
    }, 250);
    return () => clearTimeout(later);
  }, [words]);
  const tools = all.value ?? [];
  const found = useMemo(() => {
    const typed = words.trim().toLowerCase();
    return tools
      .map((tool) => ({ tool, at: score(tool, typed) }))
      .filter(
        ({ tool, at }) =>
          at &&
          (!filter.category || tool.category === filter.category) &&
          (!filter.tag || tool.tags.includes(filter.tag)) &&
          (!filter.source || tool.source === filter.source) &&
          (!filter.server || tool.server === filter.server) &&
          (!filter.only || (filter.only === 'destructive' ? tool.destructive : filter.only === 'deprecated' ? tool.deprecated : tool.calls30d === 0)),
      )
      .sort((x, y) => y.at - x.at || x.tool.name.localeCompare(y.tool.name))
      .map(({ tool }) => tool);
  }, [all.value, words, ...Object.values(filter)]);
  const options = (/** @type {(tool: Brief) => (string | undefined)[]} */ of) => [...new Set(tools.flatMap(of).filter((one) => one !== undefined))].sort();
  const pick = (/** @type {string} */ key, /** @type {string} */ text, /** @type {(string | undefined)[]} */ values, /** @type {Record<string, string>} */ words_ = {}) =>
    values.length > 1 || filter[key]
      ? select(
          { class: 'in', 'aria-label': text, value: filter[key], onChange: (event) => put({ [key]: event.currentTarget.value }) },
          option({ value: '' }, text),
          values.map((value) => option({ key: value, value }, words_[value ?? ''] ?? value)),
        )
      : null;
  const narrowed = words || Object.values(filter).some(Boolean);
  return div(
    { class: 'page fill' },
    head({
      title: 'Catalogue',
      beside: all.value ? span({ class: 'note' }, narrowed ? `${some(found.length, 'tool')} of ${tools.length}` : some(tools.length, 'tool')) : null,
      right: holds('registry:write') ? a({ class: 'b', href: to(['scripts', 'new']) }, icon('plus'), 'New tool') : null,
    }),
    div(
      { class: 'filters' },
      div(
        { class: 'search' },
        icon('search'),
        input({
          class: 'in',
          type: 'search',
          'data-filter': true,
          'aria-label': 'Search tools',
          placeholder: 'Search by name, words or tag',
          value: words,
          onInput: (event) => setWords(event.currentTarget.value),
          onKeyDown: (event) => {
            if (event.key === 'Enter' && found[0]) go(to(['tools', found[0].name]));
            if (event.key === 'Escape') {
              setWords('');
              event.currentTarget.blur();
            }
          },
        }),
      ),
      pick(
        'category',
        'Any category',
        options((tool) => [tool.category]),
      ),
      pick(
        'source',
        'Any source',
        options((tool) => [tool.source]),
        { native: 'built in', script: 'scripts', server: 'other servers' },
      ),
      pick(
        'server',
        'Any server',
        options((tool) => [tool.server]),
      ),
      pick(
        'tag',
        'Any tag',
        options((tool) => tool.tags),
      ),
      pick('only', 'All', Object.keys(ONLY), ONLY),
      narrowed
        ? button(
            {
              class: 'b quiet',
              type: 'button',
              onClick: () => {
                setWords('');
                go(to(['tools']));
              },
            },
            'Clear',
          )
        : null,
    ),
    section(
      { class: 'card list-card', 'aria-label': 'Tools' },
      loaded(all, () =>
        found.length
          ? rowsOf({ rows: found, height: ROW, label: 'All tools', role: 'group', draw: toolRow })
          : narrowed
            ? empty(
                'No tool fits.',
                button(
                  {
                    class: 'b',
                    type: 'button',
                    onClick: () => {
                      setWords('');
                      go(to(['tools']));
                    },
                  },
                  'Show all',
                ),
              )
            : empty('There are no tools that you may call.', a({ class: 'b', href: to(['scripts', 'new']) }, 'Make one from a script')),
      ),
    ),
  );
}

/** @param {Brief} tool */
const toolRow = (tool) =>
  a(
    { key: tool.name, class: 'item tool-row', href: to(['tools', tool.name]) },
    span({ class: 'names' }, span({ class: 'mono name' }, name(tool.name)), span({ class: 'about' }, plain(sentence(tool.about)))),
    span(
      { class: 'chips' },
      tool.destructive ? chip('warn', '▲', 'destructive') : null,
      tool.deprecated ? chip('warn', '◌', 'deprecated') : null,
      chip('', '', tool.category),
      tool.source === 'native' ? null : chip('', '', tool.server ? name(tool.server) : 'script'),
    ),
  );
