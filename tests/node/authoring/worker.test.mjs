// A file of tools from its text to the frames of its calls.

import assert from 'node:assert/strict';
import { mkdtempSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

import { Worker, describe } from './worker.mjs';

const SHOP = fileURLToPath(new URL('./shop.ts', import.meta.url));
const folder = () => mkdtempSync(join(tmpdir(), 'toolroom-node-'));

async function using(entrypoint, options, use) {
    const worker = new Worker(SHOP, entrypoint, options);
    try {
        await use(worker);
    } finally {
        worker.process.kill();
        await worker.exit;
    }
}

test('reading a file gives an entry for each tool', async () => {
    const [kind, { tools }] = await describe(SHOP);
    assert.equal(kind, 'definitions');
    assert.deepEqual(tools.map(({ entry }) => entry.name).sort(), [
        'ask-drink',
        'draw',
        'find-item',
        'get-price',
        'half-number',
        'leave',
    ]);
    const { line, entry } = tools.find(one => one.entry.name === 'get-price');
    assert.equal(line, 13);
    const nullable = {
        type: 'object',
        properties: { result: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
        required: ['result'],
    };
    assert.deepEqual(tools.find(one => one.entry.name === 'find-item').entry.output_schema, nullable);
    assert.deepEqual(entry, {
        name: 'get-price',
        description: 'Tells what an item costs. Use it when someone asks for a price. Returns the price.',
        input_schema: {
            type: 'object',
            properties: {
                item: { type: 'string', maxLength: 40, description: "the item's name" },
                size: { type: 'string', enum: ['small', 'large'], default: 'small' },
                when: { type: 'string', format: 'date-time' },
            },
            required: ['item'],
            additionalProperties: false,
        },
        output_schema: {
            type: 'object',
            properties: { price: { type: 'number' }, when: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
            required: ['price', 'when'],
            additionalProperties: false,
        },
        category: 'query',
        permissions: ['shop:read'],
        tags: ['shop'],
        cacheable: true,
        cacheTTL: 60,
        config: { entrypoint: 'get-price' },
    });
});

test('calls parse, run and answer', () =>
    using('get-price', {}, async worker => {
        const [kind, body] = await worker.call({ item: 'tea', size: 'large', when: '2024-05-06T07:08:09Z' });
        assert.equal(kind, 'content');
        assert.deepEqual(body, {
            data: { price: 7, when: '2024-05-06T07:08:09.000Z' },
            blocks: [],
            agentHints: { reasoning: 'asked' },
        });
        assert.deepEqual(
            worker.frames.map(([, kind]) => kind),
            ['progress', 'log', 'content'],
        );
        assert.deepEqual(worker.frames[1], [1, 'log', { level: 'info', text: 'found tea' }]);
        assert.deepEqual(await worker.call({ item: 'gold' }), [
            'refusal',
            { code: 'not_found', message: "No item 'gold'", data: { known: ['tea', 'coffee'] }, retryAfter: 1500 },
        ]);
        assert.equal(await worker.stop(), 0);
    }));

test('an answer that may be null stands in an object', () =>
    using('find-item', {}, async worker => {
        assert.deepEqual(await worker.call({ text: 'te' }), ['result', { result: 'tea' }]);
        assert.deepEqual(await worker.call({ text: 'gold' }), ['result', { result: null }]);
    }));

test('a refinement answers with a pointer', () =>
    using('half-number', {}, async worker => {
        assert.deepEqual(await worker.call({ number: 4 }), ['result', 2]);
        assert.deepEqual(await worker.call({ number: 3 }), ['invalid', [{ pointer: '/number', message: 'must be even' }]]);
    }));

test('content goes in the frame or by a file', async () => {
    const cwd = folder();
    await using('draw', { cwd }, async worker => {
        let [kind, body] = await worker.call({});
        assert.deepEqual(
            [kind, body.blocks],
            ['content', [{ type: 'image', mimeType: 'image/png', size: 14, data: 'iVBORwAAAAAAAAAAAAA=' }]],
        );
        [kind, body] = await worker.call({ kind: 'both' });
        assert.deepEqual([body.data, body.blocks.map(block => block.mimeType)], [{ drawn: 1 }, ['image/png', 'text/csv']]);
        [kind, body] = await worker.call({ kind: 'large' });
        const found = statSync(join(cwd, body.blocks[0].file));
        assert.deepEqual([found.size, found.mode & 0o777], [100_004, 0o600]);
        assert.deepEqual(body.data, { content: [{ type: 'image', mimeType: 'image/png', size: 100_004 }] });
        assert.equal((await worker.call({ kind: 'wrong' }))[0], 'badOutput');
        assert.deepEqual(await worker.call({ kind: 'nothing' }), ['result', {}]);
        assert.deepEqual(await worker.call({ kind: 'half' }), ['result', '\ufffdx']);
    });
});

test('an answer over its limit is not sent', () =>
    using('get-price', { limit: 20 }, async worker => {
        assert.equal((await worker.call({ item: 'tea' }))[0], 'tooLarge');
    }));

test('a person is asked in the middle of a call', () =>
    using('ask-drink', {}, async worker => {
        assert.deepEqual(await worker.call({}, {}, ['water']), ['result', 'water']);
        assert.deepEqual(worker.frames[0], [1, 'ask', { question: 'Which?', choices: ['tea', 'water'], schema: null }]);
        assert.deepEqual(await worker.call({}, {}, [null]), ['result', 'none']);
    }));

test('choices are texts to the person, and a Map and a Set are data', async () => {
    const path = join(folder(), 'corners.mjs');
    writeFileSync(
        path,
        `import { defineTool } from 'toolroom';
        export default defineTool({
            name: 'corners', description: 'Answers.',
            parameters: { type: 'object', properties: { how: {} } },
            handler: async ({ how }, context) => {
                if (how === 'ask') return context.ask('How many?', { choices: [1, 2, 3] });
                if (how === 'progress') return context.progress('a lot');
                if (how === 'error') return { failed: new Error('no') };
                return { map: new Map([['a', new Set([1, 2])]]), none: {}, list: [new Set()] };
            },
        });`,
    );
    const worker = new Worker(path, 'corners', {});
    try {
        assert.deepEqual(await worker.call({ how: 'ask' }, {}, ['2']), ['result', 2]);
        assert.deepEqual(worker.frames[0][2].choices, ['1', '2', '3']);
        const [kind, body] = await worker.call({ how: 'progress' });
        assert.deepEqual([kind, body.type], ['error', 'TypeError']);
        assert.deepEqual(await worker.call({}), ['result', { map: { a: [1, 2] }, none: {}, list: [[]] }]);
        const [bad, why] = await worker.call({ how: 'error' });
        assert.equal(bad, 'badOutput');
        assert.match(why, /an Error is not JSON/);
    } finally {
        worker.process.kill();
        await worker.exit;
    }
});

test('what a call leaves behind is ended or told', () =>
    using('leave', {}, async worker => {
        const left = async what => (
            await worker.call({ what }),
            worker.frames.filter(([, kind]) => kind === 'left').map(([, , body]) => body)
        );
        assert.deepEqual(await left('nothing'), []);
        assert.deepEqual(await left('timer'), []);
        assert.deepEqual(await left('nothing'), []);
        // What is kept open on purpose says nothing by itself.
        assert.deepEqual(await left('server'), []);
        assert.deepEqual(await left('thread'), ['threads']);
        assert.deepEqual(await left('child'), ['processes']);
    }));

test('what a handler throws is told with its type', () =>
    using('leave', {}, async worker => {
        const [kind, body] = await worker.call({ what: 'throw' });
        assert.deepEqual([kind, body.type, body.message, body.fatal], ['error', 'RangeError', 'too far', false]);
        assert.match(body.traceback, /shop\.ts:\d+/);
        assert.deepEqual((await worker.call({ what: 'text' }))[1].message, 'a text');
        const [later, fatal] = await worker.call({ what: 'later' });
        assert.deepEqual([later, fatal.message, fatal.fatal], ['error', 'later', true]);
        assert.equal((await worker.exit)[0], 1);
    }));

const HEAD = "import { defineTool } from 'toolroom';\nimport { z } from 'zod';\n";
const BROKEN = {
    syntax: ['t.mjs', 'const = 1;\n', /Unexpected|SyntaxError/, 1],
    'a missing module': ['t.mjs', "import 'no-such-module';\n", /no-such-module/, undefined],
    'an unknown name': ['t.mjs', '\nunknown();\n', /unknown is not defined/, 2],
    'an enum': ['t.ts', 'enum A { B }\n', /erasableSyntaxOnly/, 1],
    'no tool': ['t.mjs', 'export default 3;\n', /exports no tool/, undefined],
    'a date': [
        't.mjs',
        `${HEAD}export default defineTool({ name: 'a-b', description: 'x', parameters: z.object({ d: z.date() }), handler: () => 1 });\n`,
        /z\.coerce\.date\(\).*at d/,
        3,
    ],
    'a field that is none': ['t.mjs', `${HEAD}\nexport default defineTool({ colour: 1 });\n`, /no 'colour'/, 4],
    'a name twice': [
        't.mjs',
        `${HEAD}const t = () => defineTool({ name: 'a-b', description: 'x', handler: () => 1 });\nexport const a = t(), b = t();\n`,
        /taken twice/,
        undefined,
    ],
};
for (const [name, [file, text, wanted, line]] of Object.entries(BROKEN)) {
    test(`a file with ${name} says where and why`, async () => {
        const path = join(fileURLToPath(new URL('.', import.meta.url)), '..', '..', '..', 'target', 'node-authoring');
        mkdirSync(path, { recursive: true });
        const script = join(mkdtempSync(join(path, 'broken-')), file);
        writeFileSync(script, text);
        const [kind, body] = await describe(script, { environment: fileURLToPath(new URL('..', import.meta.url)) });
        assert.equal(kind, 'error');
        assert.match(body.message, wanted);
        if (line !== undefined) assert.equal(body.line, line, JSON.stringify(body));
    });
}

test('a file loads as a module whatever package.json says, with its dependencies elsewhere', async () => {
    const at = folder();
    writeFileSync(join(at, 'package.json'), '{"type": "commonjs"}');
    const script = join(at, 'tool.ts');
    writeFileSync(
        script,
        `${HEAD}const one: number = 1;\nexport default defineTool({ name: 'a-b', description: 'x', parameters: z.object({}), handler: () => one });\n`,
    );
    const worker = new Worker(script, 'a-b', { environment: fileURLToPath(new URL('..', import.meta.url)) });
    assert.deepEqual(await worker.call(), ['result', 1]);
    assert.equal(await worker.stop(), 0);
});

test('a time to wait is bounded and a long stack keeps both ends', async () => {
    const path = join(folder(), 'wait.mjs');
    writeFileSync(
        path,
        `import { ToolError, defineTool } from 'toolroom';
        export default defineTool({
            name: 'wait', description: 'Refuses.',
            parameters: { type: 'object', properties: { wait: {}, fail: {} } },
            handler: ({ wait, fail }) => {
                if (fail) throw new Error('x'.repeat(40000));
                throw new ToolError('rate_limited', 'later', undefined, { retryAfter: Number(wait) });
            },
        });`,
    );
    const worker = new Worker(path, 'wait', {});
    try {
        for (const [wait, told] of [['1e300', 31536000000], ['Infinity', 31536000000], ['-5', 0], ['1.6', 2], ['NaN', undefined]]) {
            const [kind, body] = await worker.call({ wait });
            assert.deepEqual([kind, body.retryAfter], ['refusal', told], wait);
        }
        const [kind, body] = await worker.call({ fail: true });
        assert.equal(kind, 'error');
        assert.match(body.traceback, /^Error: x[^]*the middle was cut[^]*wait\.mjs/);
    } finally {
        worker.process.kill();
        await worker.exit;
    }
});
