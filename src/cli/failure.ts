/** Error messages: the only place where errors become text, JSON and exit codes. */
import type { GlobalFlags } from '../config/environment.js';
import type { Context } from '../context.js';
import type { CommandManifest } from '../data/command-manifest.js';
import { escapeJson } from '../data/json-escape.js';
import { describeRequestedWait } from '../data/outcome-errors.js';
import { type ResourceName, resourceNames, resourceWords } from '../data/resources.js';
import { systemLimit } from '../data/system-errors.js';
import { loginCommand, upperFirst } from '../data/text.js';
import {
  ApiError,
  Failure,
  InputError,
  isExhausted,
  NetworkError,
  ProtocolError,
  StoreError,
  UnknownOutcomeError,
} from '../errors.js';
import { exit } from '../exit-codes.js';
import { withConnectionFlags } from './connection-flags.js';

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
  };
}

/** The failed command line, which the message may name. */
interface FailedCommand {
  /** ['tryouts', 'update'] */
  readonly words: readonly string[];
  /** The positional ids, so that the message can name the missing one. */
  readonly ids: readonly string[];
  /** The exit code, if not that of the error: after a signal, or if several things failed. */
  readonly exitCode?: number | undefined;
  /** The source of the key: "stored for profile work", "environment ROSTERCTL_API_KEY". */
  readonly keySource: string | undefined;
  /** The global flags of the command line. */
  readonly flags: Partial<GlobalFlags>;
  /** The tool's own commands, to recognize those that a hint names. */
  readonly table: CommandManifest;
}

/** One of several things that failed. */
export interface FailedItem {
  readonly id: string;
  readonly error: Failure;
  /** True if no line about it was printed yet. */
  readonly isUnreported?: boolean;
}

/** An error as lines, envelope and exit code. Lines may contain text of the service: sanitize them. */
interface FailureText {
  readonly lines: readonly string[];
  readonly envelope: ErrorEnvelope;
  readonly exitCode: number;
}

/** Describes an error in at most four lines: what happened, why, and the next command. */
export function describeFailure(failed: unknown, command: FailedCommand): FailureText {
  const error = systemLimit(failed) ?? failed;
  if (!(error instanceof Failure)) return describeBug(error);
  const [message, why] =
    error instanceof ApiError ? describeApiError(error, command) : [error.message, undefined];
  const own = [
    error.hint ?? hintFor(error, command),
    error instanceof ApiError ? error.details.routeHint : undefined,
  ].filter((line) => line !== undefined);
  const hint =
    own.length === 0
      ? undefined
      : withConnectionFlags(own.join('\n'), command.flags, command.table);
  const exitCode = command.exitCode ?? exit[error.exitName];
  const site = siteOf(error);
  return {
    // An input may have several invalid lines, each with its own reason.
    lines: [
      ...(error instanceof InputError ? message.split('\n') : [message]),
      ...(why ? [why] : []),
      ...(hint ? hint.split('\n') : []),
    ],
    envelope: {
      error: {
        code: error.code,
        kind: error.kind,
        message: why ? `${message} ${why}` : message,
        ...site,
        ...(hint && { hint }),
        exitCode,
        retryable:
          isExhausted(error) && !(error instanceof NetworkError && error.details.isPermanent),
      },
    },
    exitCode,
  };
}

/** Returns the envelope as printed, with text of the service escaped so that it cannot control a terminal. */
export function envelopeJson({ envelope }: FailureText): string {
  return escapeJson(JSON.stringify(envelope));
}

function describeBug(error: unknown): FailureText {
  const text = error instanceof Error ? error.message : String(error);
  const message = `Something went wrong inside rosterctl: ${text}`;
  const hint = 'This is a bug. Run again with --debug and report what it shows.';
  return {
    lines: [message, hint],
    envelope: {
      error: { code: 'bug', kind: 'bug', message, hint, exitCode: exit.failed, retryable: false },
    },
    exitCode: exit.failed,
  };
}

function siteOf(error: Failure): { status?: number; method?: string; path?: string } {
  if (error instanceof ApiError) return { status: error.status, ...error.call };
  if (error instanceof UnknownOutcomeError) {
    const { call, cause } = error;
    return { ...(cause instanceof ApiError && { status: cause.status }), ...call };
  }
  if (error instanceof StoreError) return { status: error.status };
  if (error instanceof NetworkError) return { ...error.details.call };
  if (error instanceof ProtocolError)
    return {
      ...(error.details.status !== undefined && { status: error.details.status }),
      ...error.details.call,
    };
  return {};
}

// --- error responses of the service (contract section 7) ---

