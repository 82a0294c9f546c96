// One call of a tool: parameters through the author's own schema, the handler, and the frame of its answer.

import { frameOf } from './content.js';
import { InvalidInput } from './index.js';
import { isZod, takesNull } from './schema.js';

// What takes parameters and context, and gives a result or a promise of one.
export function callerOf(tool) {
    const { parameters, handler } = tool;
    if (!isZod(parameters)) return (params, context) => handler.call(tool, params, context);
    return (params, context) => {
        let parsed;
        try {
            parsed = parameters.safeParse(params);
        } catch (error) {
            // A refinement that is async.
            if (!/Async/.test(error?.constructor?.name ?? '')) throw error;
            return parameters.safeParseAsync(params).then(later => handler.call(tool, taken(later), context));
        }
        return handler.call(tool, taken(parsed), context);
    };
}

function taken(parsed) {
    if (parsed.success) return parsed.data;
    throw new InvalidInput(parsed.error.issues.slice(0, 20).map(({ path, message }) => ({ pointer: pointer(path), message })));
}

const pointer = path => path.map(part => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

// The kind and body of the frame for what a call threw; undefined for what is a failure of the script.
export function refusalOf(error) {
    if (error instanceof InvalidInput) return ['invalid', error.problems];
    if (!error?.isToolError) return undefined;
    const { code, message, details, retryAfter } = error;
    const more = details === undefined ? {} : { [Array.isArray(details) ? 'details' : 'data']: details };
    const wait = retryAfter === undefined ? NaN : Number(retryAfter);
    return ['refusal', { code, message, ...more, ...(Number.isNaN(wait) ? {} : { retryAfter: wholeWait(wait) }) }];
}

// Whole milliseconds from 0 to a year: a refusal must not fail for its own details.
const wholeWait = wait => Math.round(Math.min(Math.max(wait, 0), 365 * 24 * 3600 * 1000));

// What makes a frame of the tool's result.
export function framerOf(tool) {
    return takesNull(tool.output) ? result => ['result', { result: result ?? null }] : frameOf;
}
