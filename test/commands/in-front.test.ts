import { describe, expect, test } from 'vitest';
import { exit } from '../../src/exit-codes.js';
import { inProcess } from '../support/in-process.js';
import { type Reply, recordingService } from '../support/service.js';

const html = { 'content-type': 'text/html' };
const password = 'Basic realm="staff"';
const answers = {
  'a 403 as a web page': {
    status: 403,
    text: '<html><h1>403 Forbidden</h1></html>',
    headers: html,
  },
  'a 401 that asks for a password': {
    status: 401,
    text: '<html><h1>401 Authorization Required</h1></html>',
    headers: { ...html, 'www-authenticate': password },
  },
  'a 401 of the service, which knows passwords too': {
    status: 401,
    json: { detail: 'Invalid API key.' },
    headers: { 'www-authenticate': password },
  },
} as const satisfies Readonly<Record<string, Reply>>;

const blocked =
  'The answer is a web page: something in front of the service blocked the request.\n';
const asks =
  'Something in front of the service asks for a user name and a password; rosterctl sends only the API key.\n';
const refused = 'was refused with 401.\n';

// As nginx (deny, auth_basic), Caddy (basicauth) and Django answer.
describe('what stands in front of the service is told from the service', () => {
  test.each<[keyof typeof answers, string, number, string]>([
    [
      'a 403 as a web page',
      'tryouts list',
      exit.forbidden,
      `The service refused to list the applications.\n${blocked}`,
    ],
    [
      'a 403 as a web page',
      'tryouts update app_1 --status rejected --yes',
      exit.forbidden,
      `The service refused to read application app_1.\n${blocked}`,
    ],
    [
      'a 401 that asks for a password',
      'tryouts list',
      exit.unauthenticated,
      `GET /tryout-applications ${refused}${asks}`,
    ],
    [
      'a 401 that asks for a password',
      'tryouts update app_1 --status rejected --yes',
      exit.unauthenticated,
      `GET /tryout-applications/{applicationId} ${refused}${asks}`,
    ],
    [
      'a 401 of the service, which knows passwords too',
      'tryouts list',
      exit.unauthenticated,
      'The service does not accept the API key in ROSTERCTL_API_KEY.\nThe service says: Invalid API key.\nSet ROSTERCTL_API_KEY to a valid key, or unset it and store one: rosterctl auth login\n',
    ],
  ])('%s: %s', async (name, line, code, stderr) => {
    const { env, requests } = await recordingService(() => answers[name]);
    const ran = await inProcess(line, { env });
    expect([ran.code, ran.stdout, ran.stderr]).toEqual([code, '', stderr]);
    expect(requests).toHaveLength(1);
  });
});

// Django's APPEND_SLASH, FastAPI's redirect_slashes, a login in front, and a proxy that wants https.
describe('a redirect says where it leads', () => {
  const slash =
    'The service wants a / at the end of its paths, which the contract does not have. Tell its operator.\n';
  const check = 'Check the base URL: rosterctl auth status\n';
  test.each([
    [301, '/v1/teams/org_7/', '/v1/teams/org_7/', slash],
    [307, 'HERE/v1/teams/org_7/?next=1', '/v1/teams/org_7/', slash],
    [302, '/login?next=/v1/teams/org_7', '/login', check],
    [302, `/${'x'.repeat(300)}`, 'HERE', check],
    [302, 'login', 'HERE', check],
    [301, 'https://example.org/v1/teams/org_7', 'https://example.org', check],
  ])('%i to %s', async (status, location, shown, hint) => {
    const service = await recordingService(() => ({
      status,
      headers: { location: location.replace('HERE', service.origin) },
    }));
    const ran = await inProcess('teams list', { env: service.env });
    const where = shown.replace('HERE', service.origin);
    expect([ran.code, ran.stdout, ran.stderr]).toEqual([
      exit.failed,
      '',
      `Unexpected redirect to ${where} (${status}); it was not followed.\n${hint}`,
    ]);
    expect(service.requests).toHaveLength(1);
  });

  test('also after a write, which may have taken effect', async () => {
    const { env } = await recordingService(() => ({
      status: 301,
      headers: { location: '/v1/teams/' },
    }));
    const ran = await inProcess('api teams -f name=Kite', { env });
    expect([ran.code, ran.stderr]).toEqual([
      exit.unknownOutcome,
      'POST /teams was redirected to /v1/teams/ (301), which was not followed, and may have taken effect.\nCheck whether it took effect before you send it again.\n',
    ]);
  });
});

describe('what only a proxy does to an answer is told from the service', () => {
  test.each<[string, Reply, string, string]>([
    [
      '304, although nobody asked what changed',
      { status: 304 },
      'The service answered 304 (not modified), which rosterctl did not ask for.',
      'A cache may have answered in its place: exempt the service from that cache.',
    ],
    [
      'a compression that nobody asked for',
      { status: 200, text: 'x', headers: { 'content-encoding': 'gzip' } },
      'The answer from ORIGIN has a content encoding that rosterctl did not ask for.',
      'Something in front of the service may compress it: exempt the service from that.',
    ],
  ])('%s', async (_, reply, message, hint) => {
    const { env, origin } = await recordingService(() => reply);
    const ran = await inProcess('teams list --retries 0', { env });
    expect([ran.code, ran.stdout, ran.stderr]).toEqual([
      exit.failed,
      '',
      `${message.replace('ORIGIN', origin)}\n${hint}\n`,
    ]);
  });
});
