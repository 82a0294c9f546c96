// Images, audio and files that a handler returns, and the frames that carry them.

import { openSync, readFileSync, writeFileSync, closeSync, constants } from 'node:fs';
import { basename, extname } from 'node:path';
import { fileURLToPath } from 'node:url';

const TYPES = {
    png: 'image/png',
    jpg: 'image/jpeg',
    jpeg: 'image/jpeg',
    gif: 'image/gif',
    webp: 'image/webp',
    svg: 'image/svg+xml',
    wav: 'audio/wav',
    mp3: 'audio/mpeg',
    ogg: 'audio/ogg',
    flac: 'audio/flac',
    m4a: 'audio/mp4',
    pdf: 'application/pdf',
    json: 'application/json',
    txt: 'text/plain',
    md: 'text/markdown',
    csv: 'text/csv',
    html: 'text/html',
    zip: 'application/zip',
};
const SIGNS = [
    ['\x89PNG', 'png'],
    ['\xff\xd8\xff', 'jpg'],
    ['GIF8', 'gif'],
    ['OggS', 'ogg'],
    ['fLaC', 'flac'],
    ['ID3', 'mp3'],
    ['%PDF', 'pdf'],
    ['PK\x03\x04', 'zip'],
    ['<svg', 'svg'],
];
// Up to here in the frame, as base64; beyond in a file.
const INLINE = 48 << 10;

class Media {
    static kind = 'file';

    // Bytes, or a path.
    constructor(source, { mimeType, name } = {}) {
        this.source = source instanceof URL ? fileURLToPath(source) : source;
        this.name = name ?? (typeof this.source === 'string' ? basename(this.source) : undefined);
        this.mimeType = mimeType;
    }

    block() {
        const bytes = typeof this.source === 'string' ? readFileSync(this.source) : Buffer.from(this.source);
        const type = this.constructor.kind;
        const block = { type, mimeType: this.mimeType ?? typeOf(this.name, bytes), size: bytes.length };
        if (this.name) block.name = this.name;
        if (bytes.length <= INLINE) return { ...block, data: bytes.toString('base64') };
        // Loaded only here: every start of a worker would wait for it.
        const { randomBytes } = process.getBuiltinModule('node:crypto');
        block.file = `toolroom-${randomBytes(12).toString('hex')}`;
        const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants;
        const file = openSync(block.file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
        writeFileSync(file, bytes);
        closeSync(file);
        return block;
    }
}

export class Image extends Media {
    static kind = 'image';
}

export class Audio extends Media {
    static kind = 'audio';
}

export class File extends Media {}

function typeOf(name, bytes) {
    const known =
        TYPES[
            extname(name ?? '')
                .slice(1)
                .toLowerCase()
        ];
    if (known) return known;
    const start = bytes.subarray(0, 12).toString('latin1');
    if (start.startsWith('RIFF')) return { WEBP: 'image/webp', WAVE: 'audio/wav' }[start.slice(8)] ?? 'application/octet-stream';
    const sign = SIGNS.find(([mark]) => start.startsWith(mark));
    return sign ? TYPES[sign[1]] : 'application/octet-stream';
}

// JSON, in which a Map is an object and a Set a list; by itself it would make `{}` of them.
export function textOf(value) {
    const text = JSON.stringify(value);
    return text?.includes('{}') ? JSON.stringify(value, unfolded) : text;
}

function unfolded(_, value) {
    if (value instanceof Map) return Object.fromEntries(value);
    if (value instanceof Set) return [...value];
    if (value instanceof Error) throw new TypeError('an Error is not JSON; throw it, or return its message');
    return value;
}

const isMedia = value =>
    value instanceof Media || (typeof value?.block === 'function' && typeof value?.constructor?.kind === 'string');

// The kind and body of the frame that answers with a result: data alone, or content with its data.
export function frameOf(result) {
    if (result === undefined || result === null) return ['result', {}];
    if (typeof result !== 'object') return ['result', result];
    if (isMedia(result)) return content(undefined, [result]);
    if (Array.isArray(result)) {
        if (!result.some(isMedia)) return ['result', result];
        const rest = result.filter(part => !isMedia(part));
        return content(rest.length > 1 ? rest : rest[0], result.filter(isMedia));
    }
    // The contract's own ToolResult.
    if ('data' in result && ('agentHints' in result || isContent(result.content))) {
        return content(result.data, result.content ?? [], result.agentHints);
    }
    return ['result', result];
}

const isContent = value => Array.isArray(value) && value.length > 0 && value.every(isMedia);

function content(data, parts, agentHints) {
    const blocks = parts.map(part => (isMedia(part) ? part.block() : { type: 'text', text: String(part) }));
    // Data is never null: it names what came.
    const named = () => ({ content: blocks.map(({ type, mimeType, name, size }) => ({ type, mimeType, name, size })) });
    return ['content', { data: data ?? named(), blocks, ...(agentHints ? { agentHints } : {}) }];
}
