// Values for a schema: some that fit, some that nearly do. The same for the same seed.

const POOL = [
    null,
    true,
    false,
    0,
    1,
    -1,
    2,
    2.5,
    0.5,
    1e9,
    3e9,
    '',
    'a',
    'x',
    'small',
    's',
    'abc',
    'zebra',
    '12',
    'a@b.example',
    'not@',
    '2024-02-29',
    '2023-02-29',
    '2024-02-29T10:00:00Z',
    '2024-02-29T10:00:00+01:00',
    '10:00:00',
    '25:00:00',
    '123e4567-e89b-12d3-a456-426614174000',
    [],
    [1],
    ['a'],
    [1, 'a'],
    ['a', 1, 2],
    [[1]],
    {},
    { x: 1 },
    { x: 1, y: 2 },
    { x: 1, z: 2 },
    { kind: 'cat', lives: 9 },
    { kind: 'dog', name: 'Rex' },
    { b: 1 },
    { b: 1, c: 'd' },
    { red: 1 },
    { name: 'n', below: [] },
    { name: 'n', below: [{ name: 'm', below: [] }] },
];
const FORMATS = {
    'date-time': '2024-05-06T07:08:09Z',
    date: '2024-05-06',
    email: 'a@b.example',
    uuid: '123e4567-e89b-12d3-a456-426614174000',
};
const TEXTS = ['abc', 'zebra', '10:00:00', 'a', 'x', 'longer than most limits allow', 'ABC', ''];

export function* values(schema, count, seed) {
    const random = numbers(seed);
    for (let at = 0; at < count; at++) {
        let value = fitting(schema, random, schema, 0);
        for (let times = pick([0, 0, 1, 1, 2], random); times > 0; times--) value = changed(value, random);
        yield value;
    }
}

function numbers(text) {
    let state = [...text].reduce((sum, letter) => (Math.imul(sum, 31) + letter.charCodeAt(0)) | 0, 7);
    return () => {
        state = (state + 0x6d2b79f5) | 0;
        let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
        mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
        return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    };
}

const pick = (list, random) => list[Math.floor(random() * list.length)];

function fitting(schema, random, root, depth) {
    if (typeof schema !== 'object' || Object.keys(schema).length === 0 || depth > 8) return pick(POOL, random);
    if (schema.$ref === '#') return fitting(root, random, root, depth + 1);
    if (schema.$ref) return fitting(root.$defs[schema.$ref.split('/').pop()], random, root, depth + 1);
    if ('const' in schema) return schema.const;
    if (schema.enum) return pick(schema.enum, random);
    const union = schema.anyOf ?? schema.oneOf ?? (schema.type ? undefined : schema.allOf);
    if (union) return fitting(pick(union, random), random, root, depth + 1);
    if (schema.type === 'object') return anObject(schema, random, root, depth);
    if (schema.type === 'array') {
        const places = schema.prefixItems ?? [];
        const count =
            schema.items === false ? 0 : depth > 4 ? 0 : Math.floor(random() * 3) + (schema.minItems ?? 0) - places.length;
        const rest = Array.from({ length: Math.max(0, count) }, () => fitting(schema.items ?? {}, random, root, depth + 1));
        return [...places.map(part => fitting(part, random, root, depth + 1)), ...rest];
    }
    if (schema.type === 'string') {
        if (FORMATS[schema.format] && random() < 0.8) return FORMATS[schema.format];
        return pick(TEXTS, random)
            .slice(0, schema.maxLength)
            .padEnd(schema.minLength ?? 0, 'x');
    }
    if (schema.type === 'number' || schema.type === 'integer') {
        const low = schema.minimum ?? schema.exclusiveMinimum ?? -3;
        const high = Math.min(schema.maximum ?? schema.exclusiveMaximum ?? low + 9, low + 9);
        const value = Math.max(low, -5) + random() * (high - low);
        const step = schema.multipleOf ?? 1;
        return schema.type === 'integer' ? Math.round(value / step) * step : value;
    }
    if (schema.type === 'null') return null;
    return schema.type === 'boolean' ? random() < 0.5 : pick(POOL, random);
}

function anObject(schema, random, root, depth) {
    const made = {};
    for (const [name, part] of Object.entries(schema.properties ?? {})) {
        if (schema.required?.includes(name) || (random() < 0.6 && depth < 5)) made[name] = fitting(part, random, root, depth + 1);
    }
    if (typeof schema.additionalProperties === 'object') {
        const names = schema.propertyNames?.enum ?? ['red', 'k', '1'];
        for (let count = Math.floor(random() * 3); count > 0 && depth < 5; count--)
            made[pick(names, random)] = fitting(schema.additionalProperties, random, root, depth + 1);
    }
    return made;
}

function changed(value, random) {
    if (Array.isArray(value) && value.length && random() < 0.7) {
        const at = Math.floor(random() * value.length);
        return value.toSpliced(at, 1, changed(value[at], random), ...(random() < 0.2 ? [value[at]] : []));
    }
    if (value && typeof value === 'object' && !Array.isArray(value) && Object.keys(value).length && random() < 0.8) {
        const name = pick(Object.keys(value).sort(), random);
        const chance = random();
        const { [name]: _, ...rest } = value;
        if (chance < 0.15) return rest;
        if (chance < 0.3) return { ...value, [pick(['extra', 'x', 'z'], random)]: pick(POOL, random) };
        return { ...value, [name]: changed(value[name], random) };
    }
    return pick(POOL, random);
}
