// One server: its state, what waits for review as differences, its tools, its entry; login and reconnect.
import { useEffect, useState } from '../vendor/preact.js';
import { a, article, button, dd, details, div, dl, dt, footer, h2, h3, header, li, p, pre, section, span, summary, tableElement, tbody, td, tr, ul, use } from '../dom.js';
import { get, send } from '../api.js';
import { servers } from '../live.js';
import { dialogBox } from '../parts/dialog.js';
import { jsonDiff, wordDiff } from '../parts/diff.js';
import { boxed, valueTree } from '../parts/json.js';
import { hiddenIn, long } from '../parts/long.js';
import { head } from '../parts/page.js';
import { empty, loaded, shown, useLoaded } from '../parts/problem.js';
import { chip, impactState, serverState } from '../parts/state.js';
import { toast } from '../parts/toast.js';
import { go, to } from '../router.js';
import { holds } from '../session.js';
import { name, plain, some } from '../text.js';
import { useRested, when } from '../time.js';

/** @typedef {import('../types.js').Server} Server */
/** @typedef {import('../types.js').ServerTool} ServerTool */

/** @param {{ server: string }} props */
export function ServerPage({ server }) {
  const path = `/servers/${encodeURIComponent(server)}`;
  const live = servers.value?.find((one) => one.name === server);
  const one = useLoaded((signal) => /** @type {Promise<Server>} */ (get(path, {}, signal)), [server], [JSON.stringify(live)]);
  const [removing, setRemoving] = useState(false);
  const [login, setLogin] = useState(/** @type {any} */ (null));
  const found = one.value;
  const act = async (/** @type {() => Promise<any>} */ what, /** @type {string} */ done) => {
    try {
      await what();
      toast(done);
      one.reload();
    } catch (error) {
      toast(error.message, { tone: 'bad' });
    }
  };
  const may = holds('servers:write');
  const wantsLogin = found && found.state !== 'ready' && /log ?in|token|401/i.test(found.reason ?? '');
  return div(
    { class: 'page' },
    p({ class: 'crumb' }, a({ href: to(['servers']) }, 'Servers')),
    head({
      title: server,
      shown: name(server),
      beside: found ? [serverState(found), found.transport ? chip('', '', found.transport) : null, found.revision ? chip('', '', `MCP ${found.revision}`) : null] : null,
      right:
        may && found
          ? [
              wantsLogin || found.entry?.oauth ? button({ class: 'b primary', type: 'button', onClick: () => setLogin({}) }, 'Log in') : null,
              button({ class: 'b', type: 'button', onClick: () => act(() => send('POST', `${path}/reconnect`), 'Connected anew.') }, 'Reconnect'),
              button({ class: 'b danger', type: 'button', onClick: () => setRemoving(true) }, 'Remove…'),
            ]
          : null,
    }),
    loaded(one, (shown_) => [
      shown_.reason
        ? div({ class: `card line ${shown_.state === 'ready' ? 'warn' : 'bad'}` }, span(null, plain(shown_.reason)), shown_.since ? span({ class: 'note' }, 'since ', when(shown_.since)) : null)
        : null,
      use(Review, { server: shown_, may, reload: (next) => one.set(next) }),
      div({ class: 'split' }, tools(shown_), facts(shown_)),
    ]),
    removing
      ? dialogBox({
          title: `Remove ${server}?`,
          close: () => setRemoving(false),
          body: p(null, 'Its tools leave the catalogue at once, and what was approved of it is forgotten. If it is added again, all its tools count as new.'),
          actions: [
            button({ class: 'b', type: 'button', onClick: () => setRemoving(false) }, 'Keep it'),
            button(
              {
                class: 'b danger',
                type: 'button',
                onClick: () =>
                  act(async () => {
                    await send('DELETE', path);
                    go(to(['servers']));
                  }, 'Removed.'),
              },
              'Remove the server',
            ),
          ],
        })
      : null,
    login
      ? use(Login, {
          path,
          close: () => {
            setLogin(null);
            one.reload();
          },
        })
      : null,
  );
}

