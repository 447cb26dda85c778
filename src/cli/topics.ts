/** Help topics: the pages of `rosterctl help TOPIC`, written at build time. */

import { contract, type Endpoint } from '../api/contract.js';
import { followedFields } from '../api/paging-evidence.js';
import { environmentVariables } from '../config/environment.js';
import { overrideRows } from '../config/keys.js';
import { exitCodes } from '../exit-codes.js';
import { faultGrammar, faultKinds } from '../sandbox/fault-rule.js';
import { inventions } from '../sandbox/personality.js';
import { placeholderRows, shapeRows } from '../sandbox/shapes/help.js';
import { fitPage, fullWidth } from '../terminal/whole-words.js';
import { backupPage } from './lists/backup-page.js';
import { cursorsPage } from './lists/cursors-page.js';
import { fieldsPage } from './lists/fields-page.js';
import { importPage } from './lists/import-page.js';
import { outputPage } from './lists/output-page.js';
import { plansPage } from './lists/plans-page.js';
import { referencesPage } from './lists/references-page.js';

/** A page of `rosterctl help TOPIC`; rendered at build time, so that reading it loads no sources. */
export interface Topic {
  readonly name: string;
  readonly about: string;
  readonly text: string;
}

/** Returns all topics in the order in which help lists them. */
export function topicTexts(): readonly Topic[] {
  return [
    topic('environment', 'variables that the tool reads', environmentPage()),
    topic('exit-codes', 'what each exit code means', exitCodePage()),
    topic('output', 'formats, streams, what scripts can rely on', outputPage),
    topic('fields', 'the fields of each resource: label, name and type', fieldsPage()),
    topic('references', 'naming records by e-mail, name, Discord or gamer tag', referencesPage),
    topic('cursors', 'lists of only what is new: --since-last', cursorsPage),
    topic('bulk', 'changing records: selection, preview, journal, resume, undo', bulkPage),
    topic('plans', 'changes that somebody else reviews first: --plan', plansPage),
    topic(
      'backup',
      'what a backup holds, how to keep it safe, and how to bring data back',
      backupPage,
    ),
    topic('import', 'players and teams from a spreadsheet', importPage(aligned)),
    topic(
      'undocumented',
      'what is assumed about the service, and how to change it',
      undocumentedPage(),
    ),
    topic('sandbox', 'the embedded demo service and what it invents', sandboxPage()),
    topic('security', 'where the key goes and where it never goes', securityPage),
  ];
}

function topic(name: string, about: string, text: string): Topic {
  return { name, about, text: `${fitPage(text.trimEnd(), fullWidth)}\n` };
}

function exitCodePage(): string {
  const rows = Object.values(exitCodes).map(
    ({ code, text }) => `  ${String(code).padStart(3)}  ${text}`,
  );
  return `Exit codes

${rows.join('\n')}

In a write to several records: a signal wins over 4 and 7 (stopped the run), those
over 1, then 10, 9, 8, 0. The report is printed whatever the code.`;
}

function environmentPage(): string {
  return `Environment variables; a flag beats its variable, a variable beats the profile

${aligned(environmentVariables.map(({ name, text }) => [name, text]))}

A profile named with -p beats ROSTERCTL_BASE_URL, ROSTERCTL_ORG and the key variables,
with one note on stderr. Empty means unset. Flags that say yes or loosen a
guard, such as --yes and --confirm, have no variable.`;
}

/** Returns the rows of the contract table that are assumed. */
export function assumedEndpoints(): readonly (readonly [name: string, row: Endpoint])[] {
  return Object.entries(contract).filter(([, row]) => 'assumed' in row.basis);
}

