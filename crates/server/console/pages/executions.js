// Executions: the log, followed as it is written, with the detail of one call beside it.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from '../vendor/preact.js';
import { a, button, code, div, kbd, p, section, span, use } from '../dom.js';
import { get } from '../api.js';
import { FIELDS, fits, readFilter, toQuery } from '../filter.js';
import { follow, lost } from '../live.js';
import { copyable } from '../parts/copy.js';
import { filterBox } from '../parts/filterbox.js';
import { rowsOf } from '../parts/list.js';
import { head } from '../parts/page.js';
import { empty, loaded, shown, useLoaded } from '../parts/problem.js';
import { callState } from '../parts/state.js';
import { go, to } from '../router.js';
import { rowHeight } from '../settings.js';
import { onKeys } from '../shortcuts.js';
import { ms, name, some } from '../text.js';
import { fullTime, stamp } from '../time.js';
import { Detail } from './execution.js';

/** @typedef {import('../types.js').Execution} Execution */

const PAGE = 200;

/** A page of rows. One request searches a part of the log: what is rare may take several. @param {Record<string, any>} query @param {AbortSignal} [signal] */
async function search(query, signal) {
  let page = await get('/executions', query, signal);
  while (page.searchedTo && !page.executions.length) page = await get('/executions', { ...query, cursor: page.nextCursor }, signal);
  return page;
}

/** @param {import('../main.js').PageProps} props */
export function Executions({ path, query }) {
  const line = query.get('q') ?? '';
  const filter = useMemo(() => readFilter(line), [line]);
  const [rows, setRows] = useState(/** @type {Execution[]} */ ([]));
  const [fresh, setFresh] = useState(/** @type {Execution[]} */ ([]));
  const [following, setFollowing] = useState(true);
  const [at, setAt] = useState(path[0] ?? '');
  const more = useRef(/** @type {{ cursor: string | null, busy: boolean }} */ ({ cursor: null, busy: false }));
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const hand = useRef(false);
  const early = useRef(/** @type {Execution[]} */ ([]));
  const first = useLoaded((signal) => search({ limit: PAGE, ...toQuery(filter) }, signal), [line], [lost.value]);

  useEffect(() => {
    if (!first.value) return;
    setRows(merge(early.current, first.value.executions));
    setFresh([]);
    more.current = { cursor: first.value.nextCursor ?? null, busy: false };
  }, [first.value]);

  // What comes while the list is being read belongs in it too.
  useEffect(() => {
    early.current = [];
  }, [line]);
  useEffect(
    () =>
      follow((come) => {
        const fitting = come.filter((row) => fits(filter, row));
        if (!fitting.length) return;
        early.current = merge(fitting, early.current).slice(0, PAGE);
        // What is on the screen is brought up to date in place; only what is new moves anything.
        setRows((old) => {
          const known = new Map(old.map((row, index) => [row.executionId, index]));
          const next = [...old];
          /** @type {Execution[]} */
          const added = [];
          for (const row of fitting) {
            const index = known.get(row.executionId);
            if (index === undefined) added.push(row);
            else next[index] = row;
          }
          if (!added.length) return next;
          const calm = following && !hand.current && (box.current?.scrollTop ?? 0) < 4;
          if (calm) return merge(added, next);
          setFresh((waiting) => merge(added, waiting));
          return next;
        });
      }),
    [line, following],
  );

  const showFresh = () => {
    setRows((old) => merge(fresh, old));
    setFresh([]);
    box.current?.scrollTo({ top: 0 });
  };
  const onEnd = async () => {
    const { cursor, busy } = more.current;
    if (!cursor || busy) return;
    more.current.busy = true;
    try {
      const page = await search({ limit: PAGE, cursor, ...toQuery(filter) });
      more.current = { cursor: page.nextCursor ?? null, busy: false };
      setRows((old) => {
        const known = new Set(old.map((row) => row.executionId));
        return [...old, ...page.executions.filter(/** @param {Execution} row */ (row) => !known.has(row.executionId))];
      });
    } catch {
      more.current = { cursor: null, busy: false };
    }
  };

  const move = (/** @type {number} */ by) => {
    const index = Math.max(0, Math.min(rows.length - 1, rows.findIndex((row) => row.executionId === at) + by));
    const row = rows[index];
    if (!row) return;
    setAt(row.executionId);
    const list = box.current;
    if (list) {
      const top = index * rowHeight();
      if (top < list.scrollTop) list.scrollTop = top;
      if (top + rowHeight() > list.scrollTop + list.clientHeight) list.scrollTop = top + rowHeight() - list.clientHeight;
    }
    const drawn = document.getElementById(`row-${row.executionId}`);
    if (drawn) drawn.focus();
    else requestAnimationFrame(() => document.getElementById(`row-${row.executionId}`)?.focus());
    if (path[0]) go(to(['executions', row.executionId], { q: line }), { replace: true });
  };
  const close = () => {
    go(to(['executions'], { q: line }));
    requestAnimationFrame(() => document.getElementById(`row-${path[0]}`)?.focus());
  };
  const inList = (/** @type {KeyboardEvent} */ event, /** @type {() => void} */ act) => {
    if (event.target === document.body || (event.target instanceof Element && event.target.closest('.rows, h1'))) {
      event.preventDefault();
      act();
    }
  };
  useLayoutEffect(() =>
    onKeys({
      j: () => move(1),
      k: () => move(-1),
      arrowdown: (event) => inList(event, () => move(1)),
      arrowup: (event) => inList(event, () => move(-1)),
      enter: (event) => {
        const row = event.target instanceof Element ? event.target.closest('[id^="row-"]') : null;
        if (row) go(to(['executions', row.id.slice(4)], { q: line }));
      },
      escape: () => {
        if (path[0]) close();
      },
      f: () => setFollowing((on) => !on),
    }),
  );

  const known = useMemo(
    () => ({ tool: names(rows, 'tool'), user: names(rows, 'user'), agent: names(rows, 'agentId'), code: names(rows, 'code'), edge: names(rows, 'edge'), profile: names(rows, 'profile') }),
    [rows],
  );
  const open = path[0];
  return div(
    { class: `page exec ${open ? 'opened' : ''}` },
    head({
      title: 'Executions',
      right: [
        filterBox({ value: line, set: (q) => go(to(['executions', open], { q })), known, placeholder: 'tool:create-* status:error user:ada since:1h' }),
        button({ class: 'b', type: 'button', 'aria-pressed': following, onClick: () => setFollowing(!following) }, following ? '◐ Following' : 'Follow', ' ', kbd(null, 'f')),
      ],
    }),
    filter.wrong.length
      ? p({ class: 'note bad-ink' }, `Unknown: ${filter.wrong.map((word) => `${word}:`).join(' ')}. The words are ${Object.keys(FIELDS).join(', ')}.`)
      : null,
    div(
      { class: 'exec-split' },
      section(
        {
          class: 'card log',
          'aria-label': 'Calls',
          onPointerEnter: () => {
            hand.current = true;
          },
          onPointerLeave: () => {
            hand.current = false;
          },
        },
        first.error && !rows.length
          ? shown(first.error, [{ label: 'Try again', act: first.reload }])
          : loaded(first, () =>
              rows.length || fresh.length
                ? log({ rows, fresh, showFresh, at, open, line, box, onEnd, setAt })
                : line
                  ? empty(['No call fits ', code(null, line), '.'], a({ class: 'b', href: to(['executions']) }, 'Remove the filter'))
                  : empty('No calls yet. Make the first one:', copyable('toolroom call get-status')),
            ),
      ),
      open ? use(Detail, { key: open, id: open, line, close }) : null,
    ),
    div({ class: 'sr', role: 'status', 'aria-live': 'polite' }, fresh.length ? some(fresh.length, 'new call') : ''),
  );
}

