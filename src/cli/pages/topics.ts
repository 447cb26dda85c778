/** Help topics: the pages of `rosterctl help TOPIC`, written at build time. */

import { contract, type Endpoint } from '../../api/contract.js';
import { followedFields } from '../../api/paging-evidence.js';
import { environmentVariables } from '../../config/environment.js';
import { overrideRows } from '../../config/keys.js';
import { resourceNames, resourceWords } from '../../data/resources.js';
import { orList, upperFirst } from '../../data/text.js';
import { exitCodes } from '../../exit-codes.js';
import { faultGrammar, faultKinds, storeKinds } from '../../sandbox/faults.js';
import { inventions } from '../../sandbox/personality.js';
import { placeholderRows, shapeRows } from '../../sandbox/shapes/table.js';
import { aliasRows } from '../column-aliases.js';
import { fieldLabel } from '../lists/labels.js';
import { documentedFields, fieldType } from '../record-fields.js';
import { backupPage } from './backup-page.js';
import {
  bulkPage,
  cursorsPage,
  outputPage,
  plansPage,
  referencesPage,
  securityPage,
} from './topic-texts.js';

/** A page of `rosterctl help TOPIC`; put together at build time, so that reading it loads no sources. */
interface Topic {
  readonly name: string;
  readonly about: string;
  /** Flows when it is shown (`fitPage`); its own line breaks within a paragraph do not count. */
  readonly text: string;
}

