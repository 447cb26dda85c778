/** `rosterctl api`: a request to any path of the service. */
import { STATUS_CODES } from 'node:http';
import * as z from 'zod/mini';
import { bodyOfAnswer, failureOf } from '../api/answers.js';
import { strictHint } from '../api/drift.js';
import { readRawList } from '../api/raw-list.js';
import { statedRoute } from '../api/routes.js';
import type { TransportResponse } from '../api/wire.js';
import { ValueWithExit } from '../cli/command-output.js';
import { defineWrite, flag, param, params } from '../cli/define.js';
import {
  type FieldValues,
  fieldFlags,
  readFieldWords,
  refuseOtherOrganization,
} from '../cli/field-flags.js';
import { readValue } from '../cli/input.js';
import { nonEmptyText } from '../cli/schemas.js';
import { linesView } from '../cli/views.js';
import { isJsonFormat } from '../config/choices.js';
import type { Context } from '../context.js';
import { setFields } from '../data/assign.js';
import { isObject, mapTexts, printJson } from '../data/json.js';
import { readJson, saysJson } from '../data/json-body.js';
import { didYouMean } from '../data/nearest.js';
import { type Failure, ProtocolError, UsageError } from '../errors.js';
import { singleLine } from '../terminal/safe-text.js';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

interface Request {
  readonly method: (typeof methods)[number];
  /** The path below the base URL, with its query. */
  readonly path: string;
  readonly body: unknown;
}

export default defineWrite({
  summary: 'Send any request to the service',
  about:
    'Sends a GET, or a POST when you give fields or --input without -X. The path is relative to the base URL; the leading slash is optional. {org} becomes the organization, even in the value of a field or parameter. ' +
    'The fields of a GET become its query. A DELETE asks first. If the service refuses, its answer is still printed, and the error goes to stderr.',
  examples: [
    ['Read anything', 'teams/{org}'],
    ['One application', "tryout-applications/app_0001 --param 'organizationId={org}'"],
    ['Preview a write', "-X PATCH players/player_0001 -F 'name=Ann Example' --dry-run"],
    ['Every page of a list', 'players/{org} --paginate'],
    ['With status line and headers', 'teams/{org} -i'],
  ],
  calls: [],
  basis: 'assumed',
  args: {
    path: param(nonEmptyText, 'path below the base URL'),
  },
  flags: {
    method: param(
      z.optional(
        z.pipe(
          z.pipe(
            z.string(),
            z.transform((word) => word.toUpperCase()),
          ),
          z.enum(methods),
        ),
      ),
      'the method: GET (default), POST (default if there are fields), PUT, PATCH or DELETE',
      { short: 'X' },
    ),
    ...fieldFlags,
    input: { ...fieldFlags.input, text: 'the body in JSON or YAML; flags override it' },
    param: params(
      z.optional(z.array(z.string().check(z.regex(/^[^=]+=/, 'must be key=value')))),
      'a query parameter',
      { placeholder: 'k=v' },
    ),
    include: flag('print the status line and the headers before the body', {
      short: 'i',
      group: 'output',
    }),
    paginate: flag('read every page of a list and print one array', { group: 'output' }),
  },
  excludes: [['include', 'paginate']],
  view: linesView((value: unknown, { isTerminal }) =>
    value === undefined ? [] : printJson(value, { indent: isTerminal ? 2 : 0 }).split('\n'),
  ),
  async plan(context, values) {
    if (values.include && context.settings.output === 'xlsx')
      throw new UsageError('--include cannot be used with a workbook.', {
        hint: 'Use another extension, or -o json.',
      });
    const request = await buildRequest(context, values);
    if (values.paginate && request.method !== 'GET')
      throw new UsageError('--paginate works with GET only.');
    const { method, path, body } = request;
    if (context.settings.dryRun && method !== 'GET')
      context.note('What api sends cannot be undone.');
    const basis = statedRoute(method, path) ? 'stated' : 'assumed';
    return {
      requests: [{ method, path, basis, ...(body !== undefined && { body }) }],
      changes: method === 'DELETE' ? [{ id: null, field: path, from: null, to: null }] : [],
      onlyReads: method === 'GET',
      state: request,
    };
  },
  confirm({ state: { method, path } }) {
    return method === 'DELETE' ? `Send DELETE ${path}? This cannot be undone.` : undefined;
  },
  async apply(context, { state: { method, path, body } }, { include, paginate }) {
    const { overrides } = context.settings;
    if (paginate) {
      const warn = (message: string) => {
        if (context.settings.strict)
          throw new ProtocolError(message, { code: 'incomplete', hint: strictHint });
        context.message(message);
      };
      const records = await readRawList(context.api, path, { overrides, warn });
      return new ValueWithExit<unknown>(records, 'done', { isPage: true });
    }
    const template = path.split('?')[0] ?? path;
    const call = { method, path: template };
    const response = await context.api.raw({
      method,
      path,
      template,
      body: body === undefined ? undefined : printJson(body),
    });
    const failure = failureOf(response, call);
    if (failure) return refused(context, response, failure, include);
    const origin = new URL(context.api.baseUrl).origin;
    // A JSON response must parse completely; other text passes through unchanged.
    const needsJson = response.body.length > 0 && saysJson(response.headers['content-type']);
    const value = bodyOfAnswer(response, { call, origin, needsJson });
    const isText = value === undefined && response.body.length > 0;
    const output = isText ? response.body : value;
    return new ValueWithExit<unknown>(
      output,
      'done',
      include ? { head: statusAndHeaders(response) } : { isPage: method === 'GET' },
    );
  },
});

