import type { FlagModel, Model, Slot, WordModel } from './model.js';
import { powershellEngine } from './powershell-engine.js';

/** The script for PowerShell 5.1 and later; it holds the table as JSON. */
export function powershellScript(model: Model): string {
  return [
    '# Completion of rosterctl for PowerShell 5.1 and later.',
    '# Generated from the command table: rosterctl completion powershell',
    '',
    "$global:RosterctlJson = @'",
    asciiJson(tableOf(model)),
    "'@",
    '$global:RosterctlTable = $null',
    '',
    powershellEngine,
  ].join('\n');
}

function tableOf({ first, verbs, commands, globals, topics }: Model) {
  return {
    first: first.map(word),
    verbs: Object.fromEntries([...verbs].map(([noun, all]) => [noun, all.map(word)])),
    commands: Object.fromEntries(
      commands.map(({ name, flags, args, variadic, fields, askFields }) => [
        name,
        { flags: flags.map(flag), args: args.map(slot), variadic, fields, ask: askFields },
      ]),
    ),
    globals: globals.map(flag),
    topics: topics.map(({ word: w, text }) => ({ w, t: text })),
  };
}

function word({ word: w, text, aliases }: WordModel) {
  return { w, t: text, a: aliases };
}

function flag({ long, short, text, slot: takes, again }: FlagModel) {
  return { w: short ? [long, short] : [long], t: text, s: takes && slot(takes), again };
}

function slot({ kind, words, ask, list, ends }: Slot) {
  return { kind, words: words.map(({ word: w, text }) => ({ w, t: text })), ask, list, ends };
}

/** On one line, and in ASCII: Windows PowerShell reads a file without a mark in an old code page. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
