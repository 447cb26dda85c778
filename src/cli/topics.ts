import { contract, type Endpoint } from '../api/contract.js';
import { environmentVariables } from '../config/environment.js';
import { exitCodes } from '../exit-codes.js';
import { faultGrammar, faultKinds } from '../sandbox/fault-rule.js';
import { inventions } from '../sandbox/inventions.js';

/** A page of `rosterctl help TOPIC`; made at build time, read without loading its sources. */
export interface Topic {
  readonly name: string;
  readonly about: string;
  readonly text: string;
}

/** All topics in the order that help names them. */
export function topicTexts(): readonly Topic[] {
  return [
    topic('environment', 'variables that the tool reads', environmentPage()),
    topic('exit-codes', 'what each exit code means', exitCodePage()),
    topic('output', 'formats, streams, what scripts can rely on', outputPage),
    topic(
      'undocumented',
      'what is assumed about the service, and how to replace it',
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

In a write to several records: a signal wins over 4 and 7 (stopped the run), those
over 1, then 10, 9, 8, 0. The report is printed whatever the code.`;
}

function environmentPage(): string {
  const width = Math.max(...environmentVariables.map(({ name }) => name.length));
  const rows = environmentVariables.map(({ name, text }) => `  ${name.padEnd(width)}  ${text}`);
  return `Environment variables; a flag beats its variable, a variable beats the profile

${rows.join('\n')}

A profile named with -p beats ROSTERCTL_BASE_URL, ROSTERCTL_ORG and the key variables,
with one note on stderr. Empty means unset. What says yes or loosens a guard
(--yes, --confirm) has no variable.`;
}

/** The rows of the contract table that are guesses. */
export function assumedEndpoints(): readonly (readonly [name: string, row: Endpoint])[] {
  return Object.entries(contract).filter(([, row]) => 'assumed' in row.basis);
}

function undocumentedPage(): string {
  const routes = assumedEndpoints().map(([, row]) => `  ${row.route.padEnd(34)} ${row.summary}`);
  return `What is assumed about the service

Its contract names these operations and shows neither method nor path:

${routes.join('\n')}

  Replace one for one call    rosterctl players update ID --route 'PUT /players/{id}' …
  Replace one for good        rosterctl config set endpoints.players.update "PUT /players/{id}"
  Send the whole record       rosterctl config set endpoints.players.update.semantics replace
  Send the organization too   rosterctl config set endpoints.players.update.org body

No second method or path is ever tried on its own. --dry-run shows each request with
its basis, stated or assumed.

Lists: envelope and paging are not shown. The array is found by the resource's name,
then data, items, results and the like; config set lists.<resource>.path DOTTED.PATH
settles it. Next pages are followed only where an answer offers one.
Downloads: the signed URL is looked for under url, downloadUrl, signedUrl and the
like; config set download.urlPath DOTTED.PATH settles it.
Fields of teams, players and documents are not shown: --json prints every field that
the service sent, -F sends every field that you type.
A request that the tool does not know: rosterctl api PATH -X METHOD.`;
}

const outputPage = `Output

stdout carries the result and nothing else; notes, prompts, progress and errors go
to stderr.

  -o table    aligned and fitted in a terminal; tab-separated with a header when piped
  -o json     lists are a bare array, one record is an object; whole or nothing
  -o ndjson   one record a line, written as they come
  -o csv      RFC 4180, nested fields as dotted columns; whole or nothing
  -o ids      one id a line

--json is -o json; --json=id,name is --json --fields id,name.
--fields keeps the named fields in that order, in every format. Dots reach into
objects and lists: gamerTags.0.gamerTag.
--out FILE writes the result to a file, atomically; its ending chooses the format.

Records are passed through untouched: every field that the service sent, in its
order, numbers as they came. In tab-separated output \\, tab, line feed and carriage
return in values are written \\\\, \\t, \\n, \\r. Csv cells that a spreadsheet would read
as a formula get a leading ' (--csv-raw leaves it out).

With json or ndjson the last line of stderr is the error:
  {"error":{"code":"…","kind":"…","message":"…","hint":"…","exitCode":5,…}}
Exit 0 means that everything asked was done and written out.`;

function sandboxPage(): string {
  return `The embedded sandbox

\`-p sandbox\` works on a fresh machine with nothing configured: a real HTTP service on
this machine with demo data, and a file store on a second port. It enforces every rule
of the service's contract. Its data stays between commands; rosterctl sandbox reset
begins anew. For other programs: rosterctl sandbox start.

Where the contract is silent the sandbox chooses. These choices are its own and say
nothing about the real service:

${inventions.map((sentence) => `  - ${sentence}`).join('\n')}

To test a program against a bad network, sandbox start --fault RULE (repeatable) spoils
chosen requests. A rule is ${faultGrammar}
with * for one part of a route; #2 is the second request that fits. Kinds:

${faultLines()}

While it runs, rules and requests are at /_sandbox/faults (GET, POST {"faults": […]},
DELETE) and /_sandbox/requests, with the token of server.json in x-sandbox-token.`;
}

function faultLines(): string {
  const width = Math.max(...Object.keys(faultKinds).map((kind) => kind.length));
  return Object.entries(faultKinds)
    .map(([kind, { text }]) => `  ${kind.padEnd(width)}  ${text}`)
    .join('\n');
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
