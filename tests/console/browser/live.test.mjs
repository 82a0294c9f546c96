// The page while things happen: new rows, many rows, many tools, many tabs, a server that goes and comes back.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { api, browser, close, settled, URL_, visit } from './harness.mjs';

after(close);

const row = (at) => ({ executionId: `00000000-0000-7000-8000-${String(at).padStart(12, '0')}`, tool: `tool-${at}`, profile: 'default', user: 'ada', agentId: 'x', agentVersion: '1', edge: 'rest', traceId: 't', correlationId: 'c', status: 'ok', startedAt: new Date(Date.now() - at * 1000).toISOString(), durationMs: 1, cached: false, replayed: false, dryRun: false, input: {}, truncated: false });

test('a call appears by itself, and waits behind a pill while a hand is on the list', () => visit('/console/executions', async (page) => {
  await page.locator('.link-state[data-state=live]').waitFor();
  const first = await api(page, 'POST', '/tools/get-status/call', { params: {} });
  await page.locator(`#row-${first.metadata.executionId}`).waitFor();
  await page.hover('.rows');
  const second = await api(page, 'POST', '/tools/get-status/call', { params: {} });
  await page.locator('.pill').waitFor();
  assert.equal(await page.locator(`#row-${second.metadata.executionId}`).count(), 0);
  await page.locator('.pill').click();
  await page.locator(`#row-${second.metadata.executionId}`).waitFor();
}));

test('a waiting call appears by itself, at the end, and in the title of the tab', () => visit('/console/approvals', async (page) => {
  await page.locator('.link-state[data-state=live]').waitFor();
  const made = await api(page, 'POST', '/tools/create-task/call', { params: { title: 'x' } });
  const asked = await api(page, 'POST', '/tools/delete-task/call', { params: { taskId: made.data.task.taskId } });
  await page.locator(`#ask-${asked.pending.id}`).waitFor();
  assert.equal(await page.locator('.ask').last().getAttribute('id'), `ask-${asked.pending.id}`);
  await page.waitForFunction(() => /^\(\d+\) /.test(document.title));
}));

test('ten thousand rows scroll, and only those in view are drawn', () => visit('/console/tools', async (page) => {
  await page.route('**/api/v1/executions?*', (route) => route.fulfill({ json: { executions: Array.from({ length: 10_000 }, (_, at) => row(at)), nextCursor: null } }));
  await page.goto(`${URL_}/console/executions`);
  await settled(page);
  await page.locator('.rows .exec-row').first().waitFor();
  const drawn = () => page.locator('.rows .exec-row').count();
  assert.ok(await drawn() < 80, 'few rows are drawn');
  for (const part of [0.25, 0.5, 0.75, 1]) {
    await page.evaluate((to) => { const list = document.querySelector('.rows'); if (list) list.scrollTop = list.scrollHeight * to; }, part);
    await page.waitForFunction((to) => { const names = [...document.querySelectorAll('.rows .tool')].map((one) => Number(one.textContent?.slice(5))); return names.some((at) => Math.abs(at - Math.min(9990, to * 10_000)) < 60); }, part);
    assert.ok(await drawn() < 80);
  }
}));

test('five hundred tools are searched as one types', () => visit('/console/settings', async (page) => {
  const tools = Array.from({ length: 500 }, (_, at) => ({ name: `many__tool_${at}`, about: `Does thing ${at}. Use it never.`, category: 'query', tags: ['many'], source: 'server', server: 'many', destructive: false, deprecated: false, calls30d: 0 }));
  await page.route('**/api/v1/tools?*', (route) => route.fulfill({ json: { tools, total: 500, nextCursor: null } }));
  await page.goto(`${URL_}/console/tools`);
  await page.getByText('500 tools').waitFor();
  assert.ok(await page.locator('.tool-row').count() < 60);
  await page.keyboard.press('/');
  await page.keyboard.type('tool_499');
  await page.waitForFunction(() => document.querySelectorAll('.tool-row').length === 1);
  await page.keyboard.press('Enter');
  await page.waitForURL(/many__tool_499/);
}, { allow: /status of 404/ }));

test('seven tabs are live at once', async () => {
  const context = await browser();
  const tabs = await Promise.all(Array.from({ length: 7 }, () => context.newPage()));
  try {
    for (const tab of tabs) { await tab.goto(`${URL_}/console/executions`); await tab.locator('.link-state[data-state=live]').waitFor(); }
    const made = await api(tabs[0], 'POST', '/tools/get-status/call', { params: {} });
    for (const tab of tabs) { await tab.bringToFront(); await tab.locator(`#row-${made.metadata.executionId}`).waitFor(); }
  } finally { for (const tab of tabs) await tab.close(); }
});

