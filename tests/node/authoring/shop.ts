// Tools as an author writes them, for the tests of a worker.

import { createServer } from 'node:net';
import { Worker } from 'node:worker_threads';

import { z } from 'zod';
import { File, Image, ToolError, defineTool, type ToolContext } from 'toolroom';

const ItemId = z.string().max(40).brand<'ItemId'>();
const servers: unknown[] = [];
const PRICES: Record<string, number> = { tea: 3.5, coffee: 4 };

export default defineTool({
    name: 'get-price',
    description: 'Tells what an item costs. Use it when someone asks for a price. Returns the price.',
    category: 'query',
    permissions: ['shop:read'],
    tags: ['shop'],
    cacheable: true,
    cacheTTL: 60,
    parameters: z.object({
        item: ItemId.describe("the item's name"),
        size: z.enum(['small', 'large']).default('small'),
        when: z.coerce.date().optional(),
    }),
    output: z.object({ price: z.number(), when: z.string().nullable() }),
    handler: async ({ item, size, when }, context: ToolContext) => {
        context.progress(1, 2, 'looking');
        console.log(`found ${item}`);
        if (!(item in PRICES))
            throw new ToolError('not_found', `No item '${item}'`, { known: Object.keys(PRICES) }, { retryAfter: 1500 });
        return {
            data: { price: PRICES[item] * (size === 'large' ? 2 : 1), when: when?.toISOString() ?? null },
            agentHints: { reasoning: 'asked' },
        };
    },
});

export const even = defineTool({
    name: 'half-number',
    description: 'Halves an even number.',
    parameters: z
        .object({ number: z.int() })
        .refine(({ number }) => number % 2 === 0, { message: 'must be even', path: ['number'] }),
    handler: ({ number }) => number / 2,
});

export const draw = defineTool({
    name: 'draw',
    description: 'Draws a picture.',
    parameters: { type: 'object', properties: { kind: { type: 'string' } }, additionalProperties: false },
    handler: ({ kind }) => {
        const png = Buffer.concat([Buffer.from('\x89PNG', 'latin1'), Buffer.alloc(kind === 'large' ? 100_000 : 10)]);
        if (kind === 'wrong') return 3n as unknown as number;
        if (kind === 'both')
            return { data: { drawn: 1 }, content: [new Image(png), new File(Buffer.from('a,b'), { name: 't.csv' })] };
        if (kind === 'nothing') return undefined;
        if (kind === 'half') return '\ud800x';
        return new Image(png);
    },
});

export const others = [
    defineTool({
        name: 'ask-drink',
        description: 'Asks the person which drink they want.',
        handler: async (_, context) => (await context.ask('Which?', { choices: ['tea', 'water'] })) ?? 'none',
    }),
    defineTool({
        name: 'find-item',
        description: 'Finds an item by a part of its name.',
        parameters: z.object({ text: z.string() }),
        output: z.string().nullable(),
        handler: ({ text }) => Object.keys(PRICES).find(name => name.includes(text)) ?? null,
    }),
    defineTool({
        name: 'leave',
        description: 'Leaves something behind.',
        parameters: z.object({ what: z.string() }),
        handler: async ({ what }) => {
            if (what === 'timer') setInterval(() => console.log('still here'), 5);
            if (what === 'server') await new Promise<void>(done => servers.push(createServer().listen(0, '127.0.0.1', done)));
            if (what === 'thread') new Worker('setInterval(() => {}, 100)', { eval: true });
            if (what === 'child')
                (globalThis as any).child = (await import('node:child_process')).spawn('sleep', ['60'], { stdio: 'ignore' });
            if (what === 'throw') throw new RangeError('too far');
            if (what === 'text') throw 'a text';
            if (what === 'later')
                (setImmediate(() => {
                    throw new Error('later');
                }),
                    await new Promise(() => {}));
            return 'done';
        },
    }),
];
