/** Words a refusal of the service (contract section 7): what happened, why, and the next command. */
import type { GlobalFlags } from '../../config/environment.js';
import type { CommandManifest } from '../../data/command-manifest.js';
import { describeRequestedWait } from '../../data/outcome-errors.js';
import { missingHint } from '../../data/references.js';
import { bracketedCode } from '../../data/refusal-words.js';
import {
  type ResourceName,
  type ResourceWords,
  resourceNames,
  resourceWords,
} from '../../data/resources.js';
import {
  loginCommand,
  lowerFirst,
  quotedIfSpaced,
  shellQuote,
  upperFirst,
  withArticle,
} from '../../data/text.js';
import { ApiError, type Failure } from '../../errors.js';
import { type Redact, refusalBehind, serviceWords } from './service-words.js';

/** The failed command line, which the message may name. */
export interface FailedCommand {
  /** ['tryouts', 'update'] */
  readonly words: readonly string[];
  /** The positional ids, so that the message can name the missing one. */
  readonly ids: readonly string[];
  /** The exit code, if not that of the error: after a signal, or if several things failed. */
  readonly exitCode?: number | undefined;
  /** The source of the key: "stored for profile work", "environment ROSTERCTL_API_KEY". */
  readonly keySource: string | undefined;
  readonly flags: Partial<GlobalFlags>;
  /** Removes the secrets of this process from the service's words. */
  readonly redacted: Redact;
  /** True to show all that the service says. */
  readonly isVerbose: boolean;
  /** The tool's own commands, to recognize those that a hint names. */
  readonly table: CommandManifest;
}

/**
 * Describes an error that the service refused, or whose outcome its refusal left unknown; what it
 * said is why. Returns the error's own message for any other.
 */
export function describeRefusal(error: Failure, command: FailedCommand) {
  const refusal = refusalBehind(error);
  const message = error instanceof ApiError ? whatHappened(error, command) : error.message;
  if (!refusal) return { message, why: [], sentence: message };
  const words = serviceWords(refusal, command);
  const reason =
    error instanceof ApiError ? reasonFor(error, words.sentence !== undefined) : undefined;
  return {
    message,
    why: [...(reason === undefined ? [] : [reason]), ...words.lines],
    sentence: [message, reason, words.sentence].filter((part) => part !== undefined).join(' '),
  };
}

function whatHappened(error: ApiError, command: FailedCommand): string {
  const { status, serviceCode } = error;
  const code = bracketedCode(serviceCode, status);
  const thing = subject(error, command);
  switch (status) {
    case 401:
      if (error.details.isForeign) return `${requestOf(error)} was refused with 401.`;
      return `The service does not accept the API key${keyPhrase(command)}${code}.`;
    case 403:
      if (serviceCode === 'featureNotAvailable')
        return `The organization's plan does not include API access${code}.`;
      return `The service refused ${attempted(error, command)}${code}.`;
    case 404:
      return `${actsOnRecord(error) ? requestOf(error) : thing} was not found${code}.`;
    case 405:
      return `The service does not know ${requestOf(error)}${code}.`;
    case 409:
      return `The service reports a conflict for ${conflicting(error, command)}${code}.`;
    case 413:
      // Only an upload is of no resource; a note or a player is a long request (contract 8).
      return resourceOf(error) === undefined
        ? `The file is too large for the organization's plan${code}.`
        : `The request is too large for the service${code}.`;
    case 429:
      return `The service asks you to slow down${code}.`;
    default:
      if (status >= 500) return `The service failed with ${status}${code}.`;
      if (status >= 400) return `The service rejected the request: ${status}${code}.`;
      return `The service answered ${requestOf(error)} with ${status}${code}.`;
  }
}

const requestOf = ({ call }: ApiError) => `${call.method} ${call.path}`;

/** Returns the subject of a 409: "application app_1", "the new player"; the request if it concerns no resource. */
function conflicting(error: ApiError, command: FailedCommand): string {
  const resource = resourceOf(error);
  const isNew = resource && error.call.method === 'POST' && !namesRecord(error);
  return isNew ? `the new ${resourceWords[resource].noun}` : lowerFirst(subject(error, command));
}

/** Returns what the request would have done: "to change application app_1"; the request if it concerns no resource. */
function attempted(error: ApiError, command: FailedCommand): string {
  const resource = resourceOf(error);
  if (!resource) return requestOf(error);
  const { noun, plural } = resourceWords[resource];
  const { method } = error.call;
  if (!namesRecord(error))
    return method === 'POST' ? `to create ${withArticle(noun)}` : `to list the ${plural}`;
  const record = lowerFirst(subject(error, command));
  if (method === 'GET') return `to read ${record}`;
  if (method === 'DELETE') return `to delete ${record}`;
  // A POST of one record is what the command says it is.
  const [topic, verb] = command.words;
  return `to ${method === 'POST' && topic === resource && verb ? verb : 'change'} ${record}`;
}

/** Why, apart from the service's words; `isExplained`: there are such words. */
function reasonFor(error: ApiError, isExplained: boolean): string | undefined {
  const { status, details } = error;
  if (status === 405 && details.allow) return `It allows: ${details.allow}.`;
  if (status === 409 && !isExplained) return knownConflict(error)?.why;
  const wait = status === 429 || status >= 500 ? describeRequestedWait(error) : undefined;
  return wait && `It ${wait}`;
}

