// What a call leaves behind: timers are ended with it, and anything else that goes on is told.

export class Leftovers {
    #timers = new Set();
    #threads = new Set();
    #before = 0;
    #calling = false;

    constructor() {
        for (const [start, stop] of [
            ['setTimeout', clearTimeout],
            ['setInterval', clearInterval],
            ['setImmediate', clearImmediate],
        ]) {
            const original = globalThis[start];
            const once = start !== 'setInterval';
            const wrapped = (run, ...rest) => {
                // Those of the import are the file's own.
                if (!this.#calling || typeof run !== 'function') return original(run, ...rest);
                const entry = { stop };
                const ran = once ? (...args) => (this.#timers.delete(entry), run(...args)) : run;
                entry.timer = original(ran, ...rest);
                this.#timers.add(entry);
                return entry.timer;
            };
            // util.promisify finds its own form by a symbol.
            for (const symbol of Object.getOwnPropertySymbols(original)) {
                Object.defineProperty(wrapped, symbol, Object.getOwnPropertyDescriptor(original, symbol));
            }
            globalThis[start] = wrapped;
        }
        // Threads are not among the resources that Node lists.
        process.on('worker', thread => {
            this.#threads.add(thread);
            thread.once('exit', () => this.#threads.delete(thread));
        });
    }

    begin() {
        this.#calling = true;
        this.#before = active().length + this.#threads.size;
    }

    // `threads` if something runs on that could speak in the next call, `processes` if that is a process.
    end() {
        this.#calling = false;
        for (const { timer, stop } of this.#timers) stop(timer);
        this.#timers.clear();
        const now = active();
        if (now.length + this.#threads.size <= this.#before) return undefined;
        return now.includes('ProcessWrap') ? 'processes' : 'threads';
    }
}

// Connections that are kept open for the next call are no leftovers: they say nothing by themselves.
const KEPT = /^(TCPSocket|TCPServer|TLS|Pipe|PipeServer|UDP|TTY|UDPSend|HTTPINCOMINGMESSAGE|HTTPCLIENTREQUEST)/;
const active = () => (process.getActiveResourcesInfo?.() ?? []).filter(name => !KEPT.test(name));