/** @param {{ server: Server, may: boolean, reload: (server: Server) => void }} props */
function Review({ server, may, reload }) {
  const held = server.tools.filter((one) => one.standing === 'changed' || one.standing === 'new');
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  if (!held.length) return null;
  const approve = async (/** @type {{ tool?: string, hash: string | undefined }} */ body, /** @type {string} */ done) => {
    try {
      const answer = await send('POST', `/servers/${encodeURIComponent(server.name)}/approve`, body);
      toast(done);
      setProblem(null);
      reload(answer.server);
    } catch (error) {
      setProblem(error);
    }
  };
  return section(
    { class: 'stack', 'aria-label': 'Pending review' },
    div(
      { class: 'row' },
      h2(null, 'Pending review'),
      chip('hold', '‖', some(held.length, 'definition')),
      span({ class: 'note' }, 'Calls of these tools are refused until a person approves them.'),
      may && held.length > 1 && server.pendingHash
        ? use(ApproveAll, { key: server.pendingHash, count: held.length, approve: () => approve({ hash: server.pendingHash }, 'All are approved.') })
        : null,
    ),
    problem ? shown(problem, [{ label: 'Show what it is now', act: () => location.reload() }]) : null,
    held.map((one) => use(Held, { key: `${one.tool} ${one.pendingHash}`, one, may, approve: () => approve({ tool: one.tool, hash: one.pendingHash }, `${one.tool} is approved.`) })),
  );
}

/** At rest for a moment whenever what it approves has changed. @param {{ count: number, approve: () => void }} props */
function ApproveAll({ count, approve }) {
  const rested = useRested(500);
  return button({ class: 'b small right', type: 'button', disabled: !rested, onClick: approve }, `Approve all ${count}`);
}

/** @param {{ one: ServerTool, may: boolean, approve: () => void }} props */
function Held({ one, may, approve }) {
  const rested = useRested(500);
  const before = one.approved ?? {};
  const after = one.pending ?? {};
  const hidden = hiddenIn(JSON.stringify(after));
  const worst = ['breaking', 'behaviour', 'metadata'].find((impact) => one.changes?.some((change) => change.impact === impact));
  const rest = (/** @type {any} */ { name: _name, description: _description, inputSchema: _input, outputSchema: _output, ...others }) => others;
  const differs = (/** @type {unknown} */ x, /** @type {unknown} */ y) => JSON.stringify(x) !== JSON.stringify(y);
  return article(
    { class: 'card hold' },
    header(
      null,
      h2(null, span({ class: 'mono' }, name(one.tool)), one.standing === 'new' ? ' is new' : ' has changed'),
      worst ? impactState(worst) : null,
      hidden.size ? chip('warn', '▲', 'hidden characters', [...hidden].map(([key, many]) => `${key} × ${many}`).join(', ')) : null,
      one.pendingHash ? div({ class: 'right note mono', title: one.pendingHash }, plain(one.pendingHash.slice(0, 12))) : null,
    ),
    div(
      { class: 'body' },
      one.changes?.length
        ? ul(
            { class: 'changes' },
            one.changes.map((change, index) =>
              li(
                { key: index },
                impactState(change.impact),
                span({ class: 'mono' }, plain(change.pointer)),
                span(null, change.pointer === '/description' ? 'the text is different' : plain(change.message)),
              ),
            ),
          )
        : null,
      differs(before.description, after.description) ? div({ class: 'stack tight' }, h3(null, 'Description'), wordDiff(before.description ?? '', after.description ?? '')) : null,
      differs(before.inputSchema, after.inputSchema) ? div({ class: 'stack tight' }, h3(null, 'Parameters'), jsonDiff(before.inputSchema, after.inputSchema)) : null,
      differs(before.outputSchema, after.outputSchema) ? div({ class: 'stack tight' }, h3(null, 'Result'), jsonDiff(before.outputSchema, after.outputSchema)) : null,
      differs(rest(before), rest(after)) ? div({ class: 'stack tight' }, h3(null, 'Everything else'), jsonDiff(one.approved ? rest(before) : undefined, rest(after))) : null,
    ),
    may
      ? footer(
          null,
          button({ class: 'b hold', type: 'button', disabled: !rested, onClick: approve }, 'Approve this definition'),
          span({ class: 'note' }, 'Bound to exactly the definition shown here. To keep it out, do nothing, or name it under deny in mcp.json.'),
        )
      : null,
  );
}

const STANDING = /** @type {Record<string, [import('../parts/state.js').Tone, string]>} */ ({
  open: ['ok', '●'],
  changed: ['hold', '‖'],
  new: ['hold', '‖'],
  rejected: ['bad', '✕'],
  left_out: ['', '◌'],
});

