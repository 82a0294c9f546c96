// What a new user does first, from end to end: with a real MCP client as the agent, and a real server behind ours.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { api, close, link, settled, shop, URL_, visit } from './harness.mjs';

const packages = createRequire(new URL('../../node/package.json', import.meta.url));
const sdk = (/** @type {string} */ file) => import(pathToFileURL(packages.resolve(`@modelcontextprotocol/sdk/${file}`)).href);

const SCRIPT = `"""Adds two numbers. Use it to sum up. Returns the sum.

name: sum-up
category: query
params:
  a (integer, required): the one
  b (integer, required): the other
returns:
  sum (integer): both together
example: {"a": 1, "b": 2} -> {"sum": 3}
"""


def run(params, context):
    return {"sum": params["a"] + params["b"]}
`;

/** @type {any} */
let agent;
const folder = mkdtempSync(join(tmpdir(), 'walks-'));

before(async () => {
  let key = '';
  // As the console offers it: a key that is confined to the profile, and no more than that.
  await visit('/console/profiles/default', async (page) => {
    await page.getByRole('button', { name: 'Make a key for this profile' }).click();
    await page.getByText('The key stands in the snippet.').waitFor();
    key = /X-API-Key: ([^"\s]+)"/.exec(await page.locator('main').innerText())?.[1] ?? '';
  });
  const [{ Client }, { StreamableHTTPClientTransport }] = await Promise.all([sdk('client/index.js'), sdk('client/streamableHttp.js')]);
  agent = new Client({ name: 'walker', version: '1.0.0' });
  await agent.connect(new StreamableHTTPClientTransport(new URL(`${URL_}/mcp`), { requestInit: { headers: { 'X-API-Key': key } } }));
});
after(async () => {
  await agent?.close();
  await close();
  rmSync(folder, { recursive: true, force: true });
});

test('from a pasted script to a call by an MCP client', () => visit('/console/scripts', async (page) => {
  await page.getByRole('link', { name: 'New tool' }).first().click();
  const editor = page.locator('.cm-content');
  await editor.click();
  await page.keyboard.press('ControlOrMeta+a');
  await editor.evaluate((at, text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', text);
    at.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  }, SCRIPT);
  await page.getByText('sum-up').first().waitFor();
  const register = page.getByRole('button', { name: 'Register the tool' });
  await page.locator('button:enabled', { hasText: 'Register the tool' }).waitFor();
  await register.click();
  await page.waitForURL(/\/console\/(tools|scripts)\/sum-up/);
  const { tools } = await agent.listTools();
  assert.ok(tools.some((tool) => tool.name === 'sum-up'), tools.map((tool) => tool.name).join());
  const answer = await agent.callTool({ name: 'sum-up', arguments: { a: 20, b: 22 } });
  assert.ok(!answer.isError, JSON.stringify(answer));
  assert.ok(JSON.stringify(answer.content).includes('42'), JSON.stringify(answer));
  await page.goto(`${URL_}/console/executions?q=tool%3Asum-up`);
  await page.getByText('walker').first().waitFor();
}));

test('from an agent that wants to delete to a person who approves it', async () => {
  const made = await agent.callTool({ name: 'create-task', arguments: { title: 'Throw the old list away' } });
  const { taskId } = (made.structuredContent?.task ?? made.structuredContent?.data?.task);
  const call = { name: 'delete-task', arguments: { taskId } };
  const held = await agent.callTool(call);
  assert.ok(held.isError && JSON.stringify(held).includes('approval_required'), JSON.stringify(held));
  // As a person who is told by the terminal that started the server.
  await visit(link().slice(URL_.length), async (page) => {
    await page.getByRole('link', { name: /^Approvals/ }).first().click();
    const card = page.locator('article, .ask', { hasText: 'Throw the old list away' }).first();
    await card.waitFor();
    const id = (await card.getAttribute('id'))?.replace('ask-', '');
    await card.locator('[data-does=approve]:enabled').click();
    await card.waitFor({ state: 'detached' });
    const done = await agent.callTool({ ...call, _meta: { 'dev.toolroom/approvalId': id } });
    assert.ok(!done.isError, JSON.stringify(done));
  });
});

test('from a definition that changed behind our back to its approval', () => visit('/console/servers', async (page) => {
  const { entry, describe } = shop(folder);
  const added = await api(page, 'POST', '/servers?wait=20', entry);
  assert.equal(added.state, 'ready', JSON.stringify(added));
  const first = await agent.callTool({ name: 'shop__price', arguments: { item: 'bread' } });
  assert.ok(!first.isError, JSON.stringify(first));

  describe('Tells the price of an item, and buys it.');
  await page.getByRole('link', { name: 'shop' }).first().click();
  await page.getByRole('button', { name: 'Reconnect' }).click();
  await page.getByText('has changed').waitFor();
  const refused = await agent.callTool({ name: 'shop__price', arguments: { item: 'bread' } });
  assert.ok(refused.isError && JSON.stringify(refused).includes('definition_pending'), JSON.stringify(refused));
  assert.match(await page.locator('.diff').first().innerText(), /and buys it/);
  await page.getByRole('button', { name: 'Approve this definition' }).click();
  await page.getByText('has changed').waitFor({ state: 'detached' });
  const after_ = await agent.callTool({ name: 'shop__price', arguments: { item: 'bread' } });
  assert.ok(!after_.isError, JSON.stringify(after_));
}));

test('the console is usable after 200 ms of work', () => visit('/console/', async (page) => {
  // Usable: the frame and the title of the page are there. What counts is the time in which a processor worked for the page
  // until then: on loopback little else is waited for, and others on this machine cannot lengthen it much.
  await page.addInitScript(() => {
    new MutationObserver((_, seen) => {
      if (!document.querySelector('main h1')) return;
      seen.disconnect();
      performance.mark('usable');
    }).observe(document, { childList: true, subtree: true });
  });
  const cdp = await page.context().newCDPSession(page);
  /** @type {any[]} */
  let events = [];
  cdp.on('Tracing.dataCollected', ({ value }) => events.push(...value));
  const loads = [];
  for (let turn = 0; turn < 7; turn++) {
    events = [];
    await cdp.send('Tracing.start', { transferMode: 'ReportEvents', traceConfig: { includedCategories: ['blink.user_timing', 'disabled-by-default-devtools.timeline'] } });
    await page.goto(`${URL_}/console/`);
    await settled(page);
    const whole = new Promise((/** @type {(value: void) => void} */ done) => { cdp.once('Tracing.tracingComplete', () => done()); });
    await cdp.send('Tracing.end');
    await whole;
    const usable = events.find((one) => one.name === 'usable');
    const tasks = events.filter((one) => one.name === 'RunTask' && one.pid === usable?.pid && one.tid === usable?.tid && one.ts <= usable?.ts);
    assert.ok(usable && tasks.length, 'the trace tells');
    loads.push({ work: Math.round(tasks.reduce((sum, one) => sum + one.tdur, 0) / 1000), after: await page.evaluate(() => Math.round(performance.getEntriesByName('usable')[0].startTime)) });
  }
  console.log(`usable after ${loads.map(({ after: ms, work }) => `${ms} ms (${work} of work)`).join(', ')}`);
  const best = Math.min(...loads.map(({ work }) => work));
  assert.ok(best > 0 && best <= 200, `${best} ms of work at best`);
}));
