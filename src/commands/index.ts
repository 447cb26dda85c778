/** The command table. */
import type { CommandTable, Group } from '../cli/manifest.js';

/** Every command by the words typed; a module is loaded only when its command is run. */
export const commands: CommandTable = {
  tryouts: group('Review tryout applications and decide on them', ['tryout'], {
    list: () => import('./tryouts/list.js'),
    get: () => import('./tryouts/get.js'),
    update: () => import('./tryouts/update.js'),
    'set-status': () => import('./tryouts/set-status.js'),
    review: () => import('./tryouts/review.js'),
    convert: () => import('./tryouts/convert.js'),
    stats: () => import('./tryouts/stats.js'),
  }),
  overview: () => import('./overview.js'),
  check: () => import('./check.js'),
  person: () => import('./person.js'),
  report: () => import('./report.js'),
  teams: group('Manage teams', ['team'], {
    list: () => import('./teams/list.js'),
    get: () => import('./teams/get.js'),
    create: () => import('./teams/create.js'),
    import: () => import('./teams/import.js'),
    template: () => import('./teams/template.js'),
    update: () => import('./teams/update.js'),
    delete: () => import('./teams/delete.js'),
  }),
  players: group('Manage players', ['player'], {
    list: () => import('./players/list.js'),
    get: () => import('./players/get.js'),
    create: () => import('./players/create.js'),
    import: () => import('./players/import.js'),
    template: () => import('./players/template.js'),
    update: () => import('./players/update.js'),
    delete: () => import('./players/delete.js'),
  }),
  documents: group('Manage, upload and download documents', ['docs', 'doc', 'document'], {
    list: () => import('./documents/list.js'),
    get: () => import('./documents/get.js'),
    create: () => import('./documents/create.js'),
    update: () => import('./documents/update.js'),
    delete: () => import('./documents/delete.js'),
    upload: () => import('./documents/upload.js'),
    replace: () => import('./documents/replace.js'),
    download: () => import('./documents/download.js'),
    preview: () => import('./documents/preview.js'),
    open: () => import('./documents/open.js'),
  }),
  uploads: group('Finish interrupted uploads, or run their steps one by one', ['upload'], {
    list: () => import('./uploads/list.js'),
    finish: () => import('./uploads/finish.js'),
    forget: () => import('./uploads/forget.js'),
    create: () => import('./uploads/create.js'),
    put: () => import('./uploads/put.js'),
  }),
  backup: group('Back up records and files, and see what changed', ['backups'], {
    create: () => import('./backup/create.js'),
    verify: () => import('./backup/verify.js'),
    diff: () => import('./backup/diff.js'),
    show: () => import('./backup/show.js'),
  }),
  runs: group('Inspect, resume, retry and undo changes', ['run'], {
    list: () => import('./runs/list.js'),
    show: () => import('./runs/show.js'),
    resume: () => import('./runs/resume.js'),
    retry: () => import('./runs/retry.js'),
    undo: () => import('./runs/undo.js'),
    prune: () => import('./runs/prune.js'),
  }),
  plan: group('Review and apply plan files, which --plan writes', ['plans'], {
    show: () => import('./plan/show.js'),
    apply: () => import('./plan/apply.js'),
  }),
  cursors: group('Manage what --since-last remembers', ['cursor'], {
    list: () => import('./cursors/list.js'),
    show: () => import('./cursors/show.js'),
    commit: () => import('./cursors/commit.js'),
    reset: () => import('./cursors/reset.js'),
  }),
  auth: group('Store an API key and check it', [], {
    login: () => import('./auth/login.js'),
    status: () => import('./auth/status.js'),
    logout: () => import('./auth/logout.js'),
  }),
  profile: group('Switch between organizations', ['profiles'], {
    list: () => import('./profile/list.js'),
    show: () => import('./profile/show.js'),
    use: () => import('./profile/use.js'),
    rename: () => import('./profile/rename.js'),
    remove: () => import('./profile/remove.js'),
  }),
  config: group('Read and change settings', [], {
    list: () => import('./config/list.js'),
    get: () => import('./config/get.js'),
    set: () => import('./config/set.js'),
    unset: () => import('./config/unset.js'),
    path: () => import('./config/path.js'),
  }),
  api: () => import('./api.js'),
  sandbox: group('Run and inspect the embedded demo service', [], {
    start: () => import('./sandbox/start.js'),
    reset: () => import('./sandbox/reset.js'),
    events: () => import('./sandbox/events.js'),
  }),
  doctor: () => import('./doctor.js'),
  completion: () => import('./completion.js'),
  commands: () => import('./commands.js'),
  help: () => import('./help.js'),
};

/** The first words of commands that do the same for every organization, or name one themselves. */
export const withoutConnection = ['profile', 'sandbox', 'completion', 'commands', 'help'];

function group(about: string, aliases: readonly string[], verbs: Group['commands']): Group {
  return { about, aliases, commands: verbs };
}
