// The Vercel AI SDK on one profile: `ai_sdk.mjs URL`. Lists the tools as it makes its own of them, has a model that
// always asks for `create-task` call it, and prints both as JSON.
import { createMCPClient } from '@ai-sdk/mcp';
import { generateText, stepCountIs } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';

const client = await createMCPClient({ transport: { type: 'http', url: process.argv[2] } });
const tools = await client.tools();
const input = JSON.stringify({ title: 'Buy milk', priority: 'high', tags: ['shop'] });
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const offered = [];
const model = new MockLanguageModelV3({
  doGenerate: async (options) => {
    offered.push(...options.tools.map((tool) => tool.name));
    return {
      content: [{ type: 'tool-call', toolCallId: '1', toolName: 'create-task', input }],
      finishReason: { unified: 'tool-calls' },
      usage,
      warnings: [],
    };
  },
});
const { toolResults } = await generateText({ model, tools, prompt: 'Buy milk', stopWhen: stepCountIs(1) });
await client.close();
console.log(JSON.stringify({ tools: offered, answer: JSON.stringify(toolResults[0].output) }));
