// Servers: how each is doing, adding one; a server's own page is in server.js.
import { useState } from '../vendor/preact.js';
import { a, button, div, form, input, label, p, section, span, tableElement, tbody, td, textarea, th, thead, tr, use } from '../dom.js';
import { send } from '../api.js';
import { icon } from '../icons.js';
import { servers } from '../live.js';
import { copyable } from '../parts/copy.js';
import { dialogBox } from '../parts/dialog.js';
import { head } from '../parts/page.js';
import { bars, empty, shown } from '../parts/problem.js';
import { chip, serverState } from '../parts/state.js';
import { toast } from '../parts/toast.js';
import { go, to } from '../router.js';
import { holds } from '../session.js';
import { name, plain } from '../text.js';
import { when } from '../time.js';
import { ServerPage } from './server.js';

/** @param {import('../main.js').PageProps} props */
export function Servers({ path, query }) {
  if (path[0]) return use(ServerPage, { key: path[0], server: path[0] });
  const list = servers.value;
  const adding = query.has('new');
  return div(
    { class: 'page' },
    head({
      title: 'Servers',
      beside: list ? span({ class: 'note' }, `${list.length} in mcp.json`) : null,
      right: holds('servers:write') ? button({ class: 'b', type: 'button', onClick: () => go(to(['servers'], { new: '1' })) }, icon('plus'), 'Add a server') : null,
    }),
    section(
      { class: 'card', 'aria-label': 'Servers' },
      list === null
        ? bars()
        : list.length
          ? div(
              { class: 'scroll-x', tabIndex: 0, role: 'region', 'aria-label': 'Table of servers' },
              tableElement(
                { class: 'table big' },
                thead(
                  null,
                  tr(
                    null,
                    ['Server', 'State', 'Why', 'Transport'].map((text) => th({ key: text, scope: 'col' }, text)),
                    th({ class: 'num', scope: 'col' }, 'Tools'),
                    th({ scope: 'col' }, 'Review'),
                  ),
                ),
                tbody(
                  null,
                  list.map((one) =>
                    tr(
                      { key: one.name },
                      td(
                        null,
                        a({ class: 'strong', href: to(['servers', one.name]) }, name(one.name)),
                        one.server?.version ? span({ class: 'note' }, ' ', plain(one.server.name), ' ', plain(one.server.version)) : null,
                      ),
                      td({ class: 'tight' }, serverState(one)),
                      td(null, one.reason ? plain(one.reason) : one.since ? span({ class: 'note' }, 'since ', when(one.since)) : ''),
                      td({ class: 'tight' }, one.transport ?? '', one.revision ? span({ class: 'note' }, ` ${one.revision}`) : null),
                      td({ class: 'num' }, one.open),
                      td(
                        { class: 'tight' },
                        one.pendingReview ? a({ class: 'bare', href: to(['servers', one.name]) }, chip('hold', '‖', `${one.pendingReview} to review`)) : span({ class: 'note' }, 'nothing'),
                      ),
                    ),
                  ),
                ),
              ),
            )
          : empty(
              'No other server is connected. Add one by its command or address, or from the command line:',
              copyable('toolroom servers add files -- npx -y @modelcontextprotocol/server-filesystem /srv/files'),
            ),
    ),
    adding ? use(Add, { close: () => go(to(['servers']), { replace: true }) }) : null,
  );
}

/** What other clients write into their files, as an entry of ours. @param {string} text @returns {{ name?: string, entry: any }} */
export function pasted(text) {
  const value = JSON.parse(text);
  const map = value.mcpServers ?? value.mcp_servers ?? value.servers ?? value;
  if (map.command || map.url) return { name: value.name, entry: map };
  const [name_, entry] = Object.entries(map)[0] ?? [];
  if (!entry || typeof entry !== 'object') throw new Error('there is no server in it');
  return { name: name_, entry };
}

/** @param {string} lines `KEY=value` or `Key: value`, one a line */
const pairs = (lines) =>
  Object.fromEntries(
    lines
      .split('\n')
      .map((line) => /^\s*([^=:\s]+)\s*[=:]\s*(.*?)\s*$/.exec(line))
      .filter((found) => found !== null)
      .map(([, key, value]) => [key, value]),
  );