/** Returns all topics in the order in which help lists them. */
export function topicTexts(): readonly Topic[] {
  return [
    topic('environment', 'variables that rosterctl reads', environmentPage()),
    topic('exit-codes', 'what each exit code means', exitCodePage()),
    topic('output', 'formats, streams, what scripts can rely on', outputPage),
    topic('fields', 'the fields of each resource: label, name and type', fieldsPage()),
    topic('references', 'naming records by e-mail, name, Discord or gamer tag', referencesPage),
    topic('cursors', 'lists that print only what is new: --since-last', cursorsPage),
    topic('bulk', 'changing records: selection, preview, journal, resume, undo', bulkPage),
    topic('plans', 'have changes reviewed before they are made: --plan', plansPage),
    topic(
      'backup',
      'what a backup holds, how to keep it safe, and how to restore from it',
      backupPage,
    ),
    topic('import', 'players and teams from a spreadsheet', importPage()),
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
  return { name, about, text: `${text.trimEnd()}\n` };
}

function exitCodePage(): string {
  const rows = Object.values(exitCodes).map(
    ({ code, text }) => `  ${String(code).padStart(3)}  ${text}`,
  );
  return `Exit codes

${rows.join('\n')}

If a change of several records ends in more than one way, the first of these is the exit
code: a signal, 4 or 7 (which stopped the run), 1, 10, 9, 8, 0. The report is printed
whatever the code.`;
}

function environmentPage(): string {
  return `Environment variables

Flags override variables, and variables override the profile.

${aligned(environmentVariables)}

A profile named with -p overrides ROSTERCTL_BASE_URL, ROSTERCTL_ORG and the key variables,
with one note on stderr. An empty variable counts as unset, but an empty pager means none.
Flags that say yes or loosen a guard, such as --yes and --confirm, have no variable.`;
}

/** Returns the rows of the contract table that are assumed. */
export function assumedEndpoints(): readonly (readonly [name: string, row: Endpoint])[] {
  return Object.entries(contract).filter(([, row]) => 'assumed' in row.basis);
}

function undocumentedPage(): string {
  const routes = assumedEndpoints().map(([, row]) => `  ${row.route.padEnd(34)} ${row.summary}`);
  const withoutRoutes = resourceNames.filter(
    (name) => Object.keys(resourceWords[name].overrides).length === 0,
  );
  return `What rosterctl assumes about the service

The service's documentation names these operations without their method and path, so
rosterctl assumes them:

${routes.join('\n')}

  # Use another route once
  rosterctl players update ID --route 'PUT /players/{id}' -F role=Support
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
path by itself. A 405, a 501, or a 404 for a record that exists shows that the route is wrong,
and stops a run of many records after the first. --dry-run shows each request as stated,
assumed, or named by you.

Lists

${listRules.join('\n\n')}

  # Find the settings that read the lists whole, and store them
  rosterctl doctor --shapes --apply
  # Or set where the records are, how the service pages, and which field leads to the next page
  rosterctl config set lists.players.path data.players
  rosterctl config set paging.mode page
  rosterctl config set paging.next meta.continuation
  # This number is not a total; this field is the id
  rosterctl config set paging.total none
  rosterctl config set ids.players _id

Downloads

rosterctl looks for the signed URL under downloadUrl (previewUrl for a preview), signedUrl,
presignedUrl, url, href and link, then takes the only URL there is; a URL below the base URL
comes last. To name the field, even within a list or with a relative URL:

  rosterctl config set download.urlPath files.0.url

Fields

The fields of teams, players and documents are not documented: --json prints every field
that the service sends, and -F sends every field that you type. For a request that rosterctl
does not know, use: rosterctl api PATH -X METHOD

Settings that replace an assumption (rosterctl config set KEY VALUE); <resource> is
${orList(resourceNames)} (endpoints: not ${orList(withoutRoutes)}):

${aligned(overrideRows())}`;
}

/** How lists are read, one sentence each, for the help and the documentation. */
export const listRules: readonly string[] = [
  "The records are found under the resource's name, then under data, items, results and similar names, at the top or up to two levels down.",
  `rosterctl reads the next page if the answer points to it: a Link header, a URL under next, or one of ${followedFields.join(', ')}; or by page number or offset, if the answer names both its own and the last.`,
  'A list is complete if the answer says so (hasMore or hasNextPage false, last true, next null, the last page, a total that fits), or if nothing suggests more.',
  'If anything else suggests more, the list may be incomplete: a larger total, a field such as continuation, moreToken or done: false, status 202, 206 or 207, as many records as the page size or a round number like 20. Such a list is printed with a warning; a change of filtered records is refused (exit code 11) unless you add --allow-partial.',
];

function sandboxPage(): string {
  return `The embedded sandbox

\`-p sandbox\` works on a fresh machine with nothing configured: a real HTTP service on
this machine, with demo data and a file store. It enforces every documented rule of the
service. It keeps its data between commands; rosterctl sandbox reset starts over.

Each command runs a server of its own. For URLs that outlive the command, and for other
programs, run rosterctl sandbox start in another terminal; commands with -p sandbox
then use it.

To see how rosterctl works with another kind of service, or with a bad network, start it
with --shape and --fault: see rosterctl sandbox start --help and docs/sandbox.md.

Where the service is not documented, the sandbox chooses. These choices prove nothing
about the real service:

${inventions.map((sentence) => `  - ${sentence}`).join('\n')}`;
}

/** Returns docs/sandbox.md: how the sandbox imitates other services and bad networks. */
export function sandboxGuide(): string {
  return `# Shapes and faults of the sandbox

Written by \`npm run generate\`. \`rosterctl sandbox start\` runs the sandbox as a server; \`rosterctl help sandbox\` says what it is.

## Shapes

\`--shape KEY=VALUE\` (repeatable) makes the sandbox answer like another service. \`list.teams=data\` changes only the lists of teams, \`error.404=text\` only the answers with 404. The first value is the default:

\`\`\`text
${aligned(shapeRows())}
\`\`\`

The value of an answer may also be a template: \`201 {"player":"$record"}\`, \`{"data":"$rows","next":"$next?"}\`, \`302 $url\`, \`204\`. A string that is only a placeholder becomes the value itself. \`$name?\` drops the key if the value is null. The key \`"..."\` copies in all fields of a record. Placeholders:

\`\`\`text
${aligned(placeholderRows())}
\`\`\`

## Faults

\`--fault RULE\` (repeatable) injects faults into chosen requests. A rule is

\`\`\`text
${faultGrammar}
\`\`\`

with \`*\` for one part of a route and \`**\` for the rest of it; \`#2\` is the second request that matches. Requests to the file store (\`store\`) take only ${storeKinds.join(', ')}. In this list of kinds, "it" is the request:

\`\`\`text
${aligned(Object.entries(faultKinds).map(([kind, { text }]) => [kind, text]))}
\`\`\`

While it runs, read and change the rules at \`/_sandbox/faults\` (GET, POST \`{"faults": […]}\`, DELETE), and read the requests at \`/_sandbox/requests\`, with the token from \`sandbox/server.json\` (in the folder of \`--data\`, else in the state folder) in the header \`x-sandbox-token\`.
`;
}

/** Renders names and their descriptions in two columns. */
function aligned(rows: readonly (readonly [name: string, text: string])[]): string {
  const longest = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, text]) => `  ${name.padEnd(longest)}  ${text}`).join('\n');
}

