// Calls of tools by hand.
import { exchange, Problem } from './api.js';

/**
 * Calls a tool. A refusal is an answer too: its envelope says why. `text` is the answer as it was written.
 * @param {string} tool @param {string} params JSON @param {Record<string, unknown>} [context]
 */
export const callTool = (tool, params, context = {}) =>
  exchange('POST', `/tools/${encodeURIComponent(tool)}/call`, {
    text: `{"params":${params},"context":${JSON.stringify({ agentId: 'toolroom-console', timezone: Intl.DateTimeFormat().resolvedOptions().timeZone, ...context })}}`,
  });

/**
 * Calls a tool for its data; a refusal is an error.
 * @param {string} tool @param {Record<string, unknown>} params @returns {Promise<any>}
 */
export async function run(tool, params) {
  const answer = await callTool(tool, JSON.stringify(params));
  if (answer.status === 202 || answer.value?.error || !answer.ok) throw new Problem(answer.status, answer.value);
  return answer.value.data;
}

/** @param {string} text */
const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

/** The same call for a terminal. @param {string} tool @param {string} params JSON */
export const asCurl = (tool, params) => `curl -s ${quoted(`${location.origin}/api/v1/tools/${encodeURIComponent(tool)}/call`)} -H "X-API-Key: $KEY" -H 'Content-Type: application/json' -d ${quoted(`{"params":${params}}`)}`;

/** @param {string} tool @param {string} params JSON */
export const asCommand = (tool, params) => `toolroom call ${quoted(tool)} ${quoted(params)}`;
