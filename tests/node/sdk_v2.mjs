// Uses a server through version 2 of the TypeScript SDK:
//   sdk_v2.mjs MODE http|sse URL
//   sdk_v2.mjs MODE stdio COMMAND [ARGUMENT ...]
// MODE is auto, legacy or a revision. Prints one JSON object of what the client saw.

import { Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { use } from './use.mjs';

const [mode, transport, ...target] = process.argv.slice(2);
const eras = { auto: 'auto', legacy: 'legacy' };
const transports = {
    http: () => new StreamableHTTPClientTransport(new URL(target[0])),
    sse: () => new SSEClientTransport(new URL(target[0])),
    stdio: () => new StdioClientTransport({ command: target[0], args: target.slice(1) })
};

let changed;
const change = new Promise(resolve => (changed = resolve));
const client = new Client(
    { name: 'sdk-v2', version: '1.0.0' },
    {
        capabilities: { elicitation: {} },
        versionNegotiation: { mode: eras[mode] ?? { pin: mode } },
        listChanged: { tools: { onChanged: () => changed() } }
    }
);
client.setRequestHandler('elicitation/create', async () => ({
    action: 'accept',
    content: { username: 'ada', email: 'ada@example.com' }
}));
await client.connect(transports[transport]());
await use(client, {
    protocol: client.getNegotiatedProtocolVersion(),
    change,
    call: (name, args, options) => client.callTool({ name, arguments: args }, options)
});