function knownConflict(error: ApiError): ResourceWords['ifConflict'] {
  const resource = error.call.method === 'PATCH' ? resourceOf(error) : undefined;
  const words: ResourceWords | undefined = resource && resourceWords[resource];
  return words?.ifConflict;
}

function resourceOf({ call }: ApiError): ResourceName | undefined {
  // The id may be in the query of a route that the admin named.
  const [path = ''] = call.path.split(/(?<=.)[/?]/, 1);
  return resourceNames.find((name) => path === resourceWords[name].path);
}

/** True if the request names one record, and not only the organization. */
function namesRecord({ call }: ApiError): boolean {
  return /\{(?!organizationId)\w+\}/.test(call.path);
}

/** True for a request that acts on a record, which was read before (`POST /…/{id}/convert-to-player`). */
function actsOnRecord({ call }: ApiError): boolean {
  return call.method === 'POST' && /\}\/\w/.test(call.path);
}

function subject(error: ApiError, command: FailedCommand): string {
  const resource = resourceOf(error);
  if (!resource || !namesRecord(error)) return requestOf(error);
  const { noun } = resourceWords[resource];
  const id = onlyId(command);
  return id === undefined ? `The ${noun}` : `${upperFirst(noun)} ${quotedIfSpaced(id)}`;
}

function onlyId({ ids }: FailedCommand): string | undefined {
  return ids.length === 1 ? ids[0] : undefined;
}

function variableOf({ keySource = '' }: FailedCommand): string | undefined {
  return /^environment (\w+)$/.exec(keySource)?.[1];
}

function keyPhrase(command: FailedCommand): string {
  const variable = variableOf(command);
  if (variable !== undefined) return ` in ${variable}`;
  const profile = profileOf(command);
  return profile === undefined ? '' : ` of profile ${profile}`;
}

function profileOf({ keySource = '' }: FailedCommand): string | undefined {
  return / profile (.+)$/.exec(keySource)?.[1];
}

/** The next step after 403 `featureNotAvailable` (contract 5.3). */
export const askForPlan = "Ask the organization's owner for a plan that includes API access.";

/** Returns the next command after a refusal, if there is one. */
export function hintForRefusal(error: ApiError, command: FailedCommand): string | undefined {
  const resource = resourceOf(error);
  const variable = variableOf(command);
  if (error.status === 401)
    return variable === undefined
      ? `Store a valid key: ${loginCommand(profileOf(command))}`
      : `Set ${variable} to a valid key, or unset it and store one: rosterctl auth login`;
  if (error.status === 403 && error.serviceCode === 'featureNotAvailable') return askForPlan;
  // The reader already has doctor's output in front of them.
  const isDoctor = command.words[0] === 'doctor';
  if (error.status === 403) {
    const { permission } = error.details;
    const needed = permission === undefined ? '' : `It needs the permission ${permission}. `;
    const see = isDoctor ? '' : '\nSee: rosterctl doctor';
    return `${needed}The key may lack a permission, or belong to another organization.${see}`;
  }
  if (error.status === 404 && resource && actsOnRecord(error))
    return seeRecord(error, resource, command);
  if (error.status === 404 && resource)
    return namesRecord(error)
      ? missingHint(onlyId(command) ?? '', resource)
      : 'Are the base URL and the organization id right?\nSee: rosterctl auth status';
  if (!isDoctor && mayBeOrganization(error)) {
    // Only `api` leaves it to the user to name the organization.
    const missing = " If it is missing, add: --param 'organizationId={org}'";
    return `Is the organization id right?${command.words[0] === 'api' ? missing : ''}\nSee: rosterctl auth status`;
  }
  if (error.status === 409 && resource) return conflictHint(error, resource, command);
  // Only the words of `api` are a route of the user's own.
  if (error.status === 405 && resource && command.words[0] !== 'api' && !isDoctor)
    return 'Check the base URL: rosterctl auth status';
  if (error.exitName === 'invalid' && !isDoctor)
    return `See: rosterctl ${command.words.join(' ')} --help`;
  return undefined;
}

/** Returns the command that shows what a refused record conflicts with. */
function conflictHint(error: ApiError, resource: ResourceName, command: FailedCommand): string {
  const known = knownConflict(error);
  return known ? `See: ${known.see}` : seeRecord(error, resource, command);
}

/** Returns the command that shows the record of a request, or the list that it is in. */
function seeRecord(error: ApiError, resource: ResourceName, command: FailedCommand): string {
  const id = namesRecord(error) ? onlyId(command) : undefined;
  return `See: rosterctl ${resource} ${id === undefined ? 'list' : `get ${shellQuote(id)}`}`;
}

/** True for a list or get refused as a wrong organization id is: 400 `invalidRequest` (contract 4.6 rule 1). */
function mayBeOrganization({ status, serviceCode, call }: ApiError): boolean {
  const isRecords = resourceNames.some((name) => {
    const { path } = resourceWords[name];
    return call.path === path || call.path.startsWith(`${path}/`);
  });
  const isUnspecific = serviceCode === undefined || serviceCode === 'invalidRequest';
  return status === 400 && call.method === 'GET' && isRecords && isUnspecific;
}
