// Uses a server through version 1 of the TypeScript SDK:
//   sdk_v1.mjs http|sse URL
//   sdk_v1.mjs stdio COMMAND [ARGUMENT ...]
// Prints one JSON object of what the client saw.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';

import { use } from './use.mjs';

const [transport, ...target] = process.argv.slice(2);
const transports = {
    http: () => new StreamableHTTPClientTransport(new URL(target[0])),
    sse: () => new SSEClientTransport(new URL(target[0])),
    stdio: () => new StdioClientTransport({ command: target[0], args: target.slice(1) })
};

const client = new Client({ name: 'sdk-v1', version: '1.0.0' }, { capabilities: { elicitation: {} } });
const change = new Promise(resolve =>
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve())
);
client.setRequestHandler(ElicitRequestSchema, async () => ({
    action: 'accept',
    content: { username: 'ada', email: 'ada@example.com' }
}));
const line = transports[transport]();
let protocol;
const setProtocolVersion = line.setProtocolVersion?.bind(line);
line.setProtocolVersion = version => {
    protocol = version;
    setProtocolVersion?.(version);
};
await client.connect(line);
await use(client, {
    protocol,
    change,
    call: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options)
});
