// Imports a tool file as an ES module, whatever the package.json above it says, with `toolroom` being this one.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import * as module from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, extname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const OWN = { toolroom: './index.js', 'toolroom/testing': './testing.js' };
const FORMATS = { '.ts': 'module-typescript', '.js': 'module' };

export async function load(url, environment, cache) {
    const parent = environment && pathToFileURL(join(environment, 'package.json')).href;
    const format = isCommonJs(url) ? FORMATS[extname(url)] : undefined;
    const isNode = !process.versions.bun && !process.versions.deno;
    const strips = cache && isNode && extname(url) === '.ts' && module.stripTypeScriptTypes;
    module.registerHooks?.({
        resolve(specifier, context, next) {
            if (specifier in OWN) return { url: new URL(OWN[specifier], import.meta.url).href, shortCircuit: true };
            if (!parent || /^[./]|^\w+:/.test(specifier)) return next(specifier, context);
            try {
                return next(specifier, context);
            } catch (error) {
                // ES modules ignore NODE_PATH: the set of dependencies is looked in by standing in it.
                if (error?.code !== 'ERR_MODULE_NOT_FOUND') throw error;
                return next(specifier, { ...context, parentURL: parent });
            }
        },
        // A hook costs every start, so that there is one only where it is needed.
        ...((format || strips) && {
            load(at, context, next) {
                if (at !== url) return next(at, context);
                if (strips) return { format: 'module', source: stripped(url, cache), shortCircuit: true };
                return next(at, { ...context, format });
            },
        }),
    });
    return import(url);
}

// The file without its types. Node takes 60 ms to load what strips them, so that the outcome is kept, behind the text
// that it was made of; the text is compared, because a file may be changed within the resolution of its time.
function stripped(url, cache) {
    const text = readFileSync(new URL(url), 'utf8');
    const id = createHash('sha256').update(url).digest('hex').slice(0, 16);
    const kept = join(cache, `${id}-${process.version}.stripped`);
    try {
        const both = readFileSync(kept, 'utf8');
        if (both.length === 2 * text.length && both.startsWith(text)) return both.slice(text.length);
    } catch {
        // It is the first time.
    }
    const javascript = module.stripTypeScriptTypes(text);
    // Types become as many spaces, so that lines and columns of errors stay right.
    if (javascript.length !== text.length) return javascript;
    try {
        const draft = `${kept}.${process.pid}`;
        writeFileSync(draft, text + javascript, { mode: 0o600 });
        renameSync(draft, kept);
    } catch {
        // A folder that cannot be written to costs time, no more.
    }
    return javascript;
}

// Deno's hooks see no import of a file, and it looks for packages only above one: so a script is shown to it below a
// folder of links that has them all. That is the path to import.
export function showToDeno(path, environment, cache) {
    const own = dirname(fileURLToPath(import.meta.url));
    const installed = environment && join(environment, 'node_modules');
    const id = createHash('sha256').update(JSON.stringify([own, dirname(path), installed])).digest('hex');
    const folder = join(cache || tmpdir(), `deno-${id.slice(0, 16)}`);
    const packages = join(folder, 'node_modules');
    mkdirSync(packages, { recursive: true });
    link(own, join(packages, 'toolroom'));
    link(dirname(path), join(folder, 'script'));
    for (const name of installed ? readdirSync(installed) : []) link(join(installed, name), join(packages, name));
    return join(folder, 'script', basename(path));
}

function link(target, at) {
    try {
        symlinkSync(target, at);
    } catch (error) {
        if (error.code !== 'EEXIST') throw error;
    }
}

// `npm init` writes "type": "commonjs", under which no tool file would load.
function isCommonJs(url) {
    if (!(extname(url) in FORMATS)) return false;
    for (let folder = dirname(fileURLToPath(url)); ; folder = dirname(folder)) {
        const file = join(folder, 'package.json');
        if (existsSync(file)) {
            try {
                return JSON.parse(readFileSync(file, 'utf8')).type === 'commonjs';
            } catch {
                return false;
            }
        }
        if (dirname(folder) === folder) return false;
    }
}
