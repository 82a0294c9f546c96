// The API to read and to try: without a session, by keyboard, with real answers.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { api, close, fresh, URL_, visit } from './harness.mjs';

after(close);

/** The answer that is shown: its status, and the JSON as text. @param {import('playwright-core').Page} page */
async function answer(page) {
  const box = page.getByRole('status', { name: 'The answer' });
  await box.waitFor();
  return { status: await box.locator('.chip').innerText(), text: (await box.innerText()).replaceAll('\n', '') };
}

test('every operation is listed, and found by words', () => visit('/docs', async (page) => {
  const document = await page.evaluate(async () => (await fetch('/openapi.json')).json());
  const ids = Object.values(document.paths).flatMap((methods) => Object.values(methods)).map((op) => op.operationId);
  assert.ok(ids.length > 80);
  const links = await page.locator('a.op').evaluateAll((all) => all.map((one) => one.getAttribute('href')?.slice(1)));
  assert.deepEqual([...links].sort(), [...ids].sort());
  await page.getByRole('searchbox').fill('approvals standing');
  assert.deepEqual(await page.locator('a.op').evaluateAll((all) => all.map((one) => one.getAttribute('href'))), ['#listStandingApprovals', '#endStandingApproval']);
}));

test('an operation says what it takes and gives', () => visit('/docs#createKey', async (page) => {
  await page.locator('.schema').first().waitFor();
  const text = await page.locator('.one').innerText();
  for (const word of ['POST /api/v1/keys', 'the owner of the home', 'NewKey', 'grants', 'createKey']) assert.ok(text.includes(word), word);
  await page.locator('.answer summary').first().click();
  await page.getByText('CreatedKey').first().waitFor();
}));

test('a GET and a POST are tried by keyboard alone, and answered', () => visit('/docs', async (page) => {
  const stop = async (/** @type {string} */ selector) => {
    for (let moves = 0; moves < 200 && !(await page.evaluate((one) => document.activeElement?.matches(one), selector)); moves++) await page.keyboard.press('Tab');
    assert.ok(await page.evaluate((one) => document.activeElement?.matches(one) && getComputedStyle(document.activeElement).outlineStyle !== 'none', selector), `the focus is seen at ${selector}`);
  };
  await stop('input[type=search]');
  await page.keyboard.type('listTools');
  await stop('a.op');
  await page.keyboard.press('Enter');
  await page.locator('.one h2:focus').waitFor();
  await stop('.try input');
  await page.locator('[id="f/q"]').focus();
  await page.keyboard.type('create a task');
  await page.keyboard.press('Enter');
  const listed = await answer(page);
  assert.match(listed.status, /200/);
  assert.match(listed.text, /"tools": \[.*"total": \d+/);
  await page.getByRole('button', { name: /fields$/ }).first().press('Enter');
  assert.ok((await answer(page)).text.includes('"create-task"'));

  await page.goto(`${URL_}/docs#callTool`);
  await page.locator('[id="f/name"]').fill('create-task');
  await page.locator('#try-body').fill('{"params": {"title": "From the page of the API"}}');
  await stop('.try button[type=submit]');
  await page.keyboard.press('Enter');
  const called = await answer(page);
  assert.match(called.status, /200/);
  const { executions } = await api(page, 'GET', '/executions?tool=create-task&limit=1');
  assert.deepEqual([executions[0].input.title, executions[0].edge], ['From the page of the API', 'console']);
}));

test('a refusal is an answer too, and a stream is left to curl', () => visit('/docs#getExecution', async (page) => {
  await page.locator('[id="f/id"]').fill('none');
  await page.locator('.try button[type=submit]').click();
  const missing = await answer(page);
  assert.match(missing.status, /404/);
  assert.ok(missing.text.includes('not_found'));
  await page.goto(`${URL_}/docs#followEvents`);
  await page.getByText('try it with curl').waitFor();
  assert.equal(await page.locator('.try button[type=submit]').count(), 0);
}, { allow: /status of 404/ }));

test('without a session it is read, and a try says how to log in once the home has keys', async () => {
  await visit('/console/settings', (page) => api(page, 'POST', '/keys', { user: 'ada' }));
  const stranger = await fresh();
  try {
    const page = await stranger.newPage();
    await page.goto(`${URL_}/docs#listTools`);
    await page.locator('a.op').first().waitFor();
    await page.locator('.bar').getByRole('link', { name: 'Log in to the console' }).waitFor();
    await page.locator('.try button[type=submit]').click();
    assert.match((await answer(page)).status, /401/);
    await page.locator('.try').getByRole('link', { name: 'Log in to the console' }).waitFor();
  } finally {
    await stranger.close();
  }
});
