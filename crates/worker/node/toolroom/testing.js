// For an author's tests: a call with the author's schema and what the worker makes of the answer.

import { callerOf, framerOf } from './calling.js';
import { textOf } from './content.js';
import { DefinitionError, isTool } from './index.js';
import { schemaOf } from './schema.js';

// The data of the answer. Rejects with InvalidInput, ToolError, or what the handler throws.
export async function call(tool, params = {}, context = {}) {
    return (await outcome(tool, params, context)).data;
}

// The same, with everything else that the call gave. `answers` are a person's, to context.ask.
export async function outcome(tool, params = {}, { answers = [], ...fields } = {}) {
    if (!isTool(tool)) throw new DefinitionError('call takes what defineTool gave');
    // A schema that cannot be published fails in the test, not at `tools add`.
    schemaOf(tool.parameters, 'input');
    const seen = { progress: [], log: [], asked: [] };
    const left = [...answers];
    const context = {
        ...fields,
        progress: (progress, total, message) => void seen.progress.push({ progress, total, message }),
        log: (text, level = 'info') => void seen.log.push({ level, text: String(text) }),
        ask: async (question, { choices } = {}) => {
            seen.asked.push(question);
            const answer = left.shift() ?? null;
            // The person chooses among texts, and the tool gets what it gave.
            return choices?.find(choice => answer !== null && String(choice) === String(answer)) ?? answer;
        },
    };
    const [, body] = framerOf(tool)(await callerOf(tool)(structuredClone(params), context));
    const whole = body !== null && typeof body === 'object' && 'blocks' in body ? body : { data: body, blocks: [] };
    return { ...seen, ...JSON.parse(textOf(whole)) };
}
