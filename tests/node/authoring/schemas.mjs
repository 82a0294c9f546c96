// The corpus: 40 schemas as authors write them, with what differs from Zod's own export, if anything does.

import { z } from 'zod';

const Category = z.object({
    name: z.string(),
    get below() {
        return z.array(Category);
    },
});
const Json = z.lazy(() => z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(Json), z.record(z.string(), Json)]));
const UserId = z.string().min(1).max(36).brand('UserId');
const Point = z.object({ x: z.number(), y: z.number().default(0) });

export const CLOSED = 'closed records';
export const DATES = 'dates';

export const CORPUS = {
    empty: [z.object({})],
    text: [z.object({ a: z.string() })],
    lengths: [z.object({ a: z.string().min(2).max(5) })],
    number: [z.object({ a: z.number() })],
    bounds: [z.object({ a: z.number().min(0).max(10), b: z.number().gt(0).lt(1).optional() })],
    integer: [z.object({ a: z.int() })],
    positive: [z.object({ a: z.int().positive().multipleOf(3) })],
    int32: [z.object({ a: z.int32() })],
    truth: [z.object({ a: z.boolean() })],
    nothing: [z.object({ a: z.null() })],
    anything: [z.object({ a: z.any(), b: z.unknown() })],
    optional: [z.object({ a: z.string().optional() })],
    nullable: [z.object({ a: z.string().nullable() })],
    nullish: [z.object({ a: z.int().nullish() })],
    fallback: [z.object({ a: z.int().default(3), b: z.enum(['x', 'y']).default('x') })],
    prefault: [z.object({ a: z.string().prefault('abc') })],
    caught: [z.object({ a: z.number().catch(1) })],
    enumeration: [z.object({ a: z.enum(['small', 'large']) })],
    native: [z.object({ a: z.enum({ Small: 's', Large: 'l' }) })],
    literal: [z.object({ a: z.literal('x') })],
    literals: [z.object({ a: z.literal(['x', 1, true]) })],
    literal_null: [z.object({ a: z.literal(['x', null]) })],
    union: [z.object({ a: z.union([z.string(), z.int()]) })],
    tagged: [
        z.object({
            a: z.discriminatedUnion('kind', [
                z.object({ kind: z.literal('cat'), lives: z.int() }),
                z.object({ kind: z.literal('dog'), name: z.string() }),
            ]),
        }),
        CLOSED,
    ],
    array: [z.object({ a: z.array(z.string()).min(1).max(3) })],
    nested: [z.object({ a: z.array(z.array(z.int())) })],
    tuple: [z.object({ a: z.tuple([z.string(), z.int()]) })],
    tuple_rest: [z.object({ a: z.tuple([z.string()], z.int()) })],
    record: [z.object({ a: z.record(z.string(), z.int()) })],
    record_enum: [z.object({ a: z.partialRecord(z.enum(['red', 'blue']), z.int()) })],
    record_keys: [z.object({ a: z.record(z.string().regex(/^[a-z]+$/), z.number()) })],
    object: [z.object({ a: Point }), CLOSED],
    reused: [z.object({ a: Point, b: Point.optional() }), CLOSED],
    partial: [z.object({ a: Point.partial() }), CLOSED],
    extended: [z.object({ a: Point.extend({ label: z.string() }) }), CLOSED],
    strict: [z.object({ a: z.strictObject({ b: z.int() }) })],
    loose: [z.object({ a: z.looseObject({ b: z.int() }) })],
    catchall: [z.object({ a: z.object({ b: z.int() }).catchall(z.string()) })],
    recursive: [z.object({ a: Category }), CLOSED],
    json: [z.object({ a: Json })],
    branded: [z.object({ a: UserId })],
    pattern: [z.object({ a: z.string().regex(/^[a-z]+$/) })],
    prefix: [z.object({ a: z.string().startsWith('ab').endsWith('c') })],
    email: [z.object({ a: z.email() }), DATES],
    uuid: [z.object({ a: z.uuid() }), DATES],
    datetime: [z.object({ a: z.iso.datetime() }), DATES],
    date: [z.object({ a: z.iso.date() }), DATES],
    time: [z.object({ a: z.iso.time() })],
    refined: [z.object({ a: z.int().refine(value => value % 2 === 0, 'must be even') })],
    transformed: [z.object({ a: z.string().transform(Number) })],
    described: [
        z.object({
            a: z
                .string()
                .describe('a text')
                .meta({ examples: ['x'] }),
        }),
    ],
    named: [z.object({ a: Point.meta({ id: 'Point' }) }), CLOSED],
};

// What no JSON Schema can say, each with a part of what is said of it.
export const REFUSED = {
    date: [z.object({ a: z.date() }), 'z.coerce.date()'],
    bigint: [z.object({ a: z.bigint() }), 'z.int()'],
    map: [z.object({ a: z.map(z.string(), z.int()) }), 'z.record()'],
    set: [z.object({ a: z.set(z.string()) }), 'z.array()'],
    custom: [z.object({ a: z.custom(() => true) }), 'custom'],
    instance: [z.object({ a: z.instanceof(Date) }), 'custom'],
    symbol: [z.object({ a: z.symbol() }), 'symbol'],
    nan: [z.object({ a: z.nan() }), 'nan'],
    flags: [z.object({ a: z.string().regex(/^a/i) }), 'flags'],
    look: [z.object({ a: z.string().regex(/^(?=a)b/) }), 'looks around'],
    big: [z.object({ a: z.literal(3n) }), 'literal'],
    'not an object': [z.string(), 'z.object'],
    shape: [{ a: z.string() }, 'z.object'],
    nonsense: [3, 'Zod or JSON Schema'],
    huge: [z.object(Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`f${at}`, z.string()]))), 'more than 4000'],
};