test('the connection is lost and comes back: the page says so, and goes on without a reload, with nothing lost and nothing twice', () => visit('/console/executions', async (page) => {
  await page.locator('.link-state[data-state=live]').waitFor();
  // One event, so that there is a place to come back to.
  const before = await api(page, 'POST', '/tools/get-status/call', { params: {} });
  await page.locator(`#row-${before.metadata.executionId}`).waitFor();
  await page.evaluate(() => { /** @type {any} */ (globalThis).mark = 1; });
  const away = /\/api\/v1\/(events|approvals|servers)/;
  await page.route(away, (route) => route.abort());
  // The stream is cut by hiding and showing the tab, as a suspended machine would.
  await page.evaluate(() => { for (const hidden of [true, false]) { Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden }); document.dispatchEvent(new Event('visibilitychange')); } });
  await page.getByText(/No connection since/).waitFor();
  const missed = await api(page, 'POST', '/tools/get-status/call', { params: {} });
  assert.equal(await page.locator(`#row-${missed.metadata.executionId}`).count(), 0);
  await page.unroute(away);
  await page.locator('.link-state[data-state=live]').waitFor({ timeout: 20_000 });
  await page.locator(`#row-${missed.metadata.executionId}`).waitFor();
  for (const one of [before, missed]) assert.equal(await page.locator(`#row-${one.metadata.executionId}`).count(), 1);
  assert.equal(await page.evaluate(() => /** @type {any} */ (globalThis).mark), 1, 'without a reload');
}, { allow: /ERR_FAILED/ }));

test('a chosen theme stays, and the page follows the system otherwise', () => visit('/console/settings', async (page) => {
  const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await ground();
  await page.emulateMedia({ colorScheme: 'dark' });
  assert.notEqual(await ground(), light);
  await page.getByRole('button', { name: 'Light' }).click();
  assert.equal(await ground(), light);
  await page.reload();
  await settled(page);
  assert.equal(await ground(), light);
  await page.getByRole('button', { name: 'System' }).click();
  assert.notEqual(await ground(), light);
}));

test('the head of the log stands over its columns, and a call that waits has come as far as admit', () => visit('/console/executions', async (page) => {
  const made = await api(page, 'POST', '/tools/create-task/call', { params: { title: 'Wait for a person' } });
  await api(page, 'POST', '/tools/delete-task/call', { params: { taskId: made.data.task.taskId } });
  await page.goto(`${URL_}/console/executions?q=tool%3Adelete-task`);
  const row = page.locator('.exec-row:not(.head)').first();
  await row.waitFor();
  const lefts = (/** @type {import('playwright-core').Locator} */ at) => at.locator(':scope > *').evaluateAll((cells) => cells.filter((cell) => cell.getClientRects().length).map((cell) => Math.round(cell.getBoundingClientRect().left)));
  assert.deepEqual(await lefts(page.locator('.exec-row.head')), await lefts(row));
  await row.click();
  const steps = page.locator('.steps li');
  await steps.first().waitFor();
  assert.match((await steps.allInnerTexts()).join(' '), /✓ resolve.*✓ permit.*✓ params.*✓ limit.*‖ admit.*run.*answer/s);
}));

test('what is approved for a while says what it let through, and has ended once its tool was changed', () => visit('/console/approvals?show=standing', async (page) => {
  const entry = (/** @type {string} */ description) => ({ name: 'console-drop', description, destructive: true, input_schema: { type: 'object', properties: { n: { type: 'integer' } } }, config: { script_path: 'console_drop.py' }, script: 'def run(params, context):\n    return {"done": True}\n' });
  const call = (/** @type {number} */ n) => api(page, 'POST', '/tools/console-drop/call', { params: { n } });
  await api(page, 'PUT', '/tools/console-drop', entry('Drops a thing.'));
  const asked = await call(1);
  await api(page, 'POST', `/approvals/${asked.pending.id}`, { decision: 'approve', for_seconds: 600 });
  const passed = await call(2);
  assert.equal(passed.data?.done, true, JSON.stringify(passed));
  const row = page.locator('tr', { hasText: 'console-drop' });
  await row.getByText(/^1 call, last/).click();
  assert.match(await row.locator('li a').getAttribute('href') ?? '', new RegExp(`executions/${passed.metadata.executionId}$`));
  await row.getByText(/^◔|^▲/).or(row.getByText('expires in')).first().waitFor();
  await api(page, 'PUT', '/tools/console-drop', entry('Drops everything.'));
  assert.ok((await call(3)).pending, 'the next call asks again');
  await row.getByText('ended: the tool was changed').waitFor();
  await row.getByRole('button', { name: 'Take back' }).click();
  await row.waitFor({ state: 'detached' });
}));