function undocumentedPage(): string {
  const routes = assumedEndpoints().map(([, row]) => `  ${row.route.padEnd(34)} ${row.summary}`);
  return `What rosterctl assumes about the service

The service's documentation names these operations without their method and path, so
rosterctl assumes them:

${routes.join('\n')}

  # Use another route once
  rosterctl players update ID --route 'PUT /players/{id}' …
  # Use it from now on
  rosterctl config set endpoints.players.update "PUT /players/{id}"
  # PUT may replace the whole record; if it does, send all of it
  rosterctl config set endpoints.players.update.semantics replace
  # Send the organization id in the body
  rosterctl config set endpoints.players.update.org body
  # Name the record in the query
  rosterctl config set endpoints.players.delete "DELETE /players?id={id}"

A path starts below the base URL (leave out /v1) and contains {id} once; it may contain
{organizationId}. rosterctl notes an assumed route once for each service. If the service
refuses it, the error names the setting to change; rosterctl never tries another method or
path by itself. A 405, a 501, or a 404 for a record that exists proves a route wrong and
stops a run of many records after the first. --dry-run shows each request as stated,
assumed, or named by you.

Lists

${listRules.join('\n\n')}

  # Find the settings that read the lists whole, and store them
  rosterctl doctor --shapes --apply
  # Or set where the records are, how the service pages, which field leads to the next page
  rosterctl config set lists.players.path data.players
  rosterctl config set paging.mode page
  rosterctl config set paging.next meta.continuation
  # This number is not a total; this field is the id
  rosterctl config set paging.total none
  rosterctl config set ids.players _id

Downloads

rosterctl looks for the signed URL under downloadUrl (previewUrl for a preview), signedUrl,
presignedUrl, url, href and link, then takes the only URL there is; a URL below the base URL
comes last. To name it, also in a list or as a relative URL:

  rosterctl config set download.urlPath files.0.url

Fields

The fields of teams, players and documents are not documented: --json prints every field
that the service sends, and -F sends every field that you type. For a request that rosterctl
does not know, use: rosterctl api PATH -X METHOD

Settings that replace an assumption (rosterctl config set KEY VALUE); <resource> is teams,
players, documents or tryouts (endpoints: not tryouts):

${aligned(overrideRows())}`;
}

/** How lists are read, one sentence each, for the help and the documentation. */
export const listRules: readonly string[] = [
  "The records are found under the resource's name, then under data, items, results and similar names, also one or two levels down.",
  `rosterctl reads the next page if the answer points to it: a Link header, a URL under next, or one of ${followedFields.join(', ')}; or by page number or offset, if the answer names both its own and the last.`,
  'A list is complete if the answer says so (hasMore or hasNextPage false, last true, next null, the last page, a total that fits), or if nothing suggests more.',
  'Anything else that suggests more makes it doubtful: a larger total, a field such as continuation or moreToken, status 206, as many records as the page size or a round number like 20. A doubtful list is printed with a warning; a change of filtered records is refused (exit code 11) unless you add --allow-partial.',
];

const bulkPage = `Changing records, one or many

Select the records in one way: ids or references (rosterctl help references), --ids FILE,
--csv FILE, filter flags, or --all. Without any of these, nothing is selected. If the list may be
incomplete, nothing is changed (exit 11; --allow-partial continues with what is there).

  --ids  one id a line, NDJSON, a JSON array, or a CSV with a column id; - is stdin
  --csv  a column id (or another one, with --key) and the fields to set; for tryouts:
         status, internalNotes (or note) and if_status. A file that list -o csv wrote
         works as it is, and so does a workbook (list --out FILE.xlsx), saved by
         any spreadsheet program: --sheet NAME reads another than its first sheet,
         --take-formulas the values that its formulas show.
         An empty cell changes nothing; <clear> empties the field. A cell takes
         the type of the field; name:text, :int, :bool and :json set another.
         --map "THEIRS=id" renames a column, --ignore-columns skips unknown ones.

A spreadsheet that opens a CSV shortens long numbers such as Discord ids (1.23457E+17).
Such a cell is refused; use .xlsx, or import the column as text.

Before the first change you see a preview (l lists all rows); in a script, add --yes.
To delete several records, you must state how many: type the number, or add --yes --expect N.
--note over existing notes asks whether to replace or append. --dry-run changes nothing;
with --exit-code it exits 12 if something would change.

--max-changes N (default 100) is a safety limit: if more records would change, nothing
is sent (exit 11). To change at most N and leave the rest for next time, limit the
selection: --sort submittedAt --limit 200 --max-changes 200. With -q, a run that went well prints
nothing.

Results: changed, unchanged, skipped (--if, --if-status), failed, conflict (someone else
changed it after the preview), unknown (it may have happened), not_attempted.
Exit codes: rosterctl help exit-codes

Each record is read at most 2 seconds before it is changed. A change that another admin
makes in these 2 seconds is overwritten. If a run is interrupted, run the same command
again: it continues where it stopped and repeats nothing. Losing your SSH session stops
a run, just as Ctrl-C does. To keep it running, use tmux or setsid.

  rosterctl runs list              finished and unfinished runs
  rosterctl runs show last         the result of each row
  rosterctl runs resume last       continue an interrupted run
  rosterctl runs retry RUN         try the rows that failed or conflicted again
  rosterctl runs undo last         restore what a run changed

An undo restores only what nobody has changed since, for 30 days (undo.keep). It cannot
undo deletions, conversions or what your Flows did.

To let somebody else look at a change first, add --plan FILE: rosterctl help plans

One bulk change runs at a time for each organization and kind of record; --wait-lock 10m
waits for the other to finish.`;

