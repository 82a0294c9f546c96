// Every figure of the overview opens exactly its calls: the number and the rows behind it are compared, one by one.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { api, close, SHAPES, shop, URL_, visit } from './harness.mjs';

const folder = mkdtempSync(join(tmpdir(), 'figures-'));

before(() => visit('/console/settings', async (page) => {
  const call = (/** @type {string} */ tool, /** @type {unknown} */ params, /** @type {unknown} */ context = {}) => api(page, 'POST', `/tools/${encodeURIComponent(tool)}/call`, { params, context });
  await api(page, 'PUT', '/tools/console-shapes', { ...SHAPES, timeout: 1, script: 'import time\n\ndef run(params, context):\n    if params["text"] == "slow":\n        time.sleep(30)\n    return params\n' });
  // Good ones, from the cache, refused, too slow, waiting, tried dry, under names that nothing has.
  const made = await call('create-task', { title: 'Count me' });
  for (const agentId of ['clerk', 'a clerk with "marks"']) await call('list-tasks', {}, { agentId });
  await call('create-task', { title: '' });
  await call('console-shapes', { text: 'slow', level: 'low' });
  await call('delete-task', { taskId: made.data.task.taskId });
  await call('delete-task', { taskId: made.data.task.taskId }, { dryRun: true });
  for (const name of ['no such "tool"', 'no*']) await call(name, {});
  // And a note of the server itself, which is not a call.
  const { entry, describe } = shop(folder);
  await api(page, 'POST', '/servers?wait=20', entry);
  describe('Tells the price of an item, and buys it.');
  await api(page, 'POST', '/servers/shop/reconnect');
  let noted = [];
  for (let look = 0; look < 200 && !noted.length; look++) { await page.waitForTimeout(50); noted = (await api(page, 'GET', '/executions?edge=system')).executions; }
  assert.equal(noted.length, 1, 'the note stands in the log');
}, { allow: /status of (400|404|504|500)/ }));
after(async () => {
  await close();
  rmSync(folder, { recursive: true, force: true });
});

/** How many rows there are behind a link. @param {import('playwright-core').Page} page @param {string | null} href */
async function rows(page, href) {
  const listed = page.waitForResponse((response) => response.url().includes('/api/v1/executions?'));
  // As the router does it, without loading everything again.
  await page.evaluate((to) => { history.pushState(null, '', to); dispatchEvent(new PopStateEvent('popstate')); }, href);
  const { executions } = await (await listed).json();
  await page.waitForFunction((many) => Number(document.querySelector('.grid')?.getAttribute('aria-rowcount') ?? 0) === many, executions.length);
  assert.ok(executions.every((one) => one.edge !== 'system'), href ?? '');
  return executions;
}

for (const [by, range] of [['tool', '1h'], ['user', '24h'], ['agent', '1h'], ['code', '7d'], ['edge', '30d']]) {
  test(`by ${by}, over ${range}: every figure has as many rows as it says`, () => visit('/console/executions', async (page) => {
    const told = page.waitForResponse((response) => response.url().includes('/api/v1/stats?'));
    await page.goto(`${URL_}/console/?range=${range}&by=${by}`);
    const stats = await (await told).json();
    await page.locator('.costs tbody tr').first().waitFor();
    const sum = (/** @type {number[]} */ list) => list.reduce((all, one) => all + one, 0);
    const [calls, errors, cached] = [sum(stats.total.calls), sum(stats.total.errors), sum(stats.total.cached)];
    assert.ok(calls >= 9 && errors >= 4 && cached >= 1, JSON.stringify(stats.total));
    const figures = await page.locator('.figure').evaluateAll((all) => all.map((one) => [one.querySelector('.ink-2')?.textContent, one.querySelector('.big')?.textContent, one.querySelector('.note')?.textContent, one.getAttribute('href')]));
    assert.deepEqual(figures.map(([label]) => label), ['Calls', 'Errors', 'p50 / p99', 'From the cache', 'Answers']);
    assert.equal(figures[0][1], String(calls));
    assert.equal(figures[1][1], String(errors));
    assert.match(figures[3][2] ?? '', new RegExp(`^${cached} call`));
    const groups = await page.locator('.costs tbody tr').evaluateAll((all) => all.map((one) => ({ calls: one.children[1].textContent, links: [...one.querySelectorAll('a')].map((link) => link.getAttribute('href')) })));
    assert.equal(groups.length, stats.groups.length);

    assert.equal((await rows(page, figures[0][3] ?? '')).length, calls);
    assert.equal((await rows(page, figures[1][3] ?? '')).length, errors);
    assert.ok((await rows(page, figures[2][3] ?? '')).length >= 1, 'some call was as slow');
    assert.equal((await rows(page, figures[3][3] ?? '')).length, cached);
    assert.equal((await rows(page, figures[4][3] ?? '')).length, calls);
    for (const [at, group] of stats.groups.entries()) {
      const { links } = groups[at];
      assert.equal(groups[at].calls, String(group.calls));
      // `*` stands for anything in a filter: a name with one in it finds its own calls, and may find more.
      if (!group.key.includes('*')) assert.equal((await rows(page, links[0])).length, group.calls, `${by} ${group.key}`);
      assert.ok((await rows(page, links[1])).length >= 1, `${by} ${group.key}: some call was as slow`);
      if (group.errors && !group.key.includes('*')) assert.equal((await rows(page, links[2])).length, group.errors, `${by} ${group.key}: errors`);
    }
  }));
}

test('a stretch of time that is drawn over the chart opens the calls of that time', () => visit('/console/', async (page) => {
  const over = page.locator('.u-over');
  await over.waitFor();
  const box = await over.boundingBox();
  assert.ok(box);
  await page.mouse.move(box.x + 5, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - 1, box.y + 40, { steps: 5 });
  await page.mouse.up();
  await page.waitForURL(/q=counted%3Ayes\+since/);
  await page.locator('.grid').waitFor();
}));