function describeApiError(
  error: ApiError,
  command: FailedCommand,
): readonly [string, string | undefined] {
  const { status, serviceCode } = error;
  const code = serviceCode ? ` (${serviceCode})` : '';
  const own = error.details.message ? `The service says: ${error.details.message}` : undefined;
  const thing = subject(error, command);
  switch (status) {
    case 401:
      return [`The service did not accept the API key${keyOf(command)}${code}.`, own];
    case 403:
      if (serviceCode === 'featureNotAvailable')
        return [`The organization's plan does not include API access${code}.`, own];
      return [`The service refused ${error.call.method} ${error.call.path}${code}.`, own];
    case 404:
      return [`${thing} was not found${code}.`, own];
    case 405:
      return [
        `The service does not know ${error.call.method} ${error.call.path}${code}.`,
        error.details.allow ? `It allows: ${error.details.allow}.` : own,
      ];
    case 409:
      return [
        `The service reports a conflict for ${lowerFirst(thing)}${code}.`,
        own ?? conflictReason(error),
      ];
    case 413:
      return [`The file is too large for the organization's plan${code}.`, own];
    case 429:
      return [`The service asks to slow down${code}.`, waitHint(error) ?? own];
    default:
      if (status >= 500)
        return [`The service failed with ${status}${code}.`, waitHint(error) ?? own];
      if (status >= 400)
        return [`The service refused the request as invalid: ${status}${code}.`, own];
      return [
        `The service answered ${error.call.method} ${error.call.path} with ${status}${code}.`,
        own,
      ];
  }
}

function waitHint(error: ApiError): string | undefined {
  const wait = describeRequestedWait(error);
  return wait && `It ${wait}`;
}

function conflictReason(error: ApiError): string | undefined {
  if (error.call.method !== 'PATCH' || !error.call.path.startsWith(resourceWords.tryouts.path))
    return undefined;
  return 'The e-mail or chat user is already used on another application for the same form.';
}

/** The resource that a request addresses. */
function resourceOf({ call }: ApiError): ResourceName | undefined {
  // The id may be in the query of a route that the admin named.
  const [path = ''] = call.path.split(/(?<=.)[/?]/, 1);
  return resourceNames.find((name) => path === resourceWords[name].path);
}

function subject(error: ApiError, command: FailedCommand): string {
  const resource = resourceOf(error);
  const hasId = /\{(?!organizationId)\w+\}/.test(error.call.path);
  if (!resource || !hasId) return `${error.call.method} ${error.call.path}`;
  const { noun } = resourceWords[resource];
  return command.ids.length === 1 ? `${upperFirst(noun)} ${command.ids[0]}` : `The ${noun}`;
}

/** The environment variable that the key came from, if any. */
function variableOf({ keySource = '' }: FailedCommand): string | undefined {
  return /^environment (\w+)$/.exec(keySource)?.[1];
}

function keyOf(command: FailedCommand): string {
  const variable = variableOf(command);
  if (variable !== undefined) return ` of ${variable}`;
  const profile = profileOf(command);
  return profile === undefined ? '' : ` of profile ${profile}`;
}

/** The profile that the key was stored for, if any. */
function profileOf({ keySource = '' }: FailedCommand): string | undefined {
  return / profile (.+)$/.exec(keySource)?.[1];
}

function hintFor(error: Failure, command: FailedCommand): string | undefined {
  const specific = error instanceof ApiError ? hintForResponse(error, command) : undefined;
  // For a file transfer, the command itself says how to continue.
  const isCall =
    error instanceof ApiError ||
    (error instanceof NetworkError && error.details.call !== undefined);
  return (
    specific ?? (isCall && isExhausted(error) ? 'Run the same command again later.' : undefined)
  );
}

function hintForResponse(error: ApiError, command: FailedCommand): string | undefined {
  const resource = resourceOf(error);
  const variable = variableOf(command);
  if (error.status === 401)
    return variable === undefined
      ? `Store a valid key: ${loginCommand(profileOf(command))}`
      : `Give ${variable} a valid key, or unset it and store one: rosterctl auth login`;
  if (error.status === 403 && error.serviceCode === 'featureNotAvailable')
    return "Ask the organization's owner for a plan that includes API access.";
  // The reader already has doctor's output in front of them.
  const isDoctor = command.words[0] === 'doctor';
  if (error.status === 403) {
    const { permission } = error.details;
    const needed = permission === undefined ? '' : `It needs the permission ${permission}. `;
    const see = isDoctor ? '' : ' See: rosterctl doctor';
    return `${needed}The key may lack the permission, or the organization may not be the key's.${see}`;
  }
  if (error.status === 404 && resource) return `See: rosterctl ${resource} list`;
  if (error.exitName === 'invalid' && !isDoctor)
    return `See: rosterctl ${command.words.join(' ')} --help`;
  return undefined;
}

function lowerFirst(text: string): string {
  return /^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}

/**
 * Returns an error as a row of a report or journal holds it, redacted because the service's text may
 * repeat the key or a signed URL.
 */
export function rowError(
  { api, flags, streams, table }: Context,
  words: readonly string[],
  error: Failure,
  id: string,
) {
  const description = describeFailure(error, {
    words,
    ids: [id],
    keySource: api.keySource,
    flags,
    table,
  });
  const { code, message, ...rest } = description.envelope.error;
  return { code: streams.redacted(code), message: streams.redacted(message), ...rest };
}

/** Returns the redacted message of an error, for a line about one of several records or next to a success. */
export function errorMessage(context: Context, id: string, error: Failure): string {
  return rowError(context, [], error, id).message;
}
