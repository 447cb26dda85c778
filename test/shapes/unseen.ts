/** The cells that no client can judge: what the service sends is what it would send if it were true. */
import { conversions, updates } from './writing.js';

const names = (commands: readonly { readonly name: string }[]) => commands.map(({ name }) => name);

/** A cut list of which nothing tells that it is cut. */
const cut = [
  ...['players list -o json', 'players list -o ids', 'players list -o ndjson'],
  ...['players list --where squad=blue -o json', 'teams list -o json', 'docs list -o ids'],
  ...[
    'tryouts list -o ndjson',
    'tryouts stats',
    'report',
    'backup create',
    'docs get LAST',
    'players update --where',
  ],
  ...['tryouts set-status --status', 'docs upload --if-exists skip', 'docs download --all'],
];

/** The very record that was asked for, and nothing of it is stored. */
const hoaxes = [
  ...['record', 'wrapped', 'data', 'result, wrapped', 'error: null beside the record'],
  ...['errors: [] beside the record', 'code: 1000 beside the record', 'record beside the actor'],
];
const uploads = ['docs upload', 'docs upload of two'];
const hoaxesOf = (table: string, shapes: readonly string[], commands: readonly string[]) =>
  shapes.map((shape) => [`${table}: ${shape}, not done`, commands] as const);

/** By table and shape: the commands. Only a new command may join its shape. */
export const unseen: Readonly<Record<string, readonly string[]>> = {
  'paging: cut at 17, and nothing says so': cut,
  ...Object.fromEntries([
    ...hoaxesOf('create', [...hoaxes, 'id alone', 'data.id', 'another id'], uploads),
    ...hoaxesOf('update', hoaxes, names(updates)),
    ...hoaxesOf(
      'convert',
      [...hoaxes, 'id alone', 'data.id', 'playerId', 'another id'],
      names(conversions),
    ),
  ]),
  // The service names another record than it made.
  'create: another id, done': ['docs upload'],
};
