// Runs inside a warm worker: imports one file, then answers framed requests until the pipe ends.
//
// A frame is a length of four bytes (big-endian) and that many bytes of JSON; they come on descriptor 3 and go on 4,
// which no process that the tool starts inherits (in Deno on 1). Requests are [id, params, context], answers
// [id, {kind: body}]; the id 0 belongs to no call. A frame `ask` is answered in mid-call by [id, {"answer": value}].
//
// Arguments: the file, the tool, the largest answer, the folder of the dependencies' node_modules or '', a folder for
// compiled code or '', and `describe` if only the definitions are wanted.

import { readFileSync } from 'node:fs';
import * as module from 'node:module';
import net from 'node:net';
import { pathToFileURL } from 'node:url';

import { callerOf, framerOf, refusalOf } from './calling.js';
import { Channel, Context } from './channel.js';
import { definitions, lineIn, toolsOf } from './describe.js';
import { load, showToDeno } from './load.js';
import { Leftovers } from './leftovers.js';

const [file, entrypoint, limit, environment = '', cache = '', mode = ''] = process.argv.slice(2);
const path = process.versions.deno ? showToDeno(file, environment, cache) : file;
process.argv.splice(1, process.argv.length, file);
const channel = new Channel(3, process.versions.deno ? 1 : 4, Number(limit));
const leftovers = new Leftovers();
let caller;
let frameOf;
let broken;
let fresh = true;

if (cache) module.enableCompileCache?.(cache);
process.on('uncaughtException', error => {
    channel.send('error', failure(error, true));
    process.exit(1);
});
try {
    const loaded = await load(pathToFileURL(path).href, environment, cache);
    if (mode === 'describe') describe(loaded);
    const tools = toolsOf(loaded);
    const tool = tools.get(entrypoint);
    if (!tool) {
        const names = [...tools.keys()].join(', ') || 'none';
        throw new ReferenceError(`the file exports no tool '${entrypoint}' (config.entrypoint); it exports: ${names}`);
    }
    caller = callerOf(tool);
    frameOf = framerOf(tool);
} catch (error) {
    if (mode === 'describe') refuse(error);
    broken = error;
}
channel.listen(net, take, () => process.exit(0));

function take(request) {
    if (request.length === 2) return channel.answered(request[1].answer);
    const [id, params, fields] = request;
    channel.call = id;
    if (broken) {
        channel.send('error', failure(broken, true));
        return process.exit(0);
    }
    leftovers.begin();
    let result;
    try {
        result = channel.store.run(id, caller, params, new Context(channel, id, fields));
    } catch (error) {
        return failed(id, error);
    }
    if (typeof result?.then === 'function')
        result.then(
            value => ended(id, value),
            error => failed(id, error),
        );
    else ended(id, result);
}

function ended(id, result) {
    let frame;
    try {
        frame = frameOf(result);
    } catch (error) {
        return failed(id, error);
    }
    finish();
    try {
        channel.send(...frame);
    } catch (error) {
        channel.send('badOutput', String(error?.message ?? error).slice(0, 8192));
    }
    keepCompiled();
}

function failed(id, error) {
    finish();
    let frame;
    try {
        frame = refusalOf(error);
        if (frame) JSON.stringify(frame);
    } catch {
        frame = undefined;
    }
    channel.send(...(frame ?? ['error', failure(error, false)]));
}

function finish() {
    channel.flush();
    const left = leftovers.end();
    if (left) channel.send('left', left);
}

// Workers get killed, so that what was compiled must be written while there is time: once, behind the first answer.
function keepCompiled() {
    if (fresh && cache) setImmediate(() => module.flushCompileCache?.());
    fresh = false;
}

// The message comes first and the frames last: of a long one both ends are kept.
function cut(text) {
    return text.length <= 32768 ? text : `${text.slice(0, 8192)}\n[the middle was cut]\n${text.slice(-24576)}`;
}

function failure(error, fatal) {
    const isError = typeof error === 'object' && error !== null && 'message' in error;
    const type = isError ? String(error.constructor?.name || error.name || 'Error') : 'Error';
    const message = String(isError ? error.message : error);
    return {
        type: type.slice(0, 200),
        message: message.slice(0, 8192),
        traceback: cut(String(error?.stack ?? message)),
        fatal,
    };
}

function describe(loaded) {
    channel.send('definitions', definitions(loaded, path), 0);
    process.exit(0);
}

function refuse(error) {
    const body = failure(error, true);
    body.line = error?.line ?? lineIn(error?.stack, path) ?? (error instanceof SyntaxError ? syntaxLine() : null);
    if (/TYPESCRIPT/.test(error?.code ?? '')) {
        body.message +=
            ' Types are stripped, not compiled: set "erasableSyntaxOnly" in tsconfig.json to be told of it as you write.';
    }
    channel.send('error', body, 0);
    process.exit(0);
}

// Node keeps to itself where a module does not parse; the parser that strips types tells.
function syntaxLine() {
    try {
        module.stripTypeScriptTypes?.(readFileSync(path, 'utf8'), { sourceUrl: path });
    } catch (error) {
        return lineIn(error?.stack, path);
    }
    return null;
}
