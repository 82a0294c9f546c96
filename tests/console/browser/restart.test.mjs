// The server is killed and comes back: the page says so, and goes on without a reload, with nothing lost and nothing twice.
// TOOLROOM is the program; the test has a home of its own.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fresh } from './harness.mjs';

const program = process.env.TOOLROOM ?? '';
const home = mkdtempSync(join(tmpdir(), 'console-home-'));
const env = { ...process.env, TOOLROOM_HOME: join(home, 'home') };

/** Starts a server, and waits until it listens. @param {string} address */
async function serve(address) {
  const server = spawn(program, ['serve', '--listen', address], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  const line = await new Promise((/** @type {(value: string) => void} */ done) => server.stdout.once('data', (data) => done(String(data))));
  return { server, url: line.replace('listening on ', '').trim() };
}

const call = () => JSON.parse(execFileSync(program, ['call', 'get-status', '--json'], { env, encoding: 'utf8' })).metadata.executionId;

test('the server is killed and comes back, and the page goes on', async () => {
  let { server, url } = await serve('127.0.0.1:0');
  const context = await fresh();
  try {
    const page = await context.newPage();
    await page.goto(execFileSync(program, ['console'], { env, encoding: 'utf8' }).trim());
    await page.locator('nav.rail').waitFor();
    // This home has no cards: nothing leads to them.
    assert.deepEqual([await page.locator('nav.rail a', { hasText: 'Tasks' }).count(), await page.locator('nav a', { hasText: 'Cards' }).count()], [1, 0]);
    await page.keyboard.press('Control+k');
    await page.locator('.palette li', { hasText: 'Tasks' }).first().waitFor();
    assert.equal(await page.locator('.palette li', { hasText: 'Cards' }).count(), 0);
    await page.goto(`${url}/console/executions`);
    await page.locator('.link-state[data-state=live]').waitFor();
    await page.evaluate(() => { /** @type {any} */ (globalThis).mark = 1; });
    const before = call();
    await page.locator(`#row-${before}`).waitFor();
    server.kill('SIGKILL');
    await page.getByText(/No connection since/).waitFor();
    const meanwhile = call();
    ({ server } = await serve(url.replace('http://', '')));
    await page.locator('.link-state[data-state=live]').waitFor({ timeout: 20_000 });
    const later = call();
    for (const id of [before, meanwhile, later]) await page.locator(`#row-${id}`).waitFor();
    for (const id of [before, meanwhile, later]) assert.equal(await page.locator(`#row-${id}`).count(), 1);
    assert.equal(await page.evaluate(() => /** @type {any} */ (globalThis).mark), 1, 'without a reload');
  } finally {
    await context.close();
    server.kill('SIGKILL');
    rmSync(home, { recursive: true, force: true });
  }
});
