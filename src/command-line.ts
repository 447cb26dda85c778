/** Runs one command line: parses it, shows a page of help or runs its command, and prints how it failed. */
import type { Parsed, ParsedCommand } from './cli/check.js';
import { asksForOutput } from './cli/global-flags.js';
import { commandHelp, groupHelp, rootHelp, startPage } from './cli/help.js';
import { pageAlone } from './cli/resolve-command.js';
import type { World } from './context.js';
import type { CommandManifest } from './data/command-manifest.js';
import { isUtf8Locale } from './data/environment.js';
import { exit } from './exit-codes.js';
import { printFailure } from './print-failure.js';
import type { Host } from './run-parsed.js';
import { createPaint } from './terminal/paint.js';
import { fullWidth } from './terminal/whole-words.js';

/** Returns what a command line does in its world; nothing below it reads `process` itself. */
export function commandLine(world: World, host: Host) {
  let parsed: Parsed | undefined;
  return {
    /** Does what the words ask for and returns the exit code; prints every failure instead of throwing it. */
    async execute(): Promise<number> {
      const { argv, table, streams } = world;
      // For the pages and errors that are printed before the settings are known.
      if (argv.includes('--no-color')) streams.withoutColor();
      try {
        parsed = pageAlone(argv, table) ?? (await parse(argv, table));
        const page = await pageFor(parsed, world);
        if (page === undefined && parsed.kind === 'command') {
          const { runParsed } = await import('./run-parsed.js');
          return await runParsed(parsed, world, host);
        }
        if (page !== undefined) await showHelp(page, world, host);
        return exit.done;
      } catch (error) {
        return printFailure(error, world, { parsed });
      }
    },
    /** Prints an error that nothing caught, and returns its exit code. */
    printFailure: (error: unknown): Promise<number> => printFailure(error, world, { parsed }),
  };
}

/** Parses a command line. Throws UsageError. Pages of help take no parser, so it is loaded for the others. */
async function parse(argv: readonly string[], table: CommandManifest): Promise<Parsed> {
  const { parseCommandLine } = await import('./cli/program.js');
  return parseCommandLine(argv, table);
}

/** Returns the page that a command line asks for; undefined if it is a command to run. Throws UsageError. */
async function pageFor(parsed: Parsed, world: World): Promise<string | undefined> {
  const { table, streams } = world;
  const { stdout } = streams;
  if (parsed.kind === 'version') return `${table.version}\n`;
  if (parsed.kind === 'command' && !isHelpPage(parsed, world)) return undefined;
  const width = stdout.isTerminal ? Math.min(fullWidth, stdout.columns) : fullWidth;
  const { bold } = createPaint(stdout.color);
  if (parsed.kind === 'command') {
    const { helpTopic } = await import('./cli/help-topic.js');
    const words = parsed.values['topic'] as readonly string[];
    return helpTopic(words, world, { width, bold });
  }
  if (parsed.kind === 'start') {
    const { pageAfterLogin } = await import('./start.js');
    const page = await pageAfterLogin(world, { width, flags: parsed.globals });
    return page ?? startPage(table, width);
  }
  const { of, long } = parsed;
  const options = { long, width, bold };
  if (!of) return rootHelp(table, options);
  return 'words' in of ? commandHelp(of, options) : groupHelp(of, table, options);
}

/** True for `rosterctl help WORDS`, unless a flag or ROSTERCTL_OUTPUT asks for a format or a file. */
function isHelpPage({ command, globals }: ParsedCommand, { env }: World): boolean {
  return command.words[0] === 'help' && !asksForOutput(globals) && !env['ROSTERCTL_OUTPUT'];
}

/** Prints a page of help; one that is longer than the screen goes through the pager. */
async function showHelp(text: string, world: World, host: Host): Promise<void> {
  const { stdout } = world.streams;
  const page = stdout.isTerminal && !isUtf8Locale(world.env) ? text.replaceAll('…', '...') : text;
  const isPlain = ['--no-pager', '-q', '--quiet'].some((word) => world.argv.includes(word));
  if (isPlain || !stdout.isTerminal || page.split('\n').length <= stdout.rows)
    return stdout.write(page);
  const { showLongHelp } = await import('./cli/help-page.js');
  const { watchSuspension } = await import('./terminal/signals.js');
  await showLongHelp(page, {
    ...world,
    lendKeys(isInUse) {
      host.on('SIGINT', doNothing);
      const stopFollowing = watchSuspension(host).follow(isInUse);
      return () => {
        host.off('SIGINT', doNothing);
        stopFollowing();
      };
    },
  });
}

function doNothing(): void {}
