// Imports a tool file as an ES module, whatever the package.json above it says, with `toolroom` being this one.

import { existsSync, readFileSync } from 'node:fs';
import * as module from 'node:module';
import { dirname, extname, join } from 'node:path';
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
