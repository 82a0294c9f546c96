// Drives a warm worker as the server does: frames over two pipes.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const WORKER = fileURLToPath(new URL('../../../crates/worker/node/toolroom/worker.js', import.meta.url));
const ENDINGS = new Set(['result', 'error', 'badOutput', 'tooLarge', 'refusal', 'invalid', 'content', 'definitions']);

export class Worker {
    id = 0;
    frames = [];
    #held = Buffer.alloc(0);

    constructor(path, entrypoint, { limit = 1 << 20, environment = '', cache = '', mode = '', cwd } = {}) {
        const given = [WORKER, path, entrypoint, String(limit), environment, cache, mode];
        this.process = spawn(process.execPath, given, { stdio: ['ignore', 'inherit', 'inherit', 'pipe', 'pipe'], cwd });
        this.input = this.process.stdio[3];
        this.exit = once(this.process, 'exit');
        this.messages = this.read(this.process.stdio[4]);
    }

    async *read(pipe) {
        for await (const chunk of pipe) {
            this.#held = Buffer.concat([this.#held, chunk]);
            while (this.#held.length >= 4 && this.#held.length >= 4 + this.#held.readUInt32BE(0)) {
                const size = this.#held.readUInt32BE(0);
                yield JSON.parse(this.#held.toString('utf8', 4, 4 + size));
                this.#held = this.#held.subarray(4 + size);
            }
        }
    }

    send(value) {
        const text = JSON.stringify(value);
        const frame = Buffer.alloc(4 + Buffer.byteLength(text));
        frame.writeUInt32BE(frame.length - 4);
        frame.write(text, 4);
        this.input.write(frame);
    }

    // The kind and body of the frame that ends the call.
    async call(params = {}, context = {}, answers = []) {
        this.send([++this.id, params, context]);
        return this.ending(answers);
    }

    async ending(answers = []) {
        this.frames = [];
        for (;;) {
            const { value, done } = await this.messages.next();
            if (done) return ['ended'];
            const [[kind, body]] = Object.entries(value[1]);
            this.frames.push([value[0], kind, body]);
            if (kind === 'ask') this.send([this.id, { answer: answers.shift() ?? null }]);
            if (ENDINGS.has(kind)) return [kind, body];
        }
    }

    async stop() {
        this.input.end();
        return (await this.exit)[0];
    }
}

// What reading a file reports.
export async function describe(path, options = {}) {
    const worker = new Worker(path, '', { ...options, mode: 'describe' });
    const found = await worker.ending();
    await worker.exit;
    return found;
}
