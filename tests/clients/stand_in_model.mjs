// A model that is not one, in the four forms that clients speak: it asks for `create-task` once, then says that it is
// done. Prints its address. So a client is tried with the real program, and without an account.
import { createServer } from 'node:http';

const ARGUMENTS = { title: process.argv[2] };
const isOurs = (name) => /create[-_]task$/.test(name ?? '');
const event = (data, name) => `${name ? `event: ${name}\n` : ''}data: ${JSON.stringify(data)}\n\n`;
const ID = 'stand-in-call';
const called = (text) => text.includes(ID);

function anthropic(body) {
    const tool = (body.tools ?? []).map((one) => one.name).find(isOurs);
    const call = tool && !called(JSON.stringify(body.messages));
    const block = call
        ? { type: 'tool_use', id: ID, name: tool, input: {} }
        : { type: 'text', text: '' };
    const delta = call
        ? { type: 'input_json_delta', partial_json: JSON.stringify(ARGUMENTS) }
        : { type: 'text_delta', text: 'done' };
    const message = {
        id: 'msg_1', type: 'message', role: 'assistant', model: body.model, content: [],
        stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 },
    };
    const stop = call ? 'tool_use' : 'end_turn';
    if (!body.stream) {
        const content = [call ? { ...block, input: ARGUMENTS } : { type: 'text', text: 'done' }];
        return JSON.stringify({ ...message, content, stop_reason: stop });
    }
    return [
        { type: 'message_start', message },
        { type: 'content_block_start', index: 0, content_block: block },
        { type: 'content_block_delta', index: 0, delta },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: 1 } },
        { type: 'message_stop' },
    ].map((one) => event(one, one.type)).join('');
}

function responses(body) {
    const spaces = (body.tools ?? []).flatMap((one) => (one.tools ?? [one]).map((tool) => [one, tool]));
    const [space, tool] = spaces.find(([, one]) => isOurs(one.name)) ?? [];
    const call = tool && !called(JSON.stringify(body.input));
    const item = call
        ? {
            type: 'function_call', id: 'fc_1', call_id: ID, name: tool.name,
            ...(space === tool ? {} : { namespace: space.name }), arguments: JSON.stringify(ARGUMENTS),
        }
        : { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'done' }] };
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
    return [
        { type: 'response.created', response: { id: 'resp_1' } },
        { type: 'response.output_item.done', output_index: 0, item },
        { type: 'response.completed', response: { id: 'resp_1', usage } },
    ].map((one) => event(one, one.type)).join('');
}

function completions(body) {
    const tool = (body.tools ?? []).map((one) => one.function.name).find(isOurs);
    const call = tool && !called(JSON.stringify(body.messages));
    const fun = { name: tool, arguments: JSON.stringify(ARGUMENTS) };
    const delta = call
        ? { role: 'assistant', tool_calls: [{ index: 0, id: ID, type: 'function', function: fun }] }
        : { role: 'assistant', content: 'done' };
    const chunk = (delta, reason) => event({
        id: '1', object: 'chat.completion.chunk', model: body.model,
        choices: [{ index: 0, delta, finish_reason: reason }],
    });
    return chunk(delta, null) + chunk({}, call ? 'tool_calls' : 'stop') + 'data: [DONE]\n\n';
}

function gemini(body, path) {
    const tools = (body.tools ?? []).flatMap((one) => one.functionDeclarations ?? []).map((one) => one.name);
    const tool = tools.find(isOurs);
    const call = tool && !body.contents.some((one) => one.parts.some((part) => part.functionResponse));
    const part = call ? { functionCall: { name: tool, args: ARGUMENTS } } : { text: 'done' };
    const answer = {
        candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    };
    return path.includes('stream') ? event(answer) : JSON.stringify(answer);
}

const FORMS = [
    [/count_tokens/, () => '{"input_tokens": 1}'],
    [/\/messages/, anthropic],
    [/\/responses/, responses],
    [/\/chat\/completions/, completions],
    [/GenerateContent/i, gemini],
];

const server = createServer((request, response) => {
    const parts = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
        const form = FORMS.find(([path]) => path.test(request.url))?.[1];
        const text = form && parts.length ? form(JSON.parse(Buffer.concat(parts)), request.url) : '{"data": [], "models": []}';
        const type = /^(data|event):/.test(text) ? 'text/event-stream' : 'application/json';
        response.writeHead(200, { 'content-type': type }).end(text);
    });
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
