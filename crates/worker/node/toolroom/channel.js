// The two pipes to the parent, and the context through which a handler speaks on them.

import { AsyncLocalStorage } from 'node:async_hooks';
import { Console } from 'node:console';
import { createReadStream, writeSync } from 'node:fs';
import { Writable } from 'node:stream';

import { textOf } from './content.js';

const LINE_LIMIT = 8192;

export class Channel {
    call = 0;
    // The call that the running code works for: what outlives its call speaks for none.
    store = new AsyncLocalStorage();
    #waiting = [];
    #rests = new Map();

    constructor(source, drain, limit) {
        Object.assign(this, { source, drain, limit });
        this.#capture('stdout', line => this.send('log', { level: 'info', text: line }, this.store.getStore() ?? 0));
        this.#capture('stderr', line => this.send('stderr', line, this.store.getStore() ?? 0));
        // Theirs prints without the streams that are captured here.
        if (process.versions.bun || process.versions.deno)
            globalThis.console = new Console({ stdout: process.stdout, stderr: process.stderr });
    }

    // Event-driven, so that timers and sockets of the tool go on between calls.
    listen(net, take, end) {
        let held = Buffer.alloc(0);
        // Bun takes no descriptor for a socket.
        const socket = process.versions.bun
            ? createReadStream('', { fd: this.source })
            : new net.Socket({ fd: this.source, readable: true, writable: false });
        socket.on('data', chunk => {
            held = held.length ? Buffer.concat([held, chunk]) : chunk;
            while (held.length >= 4) {
                const size = held.readUInt32BE(0);
                if (held.length < 4 + size) return;
                const text = held.utf8Slice(4, 4 + size);
                held = held.subarray(4 + size);
                take(JSON.parse(text));
            }
        });
        socket.on('end', end);
        socket.on('error', end);
    }

    send(kind, body, call = this.call) {
        let text = textOf([call, { [kind]: body }]);
        if (body === undefined || typeof body === 'function' || typeof body === 'symbol')
            throw new TypeError(`a ${typeof body} is not JSON`);
        if (text.includes('\\ud')) text = JSON.stringify([call, { [kind]: body }], wellFormed);
        const size = Buffer.byteLength(text);
        if ((kind === 'result' || kind === 'content') && size > this.limit) return this.send('tooLarge', size, call);
        const frame = Buffer.allocUnsafe(4 + size);
        frame.writeUInt32BE(size, 0);
        frame.utf8Write(text, 4, size);
        for (let at = 0; at < frame.length;) {
            try {
                at += writeSync(this.drain, frame, at);
            } catch (error) {
                if (error.code !== 'EAGAIN') process.exit(1);
                Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
            }
        }
    }

    ask(call, asked) {
        if (call !== this.call) throw new Error('the call is over: nobody can be asked');
        return new Promise(resolve => {
            this.#waiting.push(resolve);
            this.send('ask', asked, call);
        });
    }

    answered(value) {
        this.#waiting.shift()?.(value);
    }

    // Lines without an end, when the call ends.
    flush() {
        for (const [stream, { rest, say }] of this.#rests) {
            if (rest) say(rest);
            this.#rests.set(stream, { rest: '', say });
        }
        this.#waiting.length = 0;
    }

    // Made when it is first used: a stream of Node's own takes a millisecond.
    #capture(name, tell) {
        let stream;
        const say = line => tell(line.slice(0, LINE_LIMIT).toWellFormed());
        const write = (chunk, _, done) => {
            const lines = ((this.#rests.get(name)?.rest ?? '') + chunk).split('\n');
            this.#rests.set(name, { rest: lines.pop().slice(-LINE_LIMIT), say });
            lines.forEach(say);
            done();
        };
        const get = () =>
            (stream ??= Object.assign(new Writable({ write, decodeStrings: false }), { fd: name === 'stdout' ? 1 : 2 }));
        Object.defineProperty(process, name, { configurable: true, enumerable: true, get });
    }
}

// Halves of a character that no UTF-8 can carry.
function wellFormed(_, value) {
    if (typeof value === 'string') return value.toWellFormed();
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name.toWellFormed(), item]));
}

// Who calls, and ways to report and to ask.
export class Context {
    #channel;
    #call;

    constructor(channel, call, fields) {
        this.#channel = channel;
        this.#call = call;
        Object.assign(this, fields);
    }

    progress(progress, total = null, message = null) {
        const note = message === null ? null : String(message).slice(0, LINE_LIMIT).toWellFormed();
        for (const count of total === null ? [progress] : [progress, total])
            if (!Number.isFinite(count)) throw new TypeError(`progress takes numbers, not ${String(count)}`);
        this.#channel.send('progress', { progress, total, message: note }, this.#call);
    }

    log(text, level = 'info') {
        this.#channel.send('log', { level: String(level), text: String(text).slice(0, LINE_LIMIT).toWellFormed() }, this.#call);
    }

    async ask(question, { choices = null, schema = null } = {}) {
        // The person chooses among texts, and the tool gets what it gave.
        const given = new Map(choices ? Array.from(choices, choice => [String(choice), choice]) : []);
        const texts = given.size ? [...given.keys()] : null;
        const asked = { question: String(question).slice(0, LINE_LIMIT), choices: texts, schema };
        const answer = await this.#channel.ask(this.#call, asked);
        return given.has(answer) ? given.get(answer) : answer;
    }
}