/** @param {Server} server */
const tools = (server) =>
  section(
    { class: 'card' },
    header(null, h2(null, 'Tools'), span({ class: 'note' }, `${server.open} can be called`)),
    server.tools.length
      ? tableElement(
          { class: 'table' },
          tbody(
            null,
            server.tools.map((one) =>
              tr(
                { key: one.tool },
                td(
                  null,
                  one.name ? a({ class: 'mono', href: to(['tools', one.name]) }, name(one.tool)) : span({ class: 'mono' }, name(one.tool)),
                  one.reason ? p({ class: 'note' }, plain(one.reason)) : null,
                ),
                td({ class: 'tight' }, chip(STANDING[one.standing]?.[0] ?? '', STANDING[one.standing]?.[1] ?? '', one.standing.replace('_', ' '))),
              ),
            ),
          ),
        )
      : empty(server.state === 'ready' ? 'It has no tools.' : 'Not known: the server was not reached yet.'),
  );

/** @param {Server} server */
const facts = (server) =>
  div(
    { class: 'stack' },
    section(
      { class: 'card' },
      header(null, h2(null, 'About')),
      div(
        { class: 'body' },
        dl(
          { class: 'kv' },
          server.server?.name ? [dt(null, 'Says it is'), dd(null, plain(server.server.name), ' ', plain(server.server.version))] : null,
          dt(null, 'State since'),
          dd(null, when(server.since)),
          dt(null, 'Connections'),
          dd(null, some(server.connections, 'connection')),
          dt(null, 'Callers need'),
          dd({ class: 'mono' }, plain(server.permission)),
        ),
        server.instructions ? div({ class: 'stack tight' }, h3(null, 'Its instructions'), p({ class: 'ink-2 pre' }, long(server.instructions))) : null,
      ),
    ),
    server.entry ? details({ class: 'card fold' }, summary(null, 'Entry in mcp.json'), div({ class: 'body' }, boxed(valueTree(server.entry), 'Entry'))) : null,
    server.stderr ? details({ class: 'card fold', open: server.state !== 'ready' }, summary(null, 'stderr'), div({ class: 'body' }, boxed(pre(null, long(server.stderr)), 'stderr'))) : null,
  );

/** Opens the address in a tab of its own after its scheme was checked, and waits. @param {{ path: string, close: () => void }} props */
function Login({ path, close }) {
  const [state, setState] = useState(/** @type {any} */ (null));
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  useEffect(() => {
    let over = false;
    send('POST', `${path}/login`)
      .then(async (begun) => {
        setState(begun);
        while (!over) {
          const at = await get(`${path}/login`, { wait: 20 });
          if (over) return;
          setState({ ...begun, ...at });
          if (at.state !== 'waiting' && at.state !== 'pending') return;
        }
      })
      .catch((error) => {
        if (!over) setProblem(error);
      });
    return () => {
      over = true;
    };
  }, []);
  const address = safeAddress(state?.url);
  const over = state && state.state && !['waiting', 'pending'].includes(state.state);
  return dialogBox({
    title: 'Log in at the server',
    close,
    body: problem
      ? shown(problem)
      : !state
        ? p({ class: 'late' }, 'Asking the server where to log in…')
        : over
          ? p({ role: 'status' }, state.reason ? plain(state.reason) : `The login ended: ${state.state}.`)
          : !address
            ? p({ class: 'bad-ink' }, 'The server gave an address that is neither http nor https. It was not opened.')
            : [
                p(null, 'The login is at ', span({ class: 'strong mono' }, plain(address.host)), '. It opens in a tab of its own; this page waits.'),
                a({ class: 'b primary', href: address.href, target: '_blank', rel: 'noopener noreferrer' }, `Open ${address.host}`),
                p({ class: 'note', role: 'status' }, 'Waiting for the login to end…'),
              ],
    actions: button({ class: 'b', type: 'button', onClick: close }, over ? 'Close' : 'Stop waiting'),
  });
}

/** @param {unknown} text */
function safeAddress(text) {
  try {
    const url = new URL(String(text));
    return url.protocol === 'https:' || url.protocol === 'http:' ? url : null;
  } catch {
    return null;
  }
}
