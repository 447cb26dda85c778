/** Error messages: the only place where errors become text, JSON and exit codes. */
import type { Context, LocalContext } from '../context.js';
import { drawsMarks, type Environment } from '../data/environment.js';
import { printJson } from '../data/json.js';
import { type Candidate, isExhausted, ReferencesError } from '../data/outcome-errors.js';
import { fileSystemError, systemLimit } from '../data/system-errors.js';
import {
  ApiError,
  type CallSite,
  Failure,
  InputError,
  NetworkError,
  ProtocolError,
  StoreError,
  UnknownOutcomeError,
} from '../errors.js';
import { exit } from '../exit-codes.js';
import { createPaint, markOf } from '../terminal/paint.js';
import { singleLine } from '../terminal/safe-text.js';
import type { OutputStream } from '../terminal/streams.js';
import { wrapWholeWords } from '../terminal/whole-words.js';
import { describeRefusal, type FailedCommand, hintForRefusal } from './failures/refusal.js';
import { refusalBehind, serviceBody } from './failures/service-words.js';
import { withConnectionFlags } from './typed-line.js';

/** The last line of stderr with `-o json`. */
interface ErrorEnvelope {
  readonly error: {
    readonly code: string;
    readonly kind: string;
    readonly message: string;
    readonly status?: number;
    readonly method?: string;
    readonly path?: string;
    readonly hint?: string;
    readonly exitCode: number;
    readonly retryable: boolean;
    /** The records that an ambiguous reference may mean. */
    readonly candidates?: readonly Candidate[];
    /** The body of a refusal: its JSON, or its text. */
    readonly service?: unknown;
  };
}

/** In characters. A report may have thousands of rows. */
const maxServiceLength = 64 * 1024;
const maxRowServiceLength = 4 * 1024;
const maxCandidates = 100;

/** An error as lines, envelope and exit code. Lines may contain text of the service: sanitize them. */
interface FailureText {
  readonly lines: readonly string[];
  readonly envelope: ErrorEnvelope;
  readonly exitCode: number;
}

/**
 * Describes an error: what happened, why, and the next command, on a line each; what the service
 * said takes up to ten lines more. `maxLength`: of the service's body in the envelope.
 */
export function describeFailure(
  failed: unknown,
  command: FailedCommand,
  maxLength: number = maxServiceLength,
): FailureText {
  const error = systemLimit(failed) ?? fileSystemError(failed) ?? failed;
  if (!(error instanceof Failure)) return describeBug(error);
  const { message, why, sentence } = describeRefusal(error, command);
  const refusal = refusalBehind(error);
  const own = [
    error.hint ?? hintFor(error, command),
    error instanceof ApiError ? error.details.routeHint : undefined,
  ].filter((line) => line !== undefined);
  const hint =
    own.length === 0
      ? undefined
      : withConnectionFlags(own.join('\n'), command.flags, command.table);
  const exitCode = command.exitCode ?? exit[error.exitName];
  const site = requestBehind(error);
  return {
    // An input may have several invalid lines, and a reference several records, each on its own line.
    lines: [
      ...(error instanceof InputError || error instanceof ReferencesError
        ? message.split('\n')
        : [message]),
      ...why,
      ...(hint ? hint.split('\n') : []),
      ...(error.unfinished === undefined ? [] : [error.unfinished]),
    ],
    envelope: {
      error: {
        code: error.code,
        kind: error.kind,
        message: sentence,
        ...site,
        ...(hint && { hint }),
        ...(error instanceof ReferencesError &&
          error.candidates.length > 0 && { candidates: error.candidates.slice(0, maxCandidates) }),
        exitCode,
        retryable:
          isExhausted(error) && !(error instanceof NetworkError && error.details.isPermanent),
        ...(refusal && serviceBody(refusal, command.redacted, maxLength)),
      },
    },
    exitCode,
  };
}

