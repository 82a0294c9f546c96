// Schemas of Zod against those that it gives itself: equal in what they accept, but for named exceptions.

import assert from 'node:assert/strict';
import test from 'node:test';

import addFormats from 'ajv-formats';
import Ajv from 'ajv/dist/2020.js';
import { z } from 'zod';

import { defineTool, InvalidInput } from '../../../crates/worker/node/toolroom/index.js';
import { schemaOf } from '../../../crates/worker/node/toolroom/schema.js';
import { call, outcome } from '../../../crates/worker/node/toolroom/testing.js';
import { values } from './generate.mjs';
import { CLOSED, CORPUS, DATES, REFUSED } from './schemas.mjs';

const VALUES = 400;
const loose = new Ajv({ strict: false, validateFormats: false });
const asserting = addFormats(new Ajv({ strict: false }));
const isObject = value => typeof value === 'object' && value !== null && !Array.isArray(value);

test('there are forty', () => assert.ok(Object.keys(CORPUS).length >= 40));

for (const [name, [schema, exception]] of Object.entries(CORPUS)) {
    test(`${name}: the schema accepts what Zod's accepts`, () => {
        const ours = schemaOf(schema, 'input');
        const theirs = schema.toJSONSchema({ io: 'input', target: 'draft-2020-12' });
        // Zod leaves the parameters themselves open; ours never are.
        const closed = { ...theirs, additionalProperties: false };
        const [mine, other] = [loose.compile(ours), loose.compile(closed)];
        const differ = [];
        let accepted = 0;
        let refused = 0;
        for (const value of [...values(ours, VALUES, name), ...values(theirs, VALUES, `${name}!`)].filter(isObject)) {
            const here = mine(value);
            here ? accepted++ : refused++;
            if (here !== other(value)) differ.push([value, here]);
        }
        if (Object.keys(ours.properties).length && name !== 'anything' && name !== 'json')
            assert.ok(accepted > 20 && refused > 20, `${accepted} ${refused}`);
        if (!exception) return assert.deepEqual(differ.slice(0, 3), []);
        assert.ok(differ.length, 'an exception that is none');
        if (exception === CLOSED)
            assert.ok(
                differ.every(([, here]) => !here),
                'closed records only refuse more',
            );
        // Formats are asserted instead of Zod's patterns, and Zod's own parse has the last word.
        if (exception === DATES) assert.ok(differ.every(([, here]) => here));
    });

    test(`${name}: the spelling is the one that every framework takes`, () => {
        for (const part of parts(schemaOf(schema, 'input'))) {
            assert.ok(
                !Array.isArray(part.type) && !('const' in part) && !('oneOf' in part) && !('title' in part),
                JSON.stringify(part),
            );
            if (part.type === 'object') assert.ok(part.properties);
            if (part.$ref) assert.ok(['recursive', 'json'].includes(name), part.$ref);
            for (const key of ['items', 'not', 'propertyNames']) assert.notEqual(typeof part[key], 'boolean');
        }
    });

    test(`${name}: with formats asserted, what Zod parses fits`, () => {
        const ours = schemaOf(schema, 'input');
        const fits = asserting.compile(ours);
        let parsed = 0;
        for (const value of [...values(ours, VALUES, `${name}?`)].filter(isObject)) {
            const taken = schema.safeParse(value);
            if (!taken.success) continue;
            parsed++;
            // What is closed, caught or left undefined by Zod alone.
            if (fits(value) || exception === CLOSED || name === 'caught' || hasExtra(ours, value)) continue;
            assert.fail(`${JSON.stringify(value)}: ${JSON.stringify(fits.errors)}`);
        }
        assert.ok(parsed > 10, String(parsed));
    });
}

function hasExtra(schema, value) {
    return Object.keys(value).some(name => !(name in schema.properties));
}

function* parts(schema) {
    if (!isObject(schema)) return;
    yield schema;
    for (const key of ['properties', '$defs']) for (const part of Object.values(schema[key] ?? {})) yield* parts(part);
    for (const key of ['anyOf', 'allOf', 'prefixItems']) for (const part of schema[key] ?? []) yield* parts(part);
    for (const key of ['items', 'additionalProperties', 'propertyNames', 'not']) yield* parts(schema[key]);
}

for (const [name, [schema, words]] of Object.entries(REFUSED)) {
    test(`${name}: refused, with what to write instead`, () => {
        assert.throws(
            () => schemaOf(schema, 'input'),
            error => error.name === 'DefinitionError' && error.message.includes(words),
        );
    });
}

test('a recursive schema that doubles at every level is refused in time', () => {
    let schema = z.object({ x: z.int() });
    for (let level = 0; level < 14; level++) schema = z.object({ left: schema, right: schema });
    const began = performance.now();
    assert.throws(() => schemaOf(schema, 'input'), { name: 'DefinitionError' });
    assert.ok(performance.now() - began < 2000);
});

test('an author calls a tool with its own checks', async () => {
    const tool = defineTool({
        name: 'half-number',
        description: 'Halves an even number.',
        parameters: z.object({
            number: z.int().refine(async value => value % 2 === 0, 'must be even'),
            unit: z.string().default('m'),
        }),
        handler: async ({ number, unit }, context) => {
            context.log('halving');
            return {
                data: { half: number / 2, unit, user: context.userId, said: await context.ask('Sure?') },
                agentHints: { reasoning: 'asked' },
            };
        },
    });
    assert.deepEqual(await call(tool, { number: 4 }), { half: 2, unit: 'm', said: null });
    await assert.rejects(
        call(tool, { number: 3 }),
        error => error instanceof InvalidInput && error.problems[0].pointer === '/number',
    );
    const seen = await outcome(tool, { number: 4 }, { userId: 'ann', answers: ['yes'] });
    assert.deepEqual(
        [seen.data.user, seen.data.said, seen.log, seen.asked, seen.agentHints],
        ['ann', 'yes', [{ level: 'info', text: 'halving' }], ['Sure?'], { reasoning: 'asked' }],
    );
});
