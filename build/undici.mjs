// What undici loads and ours never uses is left out of the bundle: half of its loading time.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

const inUndici = /node_modules[\\/]undici[\\/]/;

/** undici's own modules that are replaced, by the end of their path. */
const replaced = [
  // It loads node:http2 eagerly although HTTP/2 stays off.
  [/dispatcher[\\/]client-h2\.js$/, "module.exports = () => { throw new Error('no HTTP/2'); };"],
  // Serves bodies that are forms, with most of fetch behind it.
  [
    /web[\\/]fetch[\\/]body\.js$/,
    "exports.extractBody = () => { throw new Error('no form bodies'); };",
  ],
  // A quicker look-up of header names in bulk; it falls back to plain lower case.
  [/core[\\/]tree\.js$/, 'exports.tree = { lookup: () => null };'],
];

/** Modules of Node's that undici loads eagerly for next to nothing. */
const stubs = {
  // The default of a limit that is always given, and a class that is never a body of ours.
  'node:http': 'module.exports = { maxHeaderSize: 16384, IncomingMessage: class {} };',
  'node:assert':
    "module.exports = (value, message) => { if (!value) require('node:assert')(value, message); };",
};

const parserNames = /llhttp[\\/]constants\.js$/;
const parser = /llhttp[\\/](llhttp(?:_simd)?)-wasm\.js$/;

/** Leaves out what is not used and puts the parser's bytes beside the code instead of into it. */
export const trimmedUndici = {
  name: 'trimmed-undici',
  resolveId(source, importer) {
    return stubs[source] && inUndici.test(importer ?? '') ? `\0undici-${source.slice(5)}` : null;
  },
  load(id) {
    if (id.startsWith('\0undici-')) return stubs[`node:${id.slice(8)}`];
    if (!inUndici.test(id)) return null;
    if (parserNames.test(id)) {
      // Of hundreds of names the client reads these two sets.
      const { ERROR, TYPE } = require(id);
      return `module.exports = ${JSON.stringify({ ERROR, TYPE })};`;
    }
    const [, name] = parser.exec(id) ?? [];
    if (!name) return replaced.find(([path]) => path.test(id))?.[1] ?? null;
    this.emitFile({ type: 'asset', fileName: `${name}.wasm`, source: require(id) });
    return `module.exports = require('node:fs').readFileSync(require('node:path').join(__dirname, '../${name}.wasm'));`;
  },
};