/** Returns the envelope as printed, with text of the service escaped so that it cannot control a terminal. */
export function envelopeJson({ envelope }: FailureText): string {
  return printJson(envelope);
}

/**
 * Returns the lines of an error, made harmless: at a terminal with a mark (`✘`, or `error:` where
 * the locale is not UTF-8) and wrapped to its width; elsewhere as they are, for logs and mails. An
 * answer of No (`isCancelled`) is not an error and gets no mark.
 */
export function renderFailure(
  lines: readonly string[],
  screen: Pick<OutputStream, 'isTerminal' | 'columns' | 'color'>,
  env: Environment,
  isCancelled = false,
): readonly string[] {
  const safe = lines.map(singleLine);
  if (!screen.isTerminal) return safe;
  const wrap = (line: string) => wrapWholeWords(line, screen.columns);
  if (isCancelled) return safe.flatMap(wrap);
  const mark = markOf(false, drawsMarks(env));
  const [message = '', ...below] = safe;
  const indent = ' '.repeat(mark.length + 1);
  const [first = '', ...more] = wrap(indent + message);
  return [
    `${createPaint(screen.color).bad(mark)} ${first.slice(indent.length)}`,
    ...more,
    ...below.flatMap((line) => wrap(`  ${line}`)),
  ];
}

function describeBug(error: unknown): FailureText {
  const text = error instanceof Error ? error.message : String(error);
  const message = `Something went wrong inside rosterctl: ${text}`;
  const hint = 'This is a bug. Run the command again with --debug, and report what it prints.';
  return {
    lines: [message, hint],
    envelope: {
      error: { code: 'bug', kind: 'bug', message, hint, exitCode: exit.failed, retryable: false },
    },
    exitCode: exit.failed,
  };
}

function requestBehind(error: Failure): { status?: number; method?: string; path?: string } {
  if (error instanceof ApiError) return { status: error.status, ...endpointOf(error.call) };
  if (error instanceof UnknownOutcomeError) {
    const { call, cause } = error;
    return { ...(cause instanceof ApiError && { status: cause.status }), ...endpointOf(call) };
  }
  if (error instanceof StoreError) return { status: error.status };
  if (error instanceof NetworkError) return { ...endpointOf(error.details.call) };
  if (error instanceof ProtocolError)
    return {
      ...(error.details.status !== undefined && { status: error.details.status }),
      ...endpointOf(error.details.call),
    };
  return {};
}

/** The endpoint of a request, without the record's id. */
function endpointOf(call: CallSite | undefined) {
  return call && { method: call.method, path: call.path };
}

function hintFor(error: Failure, command: FailedCommand): string | undefined {
  const specific = error instanceof ApiError ? hintForRefusal(error, command) : undefined;
  // For a file transfer, the command itself says how to continue.
  const isCall =
    error instanceof ApiError ||
    (error instanceof NetworkError && error.details.call !== undefined);
  return (
    specific ?? (isCall && isExhausted(error) ? 'Run the same command again later.' : undefined)
  );
}

/**
 * Returns an error that is one of several, as a row of a report holds it (`id`: empty if it concerns no
 * one record). It is redacted, because the service's text may repeat the key or a signed URL.
 */
export function rowError(
  { known, flags, streams, table }: Pick<LocalContext, 'known' | 'flags' | 'streams' | 'table'>,
  words: readonly string[],
  error: Failure,
  id: string,
) {
  const { redacted } = streams;
  const ids = id === '' ? [] : [id];
  const command = { words, ids, keySource: known.keySource, flags, redacted, table };
  const description = describeFailure(error, { ...command, isVerbose: false }, maxRowServiceLength);
  const { code, message, ...rest } = description.envelope.error;
  return { code: redacted(code), message: redacted(message), ...rest };
}

/** Returns the redacted message of an error, for a line about one of several records or next to a success. */
export function errorMessage(context: Context, id: string, error: Failure): string {
  return rowError(context, [], error, id).message;
}
