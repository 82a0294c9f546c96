#!/usr/bin/env node
// Runs the program of this platform's package: its arguments, streams, signals and exit code are passed on.
'use strict';

const { spawn } = require('node:child_process');

const platform = `toolroom-${process.platform}-${process.arch}`;

function program() {
    if (process.env.TOOLROOM_BINARY) return process.env.TOOLROOM_BINARY;
    try {
        return require.resolve(`${platform}/bin/toolroom`);
    } catch {
        console.error(`toolroom: the package ${platform} is not installed.`);
        console.error('It is an optional dependency: install again without --omit=optional or --no-optional.');
        console.error('If there is none for this platform, build Toolroom from source and set TOOLROOM_BINARY to it.');
        process.exit(1);
    }
}

const child = spawn(program(), process.argv.slice(2), { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => {
    console.error(`toolroom: ${error.message}`);
    process.exit(1);
});
child.on('exit', (code, signal) => {
    // Without our handlers, so that whoever started us sees the same ending.
    if (signal) {
        process.removeAllListeners(signal);
        process.kill(process.pid, signal);
    } else {
        process.exit(code);
    }
});
