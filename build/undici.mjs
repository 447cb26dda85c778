/**
 * Removes the parts of undici that rosterctl never uses from the bundle, which halves its loading
 * time.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

const inUndici = /node_modules[\\/]undici[\\/]/;

/** undici's own modules that are replaced, by the end of their path. */
const replaced = [
  // Loads node:http2 eagerly although HTTP/2 stays off.
  [/dispatcher[\\/]client-h2\.js$/, "module.exports = () => { throw new Error('no HTTP/2'); };"],
  // Handles form bodies and loads most of fetch.
  [
    /web[\\/]fetch[\\/]body\.js$/,
    "exports.extractBody = () => { throw new Error('no form bodies'); };",
  ],
  // A faster look-up of header names; without it, undici falls back to lower-casing them.
  [/core[\\/]tree\.js$/, 'exports.tree = { lookup: () => null };'],
];

/** Node modules that undici loads eagerly but hardly uses. */
const stubs = {
  // The default of a limit that we always pass, and a class that is never one of our bodies.
  'node:http': 'module.exports = { maxHeaderSize: 16384, IncomingMessage: class {} };',
  'node:assert':
    "module.exports = (value, message) => { if (!value) require('node:assert')(value, message); };",
};

const parserNames = /llhttp[\\/]constants\.js$/;
const parser = /llhttp[\\/](llhttp(?:_simd)?)-wasm\.js$/;
const parserUser = /dispatcher[\\/]client-h1\.js$/;

/** Removes unused modules, and stores the parser's bytes next to the code instead of inside it. */
export const trimmedUndici = {
  name: 'trimmed-undici',
  resolveId(source, importer) {
    return stubs[source] && inUndici.test(importer ?? '') ? `\0undici-${source.slice(5)}` : null;
  },
  load(id) {
    if (id.startsWith('\0undici-')) return stubs[`node:${id.slice(8)}`];
    if (!inUndici.test(id)) return null;
    if (parserNames.test(id)) {
      // The client reads only these two sets out of hundreds of names.
      const { ERROR, TYPE } = require(id);
      return `module.exports = ${JSON.stringify({ ERROR, TYPE })};`;
    }
    // Read before the first socket: once it fails for too many open files, each later connection fails.
    if (parserUser.test(id))
      return `require('../llhttp/llhttp_simd-wasm.js');\n${readFileSync(id, 'utf8')}`;
    const [, name] = parser.exec(id) ?? [];
    if (!name) return replaced.find(([path]) => path.test(id))?.[1] ?? null;
    this.emitFile({ type: 'asset', fileName: `${name}.wasm`, source: require(id) });
    return `module.exports = require('node:fs').readFileSync(require('node:path').join(__dirname, '../${name}.wasm'));`;
  },
};
