// Bundles src/ into dist/ and writes the plain part of the command table beside it.
import { cp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { chunksOf, manifestOf } from './chunks.mjs';
import { notices } from './notices.mjs';
import { trimmedUndici } from './undici.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = `${root}dist/`;
const fresh = `${root}.build-${process.pid}/`;
const old = `${root}.build-${process.pid}-old/`;

// Removes the parts of commander that rosterctl does not use or replaces: running other programs as
// sub-commands, which costs 2 ms to load, help pages and suggestions of similar words.
const commanderAlone = {
  name: 'commander-alone',
  resolveId(source, importer) {
    // The ES module of commander is a wrapper around this file.
    if (source === 'commander') return `${root}node_modules/commander/index.js`;
    const wanted =
      source.endsWith('child_process') && /node_modules[\\/]commander[\\/]/.test(importer ?? '');
    return wanted ? '\0no-child-process' : null;
  },
  load(id) {
    if (id === '\0no-child-process') return 'module.exports = {};';
    if (/commander[\\/]lib[\\/]help\.js$/.test(id)) return 'exports.Help = class {};';
    if (/commander[\\/]lib[\\/]suggestSimilar\.js$/.test(id))
      return 'exports.suggestSimilar = () => "";';
    return null;
  },
};

// Removes the schema validator of conf, a tenth of the package: our own code checks what is stored.
const confAlone = {
  name: 'conf-alone',
  resolveId: (source) => (/^ajv(-formats|\/)/.test(source) ? '\0no-schemas' : null),
  load: (id) =>
    id === '\0no-schemas'
      ? "export class Ajv2020 { constructor() { throw new Error('no schemas'); } }\nexport default {};"
      : null,
};

// V8 of Node 20 and 22 parses an arrow function twice, first to skip it and again when it is called,
// but a parenthesized function once. Each CommonJS module is wrapped in such a function and called at
// once.
const readOnce = {
  name: 'read-once',
  renderChunk: (code) =>
    code.replaceAll(
      /( = \/\* @__PURE__ \*\/ [\w.]+\(\()\((exports(?:, module)?)\) => \{/g,
      '$1function($2) {',
    ),
};

// Each file costs a third of a millisecond at start-up. Therefore the first file also holds the few
// lines that rolldown puts into a separate file, and the launcher loads it directly.
const oneFile = {
  name: 'one-file',
  generateBundle(_options, files) {
    const { 'main.cjs': core, 'entry.cjs': entry } = files;
    if (!core || !entry) return;
    const runtime = Object.values(files).find((file) => file.name === 'rolldown-runtime');
    const [, exported] = /exports\.main ?= ?\w+\.(\w+)/.exec(entry.code) ?? [];
    if (!runtime || !exported)
      throw new Error('rolldown links its files in another way than before');

    const inlined = `(exports.runtime={},(function(exports){${runtime.code}\n})(exports.runtime),exports.runtime)`;
    for (const file of Object.values(files))
      if (file.type === 'chunk')
        file.code = file.code
          .replace(required(`./${runtime.fileName}`), () => inlined)
          .replace(required(`./${basename(runtime.fileName)}`), 'require("../main.cjs").runtime');
    core.code += `\nexports.main=exports.${exported};`;
    inlinedModules.push(...Object.entries(runtime.modules));
    delete files[entry.fileName];
    delete files[runtime.fileName];
  },
};

/** The modules that `oneFile` moved, for the notices. */
const inlinedModules = [];

const required = (path) => `require("${path}")`;

// ora and cli-table3 measure text with string-width, which loads slowly; ours is what the whole tool uses.
const oneWidth = {
  name: 'one-width',
  resolveId(source) {
    return source === 'string-width' ? `${root}src/terminal/string-width.ts` : null;
  },
};

// Output for the build and `npm run generate` only, never part of the package.
const workbench = `${root}node_modules/.cache/rosterctl/`;

await rm(fresh, { recursive: true, force: true });
await rm(workbench, { recursive: true, force: true });
const output = [
  ...(await bundle('main', fresh, { minify: true })),
  // Bundled separately, so that completion shares no chunk with the commands.
  ...(await bundle('complete', fresh, { minify: true })),
];
await bundle('describe', workbench, { minify: false });
// The module that reads them looks beside itself.
await cp(`${root}src/sandbox/demo/papers`, `${fresh}chunks/papers`, { recursive: true });

const { version } = JSON.parse(await readFile(`${root}package.json`, 'utf8'));
const { describe } = createRequire(import.meta.url)(`${workbench}describe.cjs`);
for (const [name, text] of Object.entries(await describe(version)))
  await writeFile(`${fresh}${name}`, text);

const modules = output
  .flatMap((chunk) => Object.entries(chunk.modules ?? {}))
  .concat(inlinedModules)
  .filter(([, { renderedLength }]) => renderedLength > 0)
  .map(([id]) => id);
await writeFile(`${workbench}modules.json`, JSON.stringify(manifestOf(output, root), null, 1));
await writeFile(`${workbench}THIRD-PARTY-NOTICES.md`, await notices(modules, root));

// Replaced by renaming: a command that starts meanwhile finds either the old build or the new one.
await rename(dist, old).catch(() => {});
await rename(fresh, dist);
await rm(old, { recursive: true, force: true });

const bytes = output.reduce((sum, file) => sum + (file.code?.length ?? 0), 0);
console.log(`built ${output.length} files, ${Math.round(bytes / 1024)} KiB`);

/** Bundles src/ENTRY.ts into a folder and returns the output files. */
async function bundle(entry, dir, { minify }) {
  const chunks = chunksOf(root);
  const bundler = await rolldown({
    cwd: root,
    input: { [entry]: `src/${entry}.ts` },
    platform: 'node',
    plugins: [trimmedUndici, commanderAlone, confAlone, oneWidth, chunks.plugin, readOnce, oneFile],
    logLevel: 'warn',
    // The groups place such modules correctly nevertheless.
    checks: { ineffectiveDynamicImport: false },
  });
  const written = await bundler.write({
    dir,
    format: 'cjs',
    // An import() of a Node module would start the ES module loader, which costs 3 ms.
    dynamicImportInCjs: false,
    minify,
    entryFileNames: '[name].cjs',
    chunkFileNames: 'chunks/[name]-[hash].cjs',
    // Only this entry is part of a command's start-up.
    ...(entry === 'main' && {
      entryFileNames: 'entry.cjs',
      chunkFileNames: ({ name }) => (name === 'core' ? 'main.cjs' : 'chunks/[name]-[hash].cjs'),
      codeSplitting: { groups: chunks.groups },
    }),
  });
  await bundler.close();
  return written.output;
}
