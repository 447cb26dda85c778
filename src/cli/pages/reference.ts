/** Generated Markdown: the command reference, the assumptions page, and the table of exit codes. */

import { contract, type Endpoint } from '../../api/contract.js';
import {
  argUsage,
  type CommandManifest,
  commandsAlone,
  commandsOf,
  exampleLine,
  type ManifestCall,
  type ManifestCommand,
  type ManifestParam,
  usageWords,
} from '../../data/command-manifest.js';
import { upperFirst } from '../../data/text.js';
import { exitCodes } from '../../exit-codes.js';
import { typedWords } from '../check.js';
import { globalFlags } from '../global-flags.js';
import { assumedEndpoints, listRules } from './topics.js';

/** Returns docs/reference.md: every command with its usage, flags, examples and calls. */
export function referencePage(table: CommandManifest): string {
  const groups = table.groups.map((group) => ({
    title: group.word,
    about: group.aliases.length > 0 ? `${group.about}. Also ${codes(group.aliases)}.` : group.about,
    commands: commandsOf(group, table),
  }));
  return page([
    `# Command reference, rosterctl ${table.version}`,
    'Written by `npm run generate` from the command table; `rosterctl <noun> <verb> --help` says the same.',
    'A call is *stated* where the contract of the service shows its method and path, and *assumed* where it does not. [What is assumed](assumptions.md) lists the assumptions.',
    '## Global flags',
    'Every command takes these.',
    paramTable('Flag', globalFlags, flagUsage),
    ...groups.flatMap(({ title, about, commands }) => [
      `## ${title}`,
      sentence(about),
      ...commands.flatMap(commandSection),
    ]),
    '## Other commands',
    ...commandsAlone(table).flatMap(commandSection),
    '## Help topics',
    rows(
      ['Topic', 'About'],
      table.topics.map(({ name, about }) => [`\`rosterctl help ${name}\``, about]),
    ),
  ]);
}

/** Returns the usage line of a command: `rosterctl teams get ID… [flags]`. */
export function usageOf(command: ManifestCommand): string {
  return ['rosterctl', ...command.words, ...usageWords(command)].join(' ');
}

/** Returns the source of a call: stated or assumed, and the permission if the contract names one. */
export function callSource(call: ManifestCall): string {
  const permission = call.permission ? `; permission ${call.permission}` : '';
  return `${call.basis}, ${call.source}${permission}`;
}

/** Returns the table of exit codes for docs/scripts.md. */
export function exitCodeRows(): string {
  return rows(
    ['Code', 'Meaning'],
    Object.values(exitCodes).map(({ code, text }) => [String(code), text]),
  );
}

/** Returns docs/assumptions.md: every assumption with its reason, and how to replace it. */
export function assumptionsPage(inventions: readonly string[]): string {
  return page([
    '# What rosterctl assumes about the service',
    "Written by `npm run generate` from the tables of the program. The service's documentation leaves some things out. This page lists what rosterctl does in those cases.",
    '## Assumed requests',
    rows(
      ['Operation', 'Assumed request', 'Why it is assumed'],
      assumedEndpoints().map(([, row]) => [
        row.summary,
        `\`${row.route}\``,
        'assumed' in row.basis ? row.basis.assumed : '',
      ]),
    ),
    'rosterctl never tries another method or path by itself. Replace one for a single call with `--route`, or for good:',
    '```sh\nrosterctl -p club players update ID -F name=Kite --route \'PUT /players/{id}\'\nrosterctl -p club config set endpoints.players.update "PUT /players/{id}"\n```',
    '## Answers that are not shown',
    'The documentation states these requests, but does not show their answers. rosterctl looks for the record or the signed URL where services of this kind put it. If the answer to a write holds no record, or holds an error although its status is a success, rosterctl reads the record again and reports what it finds.',
    rows(
      ['Operation', 'Request'],
      unshownResponses().map((row) => [row.summary, `\`${row.route}\``]),
    ),
    '## Lists',
    listRules.map((text) => `- ${text}`).join('\n'),
    'If these rules misread a list, `rosterctl doctor --shapes --apply` finds the settings that read it whole; `rosterctl help undocumented` lists all settings.',
    '## Updates with PUT',
    'PUT may replace the whole record. Where the setting `endpoints.RESOURCE.update` names a PUT route, `endpoints.RESOURCE.update.semantics replace` makes rosterctl send the whole record with the changes. After an update by PUT, rosterctl lists the fields that vanished.',
    '## What the sandbox invents',
    'The embedded sandbox has to choose where the contract is silent. These choices say nothing about the real service.',
    inventions.map((text) => `- ${text}`).join('\n'),
  ]);
}