/** @param {string} line */
const words = (line) => [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, x, y, z]) => x ?? y ?? z);

/** @param {{ close: () => void }} props */
function Add({ close }) {
  const [kind, setKind] = useState('command');
  const [title, setTitle] = useState('');
  const [line, setLine] = useState('');
  const [more, setMore] = useState('');
  const [json, setJson] = useState('');
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const [busy, setBusy] = useState(false);
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setBusy(true);
    try {
      const [command, ...args] = words(line);
      const paste = kind === 'paste' ? pasted(json) : null;
      const entry = paste ? paste.entry : kind === 'command' ? { command, args, ...(more ? { env: pairs(more) } : {}) } : { url: line.trim(), ...(more ? { headers: pairs(more) } : {}) };
      const made = await send('POST', '/servers', { name: title || paste?.name, ...entry }, { query: { wait: 10 } });
      toast(['Added ', name(made.name), '.']);
      go(to(['servers', made.name]));
    } catch (error) {
      setProblem(error);
      setBusy(false);
    }
  };
  const text = (
    /** @type {string} */ id,
    /** @type {string} */ title_,
    /** @type {string} */ value,
    /** @type {(value: string) => void} */ set,
    /** @type {string} */ about,
    /** @type {any} */ attrs = {},
  ) =>
    div(
      { class: 'field' },
      label({ for: id }, title_),
      input({ class: 'in', id, value, autocomplete: 'off', 'aria-describedby': `${id}-about`, onInput: (event) => set(event.currentTarget.value), ...attrs }),
      p({ class: 'about', id: `${id}-about` }, about),
    );
  return dialogBox({
    title: 'Add a server',
    close,
    wide: true,
    body: form(
      { id: 'add-server', class: 'stack', onSubmit: submit },
      div(
        { class: 'segments', role: 'tablist', 'aria-label': 'How it is reached' },
        [
          ['command', 'A command'],
          ['url', 'An address'],
          ['paste', 'Paste JSON'],
        ].map(([key, label_]) =>
          button(
            {
              key,
              type: 'button',
              role: 'tab',
              'aria-selected': kind === key,
              onClick: () => {
                setKind(key);
                setProblem(null);
              },
            },
            label_,
          ),
        ),
      ),
      problem ? shown(problem) : null,
      text('server-name', 'Name', title, setTitle, kind === 'paste' ? 'Empty: the name in the JSON.' : 'Its tools are published as NAME__tool.', { required: kind !== 'paste' }),
      kind === 'command'
        ? text('server-line', 'Command', line, setLine, 'The program and its arguments. No shell is involved.', {
            class: 'in mono',
            required: true,
            placeholder: 'npx -y @modelcontextprotocol/server-filesystem /srv/files',
          })
        : kind === 'url'
          ? text('server-line', 'Address', line, setLine, 'Streamable HTTP or SSE; which one is found out.', { class: 'in mono', required: true, type: 'url', placeholder: 'https://example.org/mcp' })
          : null,
      kind === 'paste'
        ? div(
            { class: 'field' },
            label({ for: 'server-json' }, 'JSON of another client'),
            textarea({
              class: 'in mono',
              id: 'server-json',
              rows: 8,
              required: true,
              spellcheck: false,
              placeholder: '{ "mcpServers": { "files": { "command": "npx", "args": ["…"] } } }',
              value: json,
              onInput: (event) => setJson(event.currentTarget.value),
            }),
          )
        : div(
            { class: 'field' },
            label({ for: 'server-more' }, kind === 'command' ? 'Environment' : 'Headers'),
            textarea({
              class: 'in mono',
              id: 'server-more',
              rows: 2,
              spellcheck: false,
              placeholder: kind === 'command' ? 'API_TOKEN=${MY_TOKEN}' : 'Authorization: Bearer ${MY_TOKEN}',
              value: more,
              'aria-describedby': 'server-more-about',
              onInput: (event) => setMore(event.currentTarget.value),
            }),
            p({ class: 'about', id: 'server-more-about' }, 'One a line. ${VAR} is read from the environment of Toolroom, so that no secret stands in the file.'),
          ),
    ),
    actions: [button({ class: 'b', type: 'button', onClick: close }, 'Cancel'), button({ class: 'b primary', form: 'add-server', disabled: busy }, 'Add the server')],
  });
}