function importPage(): string {
  return `Importing players and teams from a CSV, a workbook or NDJSON

  rosterctl players template -o csv --out roster.csv
  rosterctl players import roster.csv --key email --dry-run
  rosterctl players import roster.csv --key email

The key is a field that identifies a record, such as email. Each row changes the record that has
its key, or creates one; nothing is deleted. Importing the same file again sends nothing. E-mail
addresses and Discord names match in any case; names match as typed or, if none does, in any
case; other keys match exactly. Each key may occur only once in the file, and in only one record. To change the e-mail
addresses themselves, export the list and import it with --key id.

A column sets the field of the same name, ignoring case, spaces, -, _ and dots, or the field of an
alias:

${aligned(aliasRows())}

The preview shows which field each column sets. Map other columns with --map 'Position=role', or
skip them with --ignore-columns. The fields that the service sets itself are never sent; with an
updatedAt column, a record that changed since the export is a conflict. -F kind=player sets a
field in every row.

A Team column holds names of teams, in any case, separated by semicolons, or [] for none; write an id as
id:team_0001. --team-column COLUMN uses another column. If no player shows a field with team
ids, name it with --team-field FIELD ('teamIds[]' for a list).

A cell takes the type of the field in the records: a number stays a number, text that looks like a
number stays text, and a date is written as the records write it. name:text, :int, :bool and :json in
the header set another type; a;b is a list, [] an empty one. A blank cell changes nothing; <clear> empties the field.

An .ndjson file, as list -o ndjson or a backup writes it, holds one record per line. Its fields
are set by their own names and with their own types, even if the record has changed since; null
empties a field.

All problems of a file are listed at once, with line and column, and nothing is sent until they
are fixed. --skip-invalid imports the other rows. A file is text in UTF-8 or UTF-16,
separated by commas, semicolons or tabs, or an .xlsx (--sheet NAME), with up to 200,000 rows.
--encoding windows-1252 reads files of older spreadsheet programs.

After the first create, the record is read again; if it does not show the key, the import stops
(exit 11). If the answer to a create is lost, the record is looked up by its key; if it is not
found, the row is unknown (exit 10) and is never sent again automatically. Check, then run the
same command with --restart. rosterctl runs undo last restores what was changed and deletes what
was created.
See also: rosterctl help bulk`;
}

function fieldsPage(): string {
  return `Fields: label, name and type

A list in a terminal heads its columns with labels; -v shows the names below them.
--fields, --sort, --where, --if and columns.RESOURCE take both; a label may be typed
in any case, and is used if no field has exactly that name. Output uses the names:

  rosterctl tryouts list --sort submitted --fields id,discord

${resourceNames.toReversed().map(fieldRows).join('\n\n')}

The label of any other field is its name in words: legacyRef is Legacy ref. To see
what your records hold: rosterctl players list -L 1 --json`;
}

function fieldRows(resource: (typeof resourceNames)[number]): string {
  const fields = documentedFields(resource);
  const rows = fields.map(
    (field) => `  ${labelIn(field).padEnd(16)}${field.padEnd(24)}${fieldType(resource, field)}`,
  );
  const rest = fields.length > 1 ? '' : '\n  The service documents no others.';
  return `${upperFirst(resourceWords[resource].plural)} (rosterctl ${resource})\n${rows.join('\n')}${rest}`;
}

/** A nested field is named by its path. */
function labelIn(field: string): string {
  return field.includes('.') ? '' : fieldLabel(field);
}