/** @param {{ rows: Execution[], fresh: Execution[], showFresh: () => void, at: string, open?: string, line: string, box: any, onEnd: () => void, setAt: (id: string) => void }} props */
function log({ rows, fresh, showFresh, at, open, line, box, onEnd, setAt }) {
  const reach = rows.some((row) => row.executionId === at) ? at : rows[0]?.executionId;
  return div(
    { class: 'grid', role: 'grid', 'aria-label': 'Calls', 'aria-rowcount': rows.length },
    div(
      { class: 'exec-row head', role: 'row' },
      [
        ['Time', ''],
        ['Status', ''],
        ['Tool', ''],
        ['User', 'user'],
        ['Agent', 'agent'],
        ['Took', 'num'],
        ['Code', 'code'],
      ].map(([text, kind]) => span({ key: text, role: 'columnheader', class: kind }, text)),
    ),
    fresh.length ? button({ class: 'pill', type: 'button', onClick: showFresh }, `${fresh.length} new`) : null,
    rowsOf({
      rows,
      height: rowHeight(),
      label: 'Calls',
      box,
      onEnd,
      draw: (row) =>
        div(
          {
            key: row.executionId,
            id: `row-${row.executionId}`,
            class: `exec-row ${row.executionId === open ? 'open' : ''}`,
            role: 'row',
            'aria-selected': row.executionId === open,
            tabIndex: row.executionId === reach ? 0 : -1,
            onFocus: () => setAt(row.executionId),
            onClick: () => go(to(['executions', row.executionId], { q: line })),
          },
          span({ role: 'gridcell', class: 'mono', title: fullTime(row.startedAt) }, stamp(row.startedAt)),
          span({ role: 'gridcell' }, callState(row.status, true)),
          span({ role: 'gridcell', class: 'mono tool' }, name(row.tool)),
          span({ role: 'gridcell', class: 'user' }, name(row.user)),
          span({ role: 'gridcell', class: 'agent' }, name(row.agentId)),
          span({ role: 'gridcell', class: 'num' }, ms(row.durationMs)),
          span({ role: 'gridcell', class: 'code' }, row.code ?? (row.cached ? 'cached' : row.dryRun ? 'dry run' : row.replayed ? 'replayed' : '')),
        ),
    }),
  );
}

/** Newest first, each once. @param {Execution[]} come @param {Execution[]} old */
function merge(come, old) {
  const ids = new Set(come.map((row) => row.executionId));
  return [...come, ...old.filter((row) => !ids.has(row.executionId))].sort((x, y) => (x.startedAt < y.startedAt ? 1 : x.startedAt > y.startedAt ? -1 : 0)).slice(0, 20_000);
}

/** @param {Execution[]} rows @param {'tool' | 'user' | 'agentId' | 'code' | 'edge' | 'profile'} key */
const names = (rows, key) =>
  [
    ...new Set(
      rows
        .slice(0, 2000)
        .map((row) => row[key])
        .filter((value) => value !== undefined),
    ),
  ].sort();
