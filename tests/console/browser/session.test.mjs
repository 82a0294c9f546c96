// Who is logged in: a link once, a person's key, nobody from another port or a frame, nobody after the key is revoked.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { api, browser, close, fresh, link, URL_, visit } from './harness.mjs';

after(close);

/** A page of another port of this machine. @param {(url: string) => Promise<void>} body */
async function elsewhere(body) {
  const server = createServer((request, response) => {
    const framed = request.url === '/frame' ? `<iframe src="${URL_}/console/"></iframe>` : '';
    response.setHeader('content-type', 'text/html').end(`<!doctype html><title>elsewhere</title>${framed}`);
  });
  await new Promise((/** @type {(value: void) => void} */ done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  try {
    await body(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
  } finally {
    server.close();
  }
}

test('a page of another port gets nothing done with the session', () => elsewhere(async (url) => {
  const page = await (await browser()).newPage();
  /** @type {{ status: number, cookie: boolean }[]} */
  const answered = [];
  page.on('response', async (response) => {
    if (response.url().startsWith(URL_)) answered.push({ status: response.status(), cookie: !!(await response.request().allHeaders()).cookie });
  });
  await page.goto(url);
  for (const [method, type] of [['GET', 'text/plain'], ['POST', 'text/plain'], ['POST', 'application/json']]) {
    const told = await page.evaluate(async ([base, verb, kind]) => {
      try {
        const body = verb === 'GET' ? undefined : '{"user": "mallory", "grants": ["*"]}';
        return (await fetch(`${base}/api/v1/keys`, { method: verb, credentials: 'include', headers: { 'Content-Type': kind }, body })).status;
      } catch {
        return 'refused';
      }
    }, [URL_, method, type]);
    assert.equal(told, 'refused', `${method} ${type}`);
  }
  await page.evaluate((base) => { const form = document.createElement('form'); form.method = 'post'; form.action = `${base}/api/v1/conversations/x/cancel`; document.body.append(form); form.submit(); }, URL_);
  await page.waitForURL(`${URL_}/**`);
  assert.ok(answered.some((one) => one.cookie), 'the browser does send the cookie there');
  assert.ok(answered.every((one) => one.status === 401), JSON.stringify(answered));
  await page.close();
  await visit('/console/keys', async (own) => assert.ok((await api(own, 'GET', '/keys')).keys.every((one) => one.user !== 'mallory')));
}));

test('the console is shown in no frame', () => elsewhere(async (url) => {
  const page = await (await browser()).newPage();
  await page.goto(`${url}/frame`);
  const frame = page.frames().find((one) => one !== page.mainFrame());
  assert.equal(await frame?.locator('#app').count(), 0);
  await page.close();
}));

test('a link works once, and the page says what to do', async () => {
  const used = link();
  const [first, second] = [await fresh(), await fresh()];
  try {
    const page = await first.newPage();
    await page.goto(used);
    await page.locator('nav.rail').waitFor();
    const late = await second.newPage();
    await late.goto(used);
    await late.getByText('The link was used before').waitFor();
    assert.ok(!late.url().includes('link='), 'it is out of the address all the same');
    await page.getByRole('button', { name: /^Log out/ }).or(page.getByRole('link', { name: 'Settings' })).first().waitFor();
  } finally {
    await first.close();
    await second.close();
  }
});

test('a person logs in by a key, an agent does not, and a revoked key ends the session by itself', async () => {
  /** @type {any} */
  let person;
  /** @type {any} */
  let agent;
  await visit('/console/keys', async (page) => {
    person = await api(page, 'POST', '/keys', { user: 'ada', grants: ['tasks:*'], person: true });
    agent = await api(page, 'POST', '/keys', { user: 'bot', grants: ['*'] });
  });
  const other = await fresh();
  try {
    const page = await other.newPage();
    await page.goto(`${URL_}/console/`);
    const enter = async (/** @type {string} */ key) => {
      await page.getByLabel('A person’s key').fill(key);
      await page.getByRole('button', { name: 'Log in' }).click();
    };
    await enter(agent.key);
    await page.getByText('could approve its own calls').first().waitFor();
    await page.locator('.problem').waitFor();
    await enter(person.key);
    await page.locator('nav.rail').waitFor();
    await page.locator('.link-state[data-state=live]').waitFor();
    await visit('/console/keys', (own) => api(own, 'DELETE', `/keys/${person.id}`).then(() => {}));
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
  } finally {
    await other.close();
  }
});
