// The tools of a file: found among its exports, and as entries of tools.json.

import { DefinitionError, isTool, placeOf } from './index.js';
import { schemaOf, takesNull } from './schema.js';

const CONFIG = ['env', 'isolation', 'limits', 'sandbox'];
const SPELLED = { parallel: 'parallel_capable' };

// Every tool that a module exports, by name: as default, by a name, or in a list.
export function toolsOf(module) {
    const found = new Map();
    for (const value of Object.values(module).flat()) {
        if (!isTool(value)) continue;
        const first = found.get(value.name);
        if (first && first !== value) throw new DefinitionError(`the name '${value.name}' is taken twice`);
        found.set(value.name, value);
    }
    return found;
}

export function definitions(module, path) {
    const found = toolsOf(module);
    if (!found.size) throw new DefinitionError('exports no tool; write: export default defineTool({...})');
    return { tools: [...found.values()].map(tool => ({ line: lineIn(placeOf(tool), path), entry: entryOf(tool, path) })) };
}

export function entryOf(tool, path) {
    const { name, description, parameters, output, handler, ...fields } = tool;
    const config = { entrypoint: name };
    const entry = { name, description, input_schema: undefined };
    try {
        entry.input_schema = schemaOf(parameters ?? { type: 'object', properties: {}, additionalProperties: false }, 'input');
        const answer = schemaOf(output, 'output');
        if (answer && Object.keys(answer).length) entry.output_schema = takesNull(output) ? inObject(answer) : answer;
    } catch (error) {
        const failed = new DefinitionError(`${name}: ${error.message}`);
        failed.line = lineIn(placeOf(tool), path);
        throw failed;
    }
    for (const [field, value] of Object.entries(fields)) {
        if (value === undefined) continue;
        if (CONFIG.includes(field)) config[field] = value;
        else entry[SPELLED[field] ?? field] = value;
    }
    return { ...entry, config };
}

const inObject = ({ $defs, ...result }) => ({
    type: 'object',
    properties: { result },
    required: ['result'],
    ...($defs && { $defs }),
});

// The line of the script that stands in a stack, or in what an error says of a file that does not parse.
export function lineIn(stack, path) {
    for (const line of String(stack).split('\n')) {
        const at = line.indexOf(path);
        const found = at < 0 ? null : /^:(\d+)/.exec(line.slice(at + path.length));
        if (found) return Number(found[1]);
    }
    return null;
}
