/** A schema of Zod 4. */
export interface ZodLike<Output = unknown, Input = unknown> {
    _zod: { output: Output; input: Input };
}

export type JsonSchema = { [keyword: string]: unknown };
export type Params<S> = S extends { _zod: { output: infer Output } } ? Output : Record<string, any>;

/** Who calls, and ways to report and to ask. */
export interface ToolContext {
    readonly userId?: string;
    readonly sessionId?: string;
    readonly correlationId: string;
    readonly traceId: string;
    readonly agentId: string;
    readonly agentVersion: string;
    /** When the request was made, ISO 8601. */
    readonly timestamp: string;
    readonly timezone?: string;
    readonly idempotencyKey?: string;
    readonly metadata?: Record<string, unknown>;
    /** Tells the caller how far the call has come. */
    progress(progress: number, total?: number, message?: string): void;
    /** A line for the caller. */
    log(text: string, level?: 'debug' | 'info' | 'warning' | 'error'): void;
    /** Asks the person: their answer, or null if they would not give one. */
    ask(question: string, options?: { choices?: readonly (string | number | boolean)[]; schema?: JsonSchema }): Promise<any>;
}

export interface SuggestedAction {
    action: string;
    priority: 'critical' | 'high' | 'medium' | 'low';
    data?: Record<string, unknown>;
    description?: string;
    [field: string]: unknown;
}

/** Hints of the author's own; checked, and merged with the computed ones. */
export interface AgentHints {
    suggestedNextActions?: SuggestedAction[];
    relatedResources?: { type: string; id: string; label: string; relevance: number; [field: string]: unknown }[];
    confidence?: number;
    sourceQuality?: 'high' | 'medium' | 'low' | 'unknown';
    validityPeriod?: 'immediate' | 'short' | 'medium' | 'long' | 'indefinite';
    contextNeeded?: string[];
    assumptions?: string[];
    reasoning?: string;
    [field: string]: unknown;
}

/** Data with hints, and with content beside it. */
export interface ToolResult<Data> {
    data: Data;
    agentHints: AgentHints;
    content?: (Image | Audio | File | string)[];
}

export interface Example {
    description: string;
    params: Record<string, unknown>;
    expectedResult: unknown;
    varies?: Record<string, 'any' | 'string' | 'number' | 'id' | 'time'>;
}

export interface ToolSpec<S extends ZodLike | JsonSchema, Result> {
    /** Unique; verb-noun. */
    name: string;
    /** What the tool does, when to use it, what it returns. */
    description: string;
    parameters?: S;
    /** The schema of the answer's data. */
    output?: ZodLike | JsonSchema;
    handler: (params: Params<S>, context: ToolContext) => Result | Promise<Result>;
    version?: string;
    category?: 'query' | 'mutation' | 'analysis' | 'generation';
    permissions?: string[];
    tags?: string[];
    examples?: Example[];
    responseTime?: 'fast' | 'medium' | 'slow';
    cacheable?: boolean;
    /** Seconds. */
    cacheTTL?: number;
    idempotent?: boolean;
    destructive?: boolean;
    /** What a call does: its kind, what it is about, a receipt in words, what takes it back. */
    effect?: {
        kind: 'create' | 'update' | 'complete' | 'delete' | 'restore' | 'send' | 'run' | 'none';
        target?: Record<string, unknown>;
        question?: string[];
        receipt?: string[];
        undo?: { tool: string; arguments?: Record<string, unknown> };
        [field: string]: unknown;
    };
    /** Seconds. */
    timeout?: number;
    parallel?: boolean;
    rateLimit?: { maxCalls: number; windowMs: number };
    deprecated?: { since: string; replacement: string; removalDate: string };
    nextActions?: Record<string, unknown>[];
    env?: Record<string, string>;
    isolation?: 'shared' | 'user' | 'call';
    limits?: Record<string, number>;
    sandbox?: boolean | Record<string, unknown>;
}

export interface Tool<S extends ZodLike | JsonSchema = JsonSchema, Result = unknown> extends Readonly<ToolSpec<S, Result>> {}

export function defineTool<S extends ZodLike | JsonSchema, Result>(tool: ToolSpec<S, Result>): Tool<S, Result>;
export function isTool(value: unknown): value is Tool;

/** A refusal whose words are meant for the caller; it does not count as a failure of the tool. */
export class ToolError extends Error {
    /** `details`: field errors as a list, or an object of your own. `retryAfter`: milliseconds. */
    constructor(code: string, message?: string, details?: object, options?: { retryAfter?: number });
    readonly code: string;
    readonly details?: object;
    readonly retryAfter?: number;
}

export class DefinitionError extends Error {}

export class InvalidInput extends Error {
    readonly problems: { pointer: string; message: string }[];
}

declare class Media {
    /** Bytes, or a path. */
    constructor(source: string | URL | Uint8Array, options?: { mimeType?: string; name?: string });
}
export class Image extends Media {}
export class Audio extends Media {}
export class File extends Media {}
