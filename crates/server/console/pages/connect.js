// Connect a client: the snippet for each, with a fresh key confined to the profile, shown once.
import { useState } from '../vendor/preact.js';
import { button, code, div, h2, header, p, section, span } from '../dom.js';
import { send } from '../api.js';
import { copyable } from '../parts/copy.js';
import { shown } from '../parts/problem.js';
import { session } from '../session.js';

/** @type {Record<string, { title: string, where: string, text: (url: string, key: string, name: string) => string }>} */
const CLIENTS = {
  'claude-code': { title: 'Claude Code', where: 'Run once:', text: (url, key, name) => `claude mcp add --transport http ${name} ${url} --header "X-API-Key: ${key}"` },
  'claude-desktop': {
    title: 'Claude Desktop',
    where: 'claude_desktop_config.json:',
    text: (url, key, name) => JSON.stringify({ mcpServers: { [name]: { command: 'npx', args: ['-y', 'mcp-remote', url, '--header', `X-API-Key:${key}`] } } }, null, 2),
  },
  vscode: { title: 'VS Code', where: '.vscode/mcp.json:', text: (url, key, name) => JSON.stringify({ servers: { [name]: { type: 'http', url, headers: { 'X-API-Key': key } } } }, null, 2) },
  cursor: { title: 'Cursor', where: '~/.cursor/mcp.json:', text: (url, key, name) => JSON.stringify({ mcpServers: { [name]: { url, headers: { 'X-API-Key': key } } } }, null, 2) },
  codex: { title: 'Codex', where: '~/.codex/config.toml:', text: (url, key, name) => `[mcp_servers.${name}]\nurl = "${url}"\nhttp_headers = { "X-API-Key" = "${key}" }` },
  other: { title: 'Any other', where: 'Streamable HTTP:', text: (url, key) => `${url}\nX-API-Key: ${key}` },
};

/** What `toolroom connect` gives a client too: every tool of the profile, one's own included, and no administration. */
const GRANTS = ['tasks:*', 'cards:*', 'web:search', 'humans:ask', 'added-tools:use'];

/** @param {{ profile: string }} props */
export function Connect({ profile }) {
  const [client, setClient] = useState('claude-code');
  const [key, setKey] = useState('');
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const { where, text } = CLIENTS[client];
  const url = `${location.origin}/mcp${profile === 'default' ? '' : `/${profile}`}`;
  const make = async () => {
    try {
      setKey((await send('POST', '/keys', { user: session.value?.user, profiles: [profile], grants: GRANTS, note: `${CLIENTS[client].title}, ${profile}` })).key);
      setProblem(null);
    } catch (error) {
      setProblem(error);
    }
  };
  return section(
    { class: 'card' },
    header(null, h2(null, 'Connect a client')),
    div(
      { class: 'body' },
      div(
        { class: 'tabs', role: 'tablist', 'aria-label': 'Client' },
        Object.entries(CLIENTS).map(([id, one]) => button({ key: id, type: 'button', role: 'tab', 'aria-selected': id === client, onClick: () => setClient(id) }, one.title)),
      ),
      problem ? shown(problem) : null,
      p({ class: 'ink-2' }, where),
      copyable(text(url, key || 'YOUR_KEY', profile === 'default' ? 'toolroom' : `toolroom-${profile}`), 'Copy the snippet'),
      key
        ? p({ class: 'note' }, 'The key stands in the snippet. It is not shown again.')
        : div(
            { class: 'row' },
            button({ class: 'b primary', type: 'button', onClick: make }, 'Make a key for this profile'),
            span({ class: 'note' }, 'Confined to ', code(null, profile), '; may use its tools, your own included, and decides nothing.'),
          ),
    ),
  );
}
