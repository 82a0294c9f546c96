// Imports a tool file as an ES module, whatever the package.json above it says, with `toolroom` being this one.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import * as module from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, extname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const OWN = { toolroom: './index.js', 'toolroom/testing': './testing.js' };
const FORMATS = { '.ts': 'module-typescript', '.js': 'module' };

export async function load(url, environment) {
    const parent = environment && pathToFileURL(join(environment, 'package.json')).href;
    const format = isCommonJs(url) ? FORMATS[extname(url)] : undefined;
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
        ...(format && { load: (at, context, next) => (at === url ? next(at, { ...context, format }) : next(at, context)) }),
    });
    return import(url);
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
