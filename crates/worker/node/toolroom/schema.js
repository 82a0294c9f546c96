// A tool's schema from Zod 4 or from plain JSON Schema, in the spelling that every framework takes.

import { DefinitionError } from './index.js';

const MAPS = ['properties', 'patternProperties', 'dependentSchemas'];
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const ONES = ['items', 'additionalProperties', 'propertyNames', 'not', 'contains', 'if', 'then', 'else'];
// The server asserts these, so that the patterns that Zod writes beside them are for nothing. Its other
// formats are its own; `time` would ask for an offset.
const ASSERTED = new Set(['date-time', 'date', 'email', 'uuid', 'ipv4', 'ipv6', 'uri', 'duration']);
const LOOK_AROUND = /\(\?(?:[=!]|<[=!])|\\[1-9]|\\k</;
const MOST = 4000;
const MOST_BYTES = 256 * 1024;

const ADVICE = {
    date: 'JSON has no dates; take z.coerce.date() or z.iso.datetime()',
    bigint: 'JSON has no big integers; take z.int() or a text',
    map: 'JSON has no maps; take z.record()',
    set: 'JSON has no sets; take z.array()',
    custom: 'a custom type says nothing of its JSON; take z.any() with a refinement, or a type of Zod',
    transform: 'a transform says nothing of its input; put a type before it with .pipe() or .transform()',
    undefined: 'JSON has no undefined; take .optional()',
};

export const isZod = schema => typeof schema?._zod === 'object';

// Whether an answer may be null. Data never is: such an answer stands as `result` in an object.
export function takesNull(output) {
    if (!isZod(output) || ['any', 'unknown'].includes(output._zod.def.type)) return false;
    try {
        return output.safeParse(null).success;
    } catch {
        return false;
    }
}

// The JSON Schema of parameters (`input`) or of an answer (`output`).
export function schemaOf(schema, io) {
    if (schema === undefined) return undefined;
    if (!isZod(schema)) return plain(schema);
    if (typeof schema.toJSONSchema !== 'function')
        throw new DefinitionError('this version of Zod exports no JSON Schema; take Zod 4.1 or later');
    const { $schema, ...exported } = schema.toJSONSchema({
        io,
        target: 'draft-2020-12',
        unrepresentable: 'any',
        override: override(io),
    });
    const made = adopt(exported, io);
    if (JSON.stringify(made).length > MOST_BYTES) throw new DefinitionError(`its schema has more than ${MOST_BYTES} bytes`);
    if (io === 'input' && made.type !== 'object') throw new DefinitionError('parameters must be z.object({...})');
    return made;
}

function plain(schema) {
    const values = typeof schema === 'object' && schema !== null ? Object.values(schema) : [];
    if (values.some(isZod)) throw new DefinitionError('parameters must be z.object({...}), or JSON Schema');
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
        throw new DefinitionError('a schema must be Zod or JSON Schema');
    return schema.type === 'object' && !schema.properties ? { ...schema, properties: {} } : schema;
}

// Refuses what Zod would let pass as "anything", and regular expressions whose meaning would change.
const override =
    io =>
    ({ zodSchema, jsonSchema, path }) => {
        const def = zodSchema._zod.def;
        const where = path?.length ? ` (at ${path.filter(part => part !== 'properties').join('.')})` : '';
        if (def.type === 'date' && (def.coerce || io === 'output')) {
            Object.assign(jsonSchema, { type: 'string', format: 'date-time' });
            return;
        }
        const refused =
            def.type in ADVICE &&
            Object.keys(jsonSchema).every(key => key === 'description' || key === 'title' || key === 'default');
        if (refused) throw new DefinitionError(ADVICE[def.type] + where);
        if (def.type === 'symbol' || def.type === 'function' || def.type === 'nan')
            throw new DefinitionError(`JSON has no ${def.type}${where}`);
        if (def.type === 'literal' && def.values.some(value => value === undefined || typeof value === 'bigint')) {
            throw new DefinitionError(`JSON has no such literal${where}`);
        }
        for (const check of def.checks ?? []) {
            const { format, pattern } = check._zod.def;
            if (format === 'regex' && /[ims]/.test(pattern.flags))
                throw new DefinitionError(`JSON Schema has no flags: write ${pattern} without them${where}`);
        }
    };

// References are written out but for those of types that hold themselves, objects are closed unless they say that they
// are open, constants are enums, and there are no titles, boolean schemas or lists of types.
function adopt(root, io) {
    const defs = root.$defs ?? {};
    const names = new Map();
    let count = 0;

    const visit = (part, within) => {
        if (++count > MOST) throw new DefinitionError(`its schema has more than ${MOST} parts`);
        if (part === true) return {};
        if (part === false) return { not: {} };
        if ('$ref' in part) return refer(part, within);
        const made = {};
        for (const [key, value] of Object.entries(part)) {
            if (MAPS.includes(key))
                made[key] = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, visit(one, within)]));
            else if (LISTS.includes(key)) made[key === 'oneOf' ? 'anyOf' : key] = value.map(one => visit(one, within));
            else if (ONES.includes(key)) {
                if (key === 'additionalProperties' && (value === false || isOpen(value))) {
                    if (value === false) made[key] = false;
                } else made[key] = visit(value, within);
            } else if (key === 'const') made.enum = [value];
            else if (!['title', 'id', '$defs'].includes(key)) made[key] = value;
        }
        return respelled(made, part, io);
    };

    const refer = (part, within) => {
        if (part.$ref === '#') return { $ref: '#' };
        const name = decodeURIComponent(part.$ref.slice(part.$ref.lastIndexOf('/') + 1));
        if (within.includes(name)) {
            names.set(name, names.get(name) ?? undefined);
            return { $ref: `#/$defs/${name}` };
        }
        const { $ref, ...beside } = part;
        const made = visit(defs[name] ?? {}, [...within, name]);
        if (!names.has(name)) return { ...made, ...beside };
        names.set(name, made);
        return { $ref: `#/$defs/${name}`, ...beside };
    };

    const made = visit(root, []);
    const kept = [...names].filter(([, schema]) => schema);
    return kept.length ? { ...made, $defs: Object.fromEntries(kept) } : made;
}

const isOpen = value => value === true || (typeof value === 'object' && Object.keys(value).length === 0);

function respelled(made, part, io) {
    if (Array.isArray(made.type)) {
        const { type, ...rest } = made;
        return { anyOf: type.map(one => (one === 'null' ? { type: one } : { type: one, ...rest })) };
    }
    if (made.enum?.includes(null) && made.enum.length > 1) {
        return { anyOf: [{ ...made, enum: made.enum.filter(value => value !== null) }, { type: 'null' }] };
    }
    if (made.type === 'object') {
        // Zod drops unknown fields where it is silent about them, and `looseObject` says that it is open.
        if (part.properties && part.additionalProperties === undefined && io === 'input') made.additionalProperties = false;
        made.properties ??= {};
    }
    if (made.type === 'integer') {
        if (made.minimum === Number.MIN_SAFE_INTEGER) delete made.minimum;
        if (made.maximum === Number.MAX_SAFE_INTEGER) delete made.maximum;
    }
    if (ASSERTED.has(made.format)) delete made.pattern;
    else if (typeof made.format === 'string') delete made.format;
    if (made.pattern && LOOK_AROUND.test(made.pattern)) {
        throw new DefinitionError(
            `the pattern ${made.pattern} looks around or back, which the server does not; take z.string().refine(...)`,
        );
    }
    if (made.allOf?.length === 1) {
        const {
            allOf: [only],
            ...rest
        } = made;
        return { ...only, ...rest };
    }
    return made;
}
