// A client whose types are generated from the OpenAPI document, against a server of its own.

import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { components, paths } from './api.d.ts';

const client = createClient<paths>({
    baseUrl: process.env.TOOLROOM_URL ?? '',
    headers: { Authorization: `Bearer ${process.env.TOOLROOM_KEY}` },
});

const listed = await client.GET('/api/v1/tools', { params: { query: { q: 'create a task' } } });
assert.ok(listed.data, JSON.stringify(listed.error));
assert.equal(listed.data.tools[0]?.name, 'create-task');

const name = 'create-task';
const created = await client.POST('/api/v1/tools/{name}/call', {
    params: { path: { name }, header: { 'Idempotency-Key': 'milk' } },
    body: { params: { title: 'Buy milk' } },
});
assert.ok(created.data && !('pending' in created.data), JSON.stringify(created.error));
const result: components['schemas']['ToolResult'] = created.data;
assert.deepEqual([created.response.status, result.metadata.dryRun, result.error], [200, undefined, undefined]);

const refused = await client.POST('/api/v1/tools/{name}/call', { params: { path: { name } }, body: { params: {} } });
const code: components['schemas']['ErrorCode'] | undefined = refused.error?.error?.code;
assert.deepEqual([refused.response.status, code], [400, 'invalid_input']);

const missing = await client.GET('/api/v1/executions/{id}', { params: { path: { id: 'none' } } });
const problem: components['schemas']['Problem'] | undefined = missing.error;
assert.deepEqual([missing.response.status, problem?.code], [404, 'not_found']);

const log = await client.GET('/api/v1/executions', { params: { query: { tool: name, status: 'ok', limit: 10 } } });
assert.ok(log.data, JSON.stringify(log.error));
assert.deepEqual(log.data.executions.map(row => [row.tool, row.edge, row.user]), [[name, 'rest', 'first']]);
