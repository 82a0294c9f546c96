// What a tool file imports: defineTool, errors, and what a handler may return besides data.

export { Audio, File, Image } from './content.js';

// A tool; `isTool` knows one from another copy of this module too.
const MARK = Symbol.for('toolroom.tool');

const FIELDS = new Set([
    'name',
    'description',
    'version',
    'category',
    'permissions',
    'tags',
    'examples',
    'cacheable',
    'cacheTTL',
    'idempotent',
    'destructive',
    'effect',
    'timeout',
    'responseTime',
    'rateLimit',
    'deprecated',
    'nextActions',
    'parallel',
    'parameters',
    'output',
    'handler',
    'env',
    'isolation',
    'limits',
    'sandbox',
]);

export function defineTool(tool) {
    const unknown = Object.keys(tool).find(name => !FIELDS.has(name));
    if (unknown) throw new DefinitionError(`defineTool has no '${unknown}'; it has ${[...FIELDS].join(', ')}`);
    for (const [field, type] of [
        ['name', 'string'],
        ['description', 'string'],
        ['handler', 'function'],
    ]) {
        if (typeof tool[field] !== type) throw new DefinitionError(`defineTool: '${field}' must be a ${type}`);
    }
    // Where it stands is asked for only when the file is read; until then nothing is rendered.
    return Object.freeze({ ...tool, [MARK]: new Error('defined here') });
}

export const isTool = value => typeof value === 'object' && value !== null && MARK in value;

export const placeOf = tool => tool[MARK].stack;

// A refusal whose words are meant for the caller; it does not count as a failure of the tool. `retryAfter` is in
// milliseconds, as everywhere in the contract.
export class ToolError extends Error {
    constructor(code, message, details, { retryAfter } = {}) {
        super(message ?? code);
        this.name = 'ToolError';
        this.code = message === undefined ? 'invalid_input' : String(code);
        this.details = details;
        this.retryAfter = retryAfter;
    }

    get isToolError() {
        return true;
    }
}

// A tool that cannot be published as it is written.
export class DefinitionError extends Error {
    constructor(message) {
        super(message);
        this.name = 'DefinitionError';
    }
}

// A value that fits the schema, and that the author's own refinements refuse.
export class InvalidInput extends Error {
    constructor(problems) {
        super(problems.map(({ pointer, message }) => `${pointer || '/'}: ${message}`).join('; '));
        this.name = 'InvalidInput';
        this.problems = problems;
    }
}
