/**
 * Which modules share a file of dist/chunks/: those that are always loaded together, because each
 * additional file costs a third of a millisecond at start-up.
 */

/** The first modules of each chunk, which also holds their static imports that no earlier chunk holds. */
const firsts = {
  // A page of help loads nothing else.
  core: [
    'src/main.ts',
    // Where a login is stored, which the page without arguments looks at.
    'src/config/paths.ts',
  ],
  // Every other command line loads all of these.
  line: [
    'src/cli/program.ts',
    'src/run-parsed.ts',
    'src/cli/typed-line.ts',
    'src/data/json.ts',
    'src/data/refusal-words.ts',
    'src/data/outcome-errors.ts',
  ],
  failure: ['src/cli/failure.ts', 'src/cli/completion/line.ts', 'src/cli/configured-format.ts'],
  command: ['src/assemble.ts', 'src/cli/define.ts', 'src/cli/views.ts', 'src/config/connection.ts'],
  service: [
    'src/service.ts',
    'src/resources/get-command.ts',
    'src/resources/params.ts',
    // Small, and of both lists and changes of applications.
    'src/resources/converted.ts',
  ],
  list: ['src/api/list-page.ts', 'src/api/paging.ts'],
  filters: [
    'src/cli/filters.ts',
    'src/cli/lists/filter-list.ts',
    'src/resources/list-command.ts',
    'src/cli/lists/columns.ts',
  ],
  files: ['src/files/atomic-write.ts', 'src/files/temporary.ts'],
  settings: ['src/commands/config/shared.ts'],
  runs: [
    'src/runs/find-run.ts',
    'src/runs/stored-run.ts',
    'src/runs/lock.ts',
    'src/runs/unfinished.ts',
    // Small, and sealed like the lines of a journal.
    'src/cursors/cursor-file.ts',
  ],
  people: ['src/cli/lists/show.ts', 'src/cli/card.ts', 'src/resources/cards/nearby.ts'],
  // Every change of records loads all of these.
  bulk: [
    'src/bulk/run-operation.ts',
    'src/bulk/select-rows.ts',
    'src/engine/run-rows.ts',
    'src/resources/send.ts',
  ],
  // What a change of several records prints, and one that a person sees.
  report: ['src/bulk/show-run.ts', 'src/bulk/preview-lines.ts'],
  'tryout-filters': ['src/resources/tryout-filters.ts'],
  // Every change of tryouts loads all of these.
  tryouts: ['src/resources/tryout-edit.ts', 'src/commands/tryouts/shared.ts'],
  wire: ['node_modules/undici/lib/dispatcher/agent.js', 'node_modules/undici/lib/core/connect.js'],
};

/** Returns a plugin that collects the imports, and the chunk groups computed from them. */
export function chunksOf(root) {
  const placed = new Map();
  const plugin = {
    name: 'chunks',
    buildEnd() {
      for (const [chunk, files] of Object.entries(firsts))
        for (const file of files) place(this, `${root}${file}`, chunk);
    },
  };
  const place = (bundle, id, chunk) => {
    if (placed.has(id)) return;
    const info = bundle.getModuleInfo(id);
    if (!info) return;
    placed.set(id, chunk);
    for (const imported of info.importedIds) place(bundle, imported, chunk);
  };
  const groups = Object.keys(firsts).map((chunk) => ({
    name: chunk,
    test: (id) => placed.get(id) === chunk,
  }));
  return { plugin, groups };
}

/** Returns the modules and packages in each file of dist/, for the tests. */
export function manifestOf(output, root) {
  const entries = output
    .filter((file) => file.type === 'chunk')
    .map(({ fileName, modules }) => [fileName, sourcesOf(modules, root)]);
  return Object.fromEntries(entries);
}

function sourcesOf(modules, root) {
  return Object.entries(modules)
    .filter(([, { renderedLength }]) => renderedLength > 0)
    .map(([id]) => id.replace('\0', '').replace(root, '').replaceAll('\\', '/'))
    .toSorted();
}
