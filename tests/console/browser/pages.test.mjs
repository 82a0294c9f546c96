// Every page, in both themes and at three widths: nothing sticks out, axe finds nothing, the browser says nothing.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { api, close, fits, settled, SHAPES, THEMES, visit, WIDTHS } from './harness.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const pictures = process.env.CONSOLE_PICTURES;
const themes = process.env.CONSOLE_THEME ? [/** @type {'light' | 'dark'} */ (process.env.CONSOLE_THEME)] : THEMES;
/** @type {Record<string, string>} */
const PAGES = {
  overview: '/console/', chat: '/console/chat', approvals: '/console/approvals', decided: '/console/approvals?show=decided', standing: '/console/approvals?show=standing',
  executions: '/console/executions', catalogue: '/console/tools', tool: '/console/tools/create-task', form: '/console/tools/console-shapes', servers: '/console/servers', 'server-new': '/console/servers?new=1',
  profiles: '/console/profiles', profile: '/console/profiles/default', scripts: '/console/scripts', script: '/console/scripts/new', tasks: '/console/tasks', cards: '/console/cards',
  keys: '/console/keys', 'key-new': '/console/keys?new=1', settings: '/console/settings',
};

before(() => visit('/console/settings', async (page) => {
  await api(page, 'PUT', '/tools/console-shapes', SHAPES);
  const made = await api(page, 'POST', '/tools/create-task/call', { params: { title: 'Look at the console', due: 'tomorrow' } });
  await api(page, 'POST', '/tools/create-task/call', { params: { title: '' } });
  await api(page, 'POST', '/tools/delete-task/call', { params: { taskId: made.data.task.taskId } });
  const log = await api(page, 'GET', '/executions?limit=1');
  PAGES.execution = `/console/executions/${log.executions[0].executionId}`;
  const { servers } = await api(page, 'GET', '/servers');
  if (servers.length) PAGES.server = `/console/servers/${encodeURIComponent((servers.find((one) => one.pendingReview) ?? servers[0]).name)}`;
  for (const name of ['execution', 'server']) if (PAGES[name]) check(name);
}, { allow: /status of 400/ }));
after(close);

for (const name of Object.keys(PAGES)) test(`${name}: themes, widths, axe, a quiet console`, () => look(name));
/** The pages whose address is known only now. @param {string} name */
function check(name) { late.push(name); }
/** @type {string[]} */
const late = [];
test('one call and one server: themes, widths, axe, a quiet console', async () => { for (const name of late) await look(name); });

/** @param {string} name */
async function look(name) {
  for (const theme of themes) {
    await visit(PAGES[name], async (page) => {
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: width === 390 ? 844 : 800 });
        await settled(page);
        await fits(page);
        if (pictures) { mkdirSync(pictures, { recursive: true }); await page.screenshot({ path: join(pictures, `${name}-${theme}-${width}.png`) }); }
        if (width === 900) continue;
        await page.evaluate(axe);
        const found = await page.evaluate(async () => (await /** @type {any} */ (globalThis).axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })).violations.map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} ${node.failureSummary?.split('\n')[1] ?? ''}`).join(' | ')}`));
        assert.deepEqual(found, [], `axe at ${width} px, ${theme}`);
      }
    }, { theme });
  }
}