/**
 * Returns the body of a refusal as the result, beside its failure; redacted, because a refusal may
 * repeat the key. Throws the failure where a file is due, which holds only what was asked for.
 */
function refused(
  { settings: { out, output, fields }, streams: { redacted } }: Context,
  response: TransportResponse,
  failure: Failure,
  include: boolean,
): ValueWithExit<unknown> {
  if (out !== undefined && out !== '-') throw failure;
  const { body, headers } = response;
  const read = readJson(body, headers['content-type']);
  const printsJson = !fields && (output === 'table' || isJsonFormat(output));
  const isJson = read.kind === 'json' && printsJson;
  const value = isJson ? mapTexts(read.value, redacted, redacted) : redactBytes(body, redacted);
  return new ValueWithExit(read.kind === 'empty' ? undefined : value, failure.exitName, {
    failed: () => ({ error: failure, isUnreported: true }),
    ...(include && { head: redacted(statusAndHeaders(response)) }),
  });
}

/** Returns bytes without secrets; unchanged, whatever their encoding, if they have none. */
function redactBytes(body: Uint8Array, redacted: (text: string) => string): Uint8Array {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1');
  const clean = redacted(text);
  return clean === text ? body : Buffer.from(clean, 'latin1');
}

interface Values extends FieldValues {
  readonly path: string;
  readonly method: Request['method'] | undefined;
  readonly param: readonly string[] | undefined;
}

async function buildRequest(context: Context, values: Values): Promise<Request> {
  const { organizationId } = context.api;
  if (values.method === 'GET' && values.input !== undefined)
    throw new UsageError('A GET has no body. To send --input, add -X POST or another method.');
  const expandOrg = (value: unknown) => (value === '{org}' ? organizationId : value);
  const typedFields = await readFieldWords(values, context);
  const fields = typedFields.map((field) => ({ ...field, value: expandOrg(field.value) }));
  const input = values.input === undefined ? undefined : await readValue(values.input, context);
  const method = values.method ?? (fields.length > 0 || input !== undefined ? 'POST' : 'GET');
  const base = pathBelowBase(values.path, context.api);
  const query = (values.param ?? []).map((word): [string, string] => {
    const [key = '', value = ''] = word.split(/=(.*)/s);
    return [key, String(expandOrg(value))];
  });
  if (method === 'GET') {
    const asQuery = fields.map(({ key, value }): [string, string] => [
      key,
      typeof value === 'string' ? value : printJson(value),
    ]);
    return { method, path: withQuery(base, [...query, ...asQuery]), body: undefined };
  }
  if (input !== undefined && fields.length > 0 && !isObject(input))
    throw new UsageError('Fields can only be set in an --input that holds an object.');
  const body = fields.length > 0 ? setFields(isObject(input) ? input : {}, fields) : input;
  if (isObject(body) && body['organizationId'] !== undefined)
    refuseOtherOrganization(body['organizationId'], organizationId);
  return { method, path: withQuery(base, query), body };
}

/** Returns the path below the base URL. Throws UsageError for a path that would leave it. */
function pathBelowBase(typed: string, { baseUrl, organizationId }: Context['api']): string {
  const hint = 'Write the path alone, such as teams/{org}; the host comes from the profile.';
  if (/^[a-z][a-z0-9+.-]*:/i.test(typed) || /^[/\\]{2}/.test(typed))
    throw new UsageError('The path must not name another host.', { hint });
  const path = `/${typed.replace(/^\//, '').replaceAll('{org}', encodeURIComponent(organizationId))}`;
  const [bare = ''] = path.split('?', 1);
  refusePlaceholder(bare);
  if (bare.split('/').some((part) => /^(\.|%2e){1,2}$/i.test(part)) || /[#\\]/.test(path))
    throw new UsageError(
      'The path must stay below the base URL: no "." or "..", no "#" and no "\\".',
      { hint },
    );
  if (!/^[\u0021-\u007e]+$/.test(path))
    throw new UsageError('Spaces and letters beyond ASCII in the path must be percent-encoded.', {
      hint,
    });
  const version = new URL(baseUrl).pathname.split('/').at(-1) ?? '';
  if (version !== '' && bare.startsWith(`/${version}/`))
    throw new UsageError(`The base URL already ends in /${version}; leave it out of the path.`, {
      hint,
    });
  return path;
}

/** Throws UsageError for an unknown placeholder, which the service would take for an id. */
function refusePlaceholder(path: string): void {
  const placeholder = /\{[^{}/]*\}/.exec(path)?.[0];
  if (placeholder === undefined) return;
  throw new UsageError(`Unknown placeholder ${placeholder}.${didYouMean(placeholder, ['{org}'])}`, {
    hint: 'Only {org} is filled in. Write a brace in an id as %7B or %7D.',
  });
}

function withQuery(path: string, pairs: readonly (readonly [string, string])[]): string {
  const query = pairs.map(
    ([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`,
  );
  if (query.length === 0) return path;
  return `${path}${path.includes('?') ? '&' : '?'}${query.join('&')}`;
}

function statusAndHeaders({ status, headers }: TransportResponse): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${singleLine(value)}`);
  const line = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd();
  return `${[line, ...lines].join('\n')}\n\n`;
}
