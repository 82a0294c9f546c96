// Makes crates/server/console/vendor anew from the pinned packages: `npm run vendor`, by hand. No build runs it.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const vendor = join(here, '../../crates/server/console/vendor');

/**
 * What our chart does not use of uPlot is left out of the bundle: lines that are not straight, scales that are not even, bands,
 * joining tables, and its own way to write dates (our axes and values do that). What leads to these is taken away, and the
 * bundler drops the rest.
 */
const UNUSED = /^function (rangeLog|rangeAsinh|logAxisSplits|asinhAxisSplits|log10AxisValsFilt|log2AxisValsFilt|snapLogY|snapAsinhY|clipBandLine|timeAxisVal)\(/gm;
const straightLines = {
  name: 'straight-lines',
  setup: ({ onLoad }) => onLoad({ filter: /uPlot\.esm\.js$/ }, ({ path }) => ({
    contents: readFileSync(path, 'utf8')
      .replace(/^\t*(?:\(?paths\.(?:stepped|bars|spline)|uPlot\.(?:join|fmtDate|tzDate|addGap|clipGaps)|const localTz)\s*=.*$/gm, '')
      .replace(/= (\w+\.map\(slice3\))/g, '= /* @__PURE__ */ $1')
      .replace(UNUSED, 'function $1() {}\nfunction without_$1(')
      .replace('function fmtDate(', "function fmtDate() { return () => ''; }\nfunction without_fmtDate("),
    loader: 'js',
  })),
};

const bundles = {
  'preact.js': {
    packages: ['preact', '@preact/signals', '@preact/signals-core'],
    code: `export { h, render } from 'preact';
      export { useEffect, useLayoutEffect, useRef, useState, useMemo, useErrorBoundary } from 'preact/hooks';
      export { signal, computed, effect } from '@preact/signals';`,
  },
  'uplot.js': { packages: ['uplot'], code: `export { default as uPlot } from 'uplot';` },
  'diff.js': { packages: ['diff'], code: `export { diffLines, diffWordsWithSpace } from 'diff';` },
  'codemirror.js': {
    packages: ['@codemirror/state', '@codemirror/view', '@codemirror/commands', '@codemirror/language', '@codemirror/lint',
      '@codemirror/lang-python', '@codemirror/lang-json', '@codemirror/legacy-modes', '@codemirror/autocomplete',
      '@lezer/common', '@lezer/highlight', '@lezer/lr', '@lezer/python', '@lezer/json', 'style-mod', 'crelt',
      'w3c-keyname', '@marijn/find-cluster-break'],
    code: `export { EditorState, Compartment } from '@codemirror/state';
      export { EditorView, keymap, lineNumbers, highlightActiveLine, highlightSpecialChars, drawSelection } from '@codemirror/view';
      export { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
      export { HighlightStyle, syntaxHighlighting, indentOnInput, bracketMatching, StreamLanguage, indentUnit } from '@codemirror/language';
      export { lintGutter, setDiagnostics } from '@codemirror/lint';
      export { python } from '@codemirror/lang-python';
      export { json } from '@codemirror/lang-json';
      export { shell } from '@codemirror/legacy-modes/mode/shell';
      export { tags } from '@lezer/highlight';`,
  },
};

const versions = [];
const licences = [];
for (const [file, { packages, code }] of Object.entries(bundles)) {
  const out = join(vendor, file);
  await build({
    stdin: { contents: code, resolveDir: here },
    plugins: [straightLines], outfile: out, bundle: true, format: 'esm', minify: true, target: 'es2022', legalComments: 'none', logLevel: 'error',
  });
  versions.push(entry(file, packages));
}
writeFileSync(join(vendor, 'versions.json'), `${JSON.stringify(versions, null, 2)}\n`);
writeFileSync(join(vendor, 'LICENSES'), `${[...new Set(licences)].join('\n\n')}\n`);

function entry(file, packages) {
  const from = Object.fromEntries(packages.map((name) => {
    const folder = join(here, 'node_modules', name);
    const version = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version;
    licences.push(`== ${name} ${version}\n\n${readFileSync(join(folder, 'LICENSE'), 'utf8').trim()}`);
    return [name, version];
  }));
  return { file, packages: from, sha256: createHash('sha256').update(readFileSync(join(vendor, file))).digest('hex') };
}