/** Stated endpoints whose response the contract does not show. */
function unshownResponses(): readonly Endpoint[] {
  return Object.values<Endpoint>(contract).filter(
    ({ basis, answers }) => 'stated' in basis && ['unshown', 'link'].includes(answers),
  );
}

function commandSection(command: ManifestCommand): string[] {
  return [
    `### ${command.words.join(' ')}`,
    sentence(command.summary),
    ...(command.about ? [cell(command.about)] : []),
    fence('text', [usageOf(command)]),
    ...(command.args.length > 0 ? [paramTable('Argument', command.args, argUsage)] : []),
    ...(command.flags.length > 0 ? [paramTable('Flag', command.flags, flagUsage)] : []),
    ...rules(command),
    fence(
      'sh',
      command.examples.flatMap(([what, words]) => [`# ${what}`, exampleLine(command, words)]),
    ),
    callList(command),
  ];
}

function rules(command: ManifestCommand): string[] {
  const typed = (names: readonly string[]) => codes(typedWords(command, names));
  return [
    ...command.needsOneOf.map((names) => `At least one of ${typed(names)} is needed.`),
    ...command.excludes.map((names) => `At most one of ${typed(names)} may be given.`),
  ];
}

function callList(command: ManifestCommand): string {
  if (command.calls.length === 0)
    return command.basis === 'local'
      ? 'Local: it sends no request to the service.'
      : 'It sends the request that its arguments name.';
  return command.calls.map((call) => `- \`${call.route}\` (${cell(callSource(call))})`).join('\n');
}

function paramTable(
  head: string,
  params: readonly ManifestParam[],
  usageOfParam: (param: ManifestParam) => string,
): string {
  const body = params.map((param) => [
    `\`${usageOfParam(param)}\``,
    `${meaningOf(param)}${param.required ? '; required' : ''}`,
  ]);
  return rows([head, 'Meaning'], body);
}

/** Returns a flag as it is typed, with its short form and placeholder. */
export function flagUsage(flag: ManifestParam): string {
  const dashes = flag.short ? `-${flag.short}, ${flag.word}` : flag.word;
  return flag.takes === 'nothing' ? dashes : `${dashes} ${flag.placeholder}`;
}

/** Returns the description of a parameter, with its choices unless the text names them. */
export function meaningOf(param: ManifestParam): string {
  const unnamed = (param.choices ?? []).filter(
    (choice) => choice !== param.placeholder && !param.text.includes(choice),
  );
  const choices = unnamed.length > 0 ? ` (${param.choices?.join(', ')})` : '';
  return `${param.text}${choices}${param.takes === 'values' ? '; repeatable' : ''}`;
}

// --- markdown ---

function page(blocks: readonly string[]): string {
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

function rows(head: readonly string[], body: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...body]
    .map((cells) => `| ${cells.map(cell).join(' | ')} |`)
    .join('\n');
}

/** Escapes text for a table cell: `|` everywhere, `<` outside code. */
function cell(text: string): string {
  return text
    .replaceAll('|', '\\|')
    .replace(/`[^`]*`|</g, (match) => (match === '<' ? '&lt;' : match));
}

function fence(language: string, lines: readonly string[]): string {
  return [`\`\`\`${language}`, ...lines, '```'].join('\n');
}

function codes(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(', ');
}

function sentence(text: string): string {
  const capital = upperFirst(text);
  return /[.!?:]$/.test(capital) ? capital : `${capital}.`;
}
