import type { AgentHints, JsonSchema, Tool, ToolContext, ZodLike } from 'toolroom';

type Fields = Partial<Omit<ToolContext, 'progress' | 'log' | 'ask'>> & { answers?: unknown[] };

export interface Outcome {
    data: any;
    blocks: Record<string, unknown>[];
    agentHints?: AgentHints;
    progress: { progress: number; total?: number; message?: string }[];
    log: { level: string; text: string }[];
    asked: string[];
}

/** The data of the answer, after the checks that a call goes through. */
export function call<S extends ZodLike | JsonSchema>(tool: Tool<S, any>, params?: object, context?: Fields): Promise<any>;
export function outcome<S extends ZodLike | JsonSchema>(tool: Tool<S, any>, params?: object, context?: Fields): Promise<Outcome>;