function sandboxPage(): string {
  return `The embedded sandbox

\`-p sandbox\` works on a fresh machine with nothing configured: a real HTTP service on
this machine, with demo data and a file store. It enforces every documented rule of the
service. Its data stays between commands; rosterctl sandbox reset starts over.

Each command runs a server of its own. For URLs that outlive the command, and for other
programs, run rosterctl sandbox start in another terminal; commands with -p sandbox
then use it.

To see how rosterctl works with another kind of service, or with a bad network, start it
with --shape and --fault: rosterctl sandbox start --help, and docs/sandbox.md.

Where the service is not documented, the sandbox chooses. These choices prove nothing
about the real service:

${inventions.map((sentence) => `  - ${sentence}`).join('\n')}`;
}

/** Returns docs/sandbox.md: how the sandbox imitates other services and bad networks. */
export function sandboxGuide(): string {
  return `# Shapes and faults of the sandbox

Written by \`npm run generate\`. \`rosterctl sandbox start\` runs the sandbox as a server; \`rosterctl help sandbox\` says what it is.

## Shapes

\`--shape KEY=VALUE\` (repeatable) makes the sandbox answer like another service. \`list.teams=data\` or \`error.404=text\` change one resource or status. The first value is the default:

\`\`\`text
${aligned(shapeRows())}
\`\`\`

The value of an answer may also be a template: \`201 {"player":"$record"}\`, \`{"data":"$rows","next":"$next?"}\`, \`302 $url\`, \`204\`. A placeholder that is a whole text becomes its value, \`$name?\` leaves its key out when it is null, and a key \`"..."\` spreads a record. Placeholders:

\`\`\`text
${aligned(placeholderRows())}
\`\`\`

## Faults

\`--fault RULE\` (repeatable) injects faults into chosen requests. A rule is

\`\`\`text
${faultGrammar}
\`\`\`

with \`*\` for one part of a route; \`#2\` is the second request that matches. Kinds:

\`\`\`text
${aligned(Object.entries(faultKinds).map(([kind, { text }]) => [kind, text]))}
\`\`\`

While it runs, read and change the rules at \`/_sandbox/faults\` (GET, POST \`{"faults": […]}\`, DELETE), and read the requests at \`/_sandbox/requests\`, with the token of server.json in the header \`x-sandbox-token\`.
`;
}

/** Renders names and their descriptions in two columns. */
function aligned(rows: readonly (readonly [name: string, text: string])[]): string {
  const longest = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, text]) => `  ${name.padEnd(longest)}  ${text}`).join('\n');
}

const securityPage = `Security

The API key goes only to the origin (scheme, host, port) it was stored for: to no
other host, through no redirect, never to the file store behind signed URLs. It is
never taken from a flag, and never written to output, logs or errors.
It is kept in credentials.json, mode 0600, in the configuration folder; or given by
ROSTERCTL_API_KEY, ROSTERCTL_API_KEY_FILE or a credential command (key.command).

https only; http only to this machine. Certificates are always verified; a private
authority is added with NODE_EXTRA_CA_CERTS.

What applicants typed into a form is untrusted: control and direction characters are
shown as visible escapes in every view, prompt and error, and csv cells that a
spreadsheet would run are guarded.

Nothing is read from the current directory except files that you name, nothing is
sent to anyone but the configured service and the signed URLs it hands out.`;
