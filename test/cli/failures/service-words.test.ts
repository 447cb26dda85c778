import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { failureOf } from '../../../src/api/answers.js';
import { describeFailure, envelopeJson } from '../../../src/cli/failure.js';
import { createRedactor } from '../../../src/terminal/redactor.js';
import { codePoint } from '../../support/code-point.js';
import { forbidden, hostileTexts } from '../../support/hostile.js';
import { key } from '../../support/service.js';

const table = { version: '0.0.0', groups: [], commands: [], topics: [] };
const call = { method: 'POST', path: '/players' };
const redactor = createRedactor();
redactor.add(key);

/** What is printed for an answer with this body, as lines and as the JSON of the error. */
function refusal(
  body: unknown,
  { status = 400, isVerbose = false, contentType = 'application/json' } = {},
) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const headers = { 'content-type': contentType };
  const at = { wall: 0, mono: 0 };
  const error = failureOf({ status, headers, body: Buffer.from(text), at }, call);
  const story = describeFailure(error, {
    words: ['players', 'create'],
    ids: [],
    keySource: undefined,
    flags: {},
    redacted: redactor.clean,
    isVerbose,
    table,
  });
  return { ...story, json: envelopeJson(story), error: story.envelope.error };
}

/** The lines between what happened and the next command, without indents. */
function said(...words: Parameters<typeof refusal>): readonly string[] {
  const { lines, error } = refusal(...words);
  const at = lines.findIndex((line) => line.startsWith('The service says:'));
  const from = at < 0 ? [] : lines.slice(at, -(error.hint?.split('\n').length ?? 0) || undefined);
  const [first = '', ...rest] = from;
  const single = first.replace(/^The service says: ?/, '');
  return [...(single === '' ? [] : [single]), ...rest.map((line) => line.trim())];
}

describe('what the body of a refusal says is shown', () => {
  test.each<[unknown, readonly string[]]>([
    [{ error: 'invalidRequest', message: 'Name is required' }, ['Name is required']],
    [{ error: 'invalidRequest', message: 'invalidRequest' }, []],
    [{ error: 'invalidRequest' }, []],
    [{ error: 'x', msg: 'No', description: 'Not now' }, ['No', 'Not now']],
    [{ error: 'x', reason: 'No', message: 'No' }, ['No']],
    [{ error: 'invalid_grant', error_description: 'Expired' }, ['Expired']],
    [{ Message: 'Bad.', ModelState: { 'team.Name': ['Gone'] } }, ['Bad.', 'team.Name: Gone']],
    [{ error: 'x', errors: [{ field: 'email', message: 'taken' }] }, ['email: taken']],
    [{ errors: { email: ['taken', 'too short'] } }, ['email: taken', 'email: too short']],
    [{ errors: ['One', 'Two', 'One'] }, ['One', 'Two']],
    [{ errors: 'All wrong' }, ['All wrong']],
    [
      { error: { code: '400', message: 'Value is required', target: 'name' } },
      ['name: Value is required'],
    ],
    [
      {
        error: {
          message: 'Several errors.',
          details: [{ code: '400', target: 'contact/email', message: 'Not an address' }],
        },
      },
      ['Several errors.', 'contact.email: Not an address'],
    ],
    [{ error: 'x', message: 'Too long', field: 'name' }, ['name: Too long']],
    [
      {
        success: false,
        error: {
          name: 'ZodError',
          message: '[\n  {\n    "path": ["tags", 0],\n    "message": "Too short"\n  }\n]',
        },
      },
      ['tags.0: Too short'],
    ],
    [{ error: 'x', message: '[see the manual]' }, ['[see the manual]']],
    [
      {
        name: 'BadRequest',
        message: 'validation failed',
        code: 400,
        data: [{ instancePath: '/email', keyword: 'format', message: 'must be an address' }],
      },
      ['validation failed', 'email: must be an address'],
    ],
    [{ message: 'No', data: [{ id: 'p1', title: 'Captain' }] }, ['No']],
    [
      {
        issues: [
          { path: ['name'], message: 'Required' },
          { path: ['tags', 0], message: 'Bad' },
        ],
      },
      ['name: Required', 'tags.0: Bad'],
    ],
    [{ details: [{ loc: ['body', 'email'], msg: 'Bad' }] }, ['email: Bad']],
    [{ detail: [{ loc: ['body', 'age'], msg: 'Bad', input: 'x' }] }, ['age: Bad']],
    [{ details: { limit: 25, current: 25 } }, ['limit: 25', 'current: 25']],
    [{ fields: { name: 'missing', title: 'too long' } }, ['name: missing', 'title: too long']],
    [{ fields: ['name', 'email'] }, ['fields: name', 'fields: email']],
    [{ violations: [{ propertyPath: 'name', message: 'Blank' }] }, ['name: Blank']],
    [{ validation: { name: { message: 'Blank', value: 'geheim' } } }, ['name: Blank']],
    [{ message: ['Bad name', 'Bad age'], error: 'Bad Request' }, ['Bad name', 'Bad age']],
    [
      { title: 'Invalid', status: 400, errors: { Name: ['Blank'] }, traceId: '1' },
      ['Invalid', 'Name: Blank'],
    ],
    [{ type: 'about:blank', title: 'Bad', detail: 'Too old', instance: '/x' }, ['Too old', 'Bad']],
    [
      {
        error: { code: 'taken', message: 'In use', details: [{ field: 'email', issue: 'Twice' }] },
      },
      ['In use', 'email: Twice'],
    ],
    [
      {
        error: {
          message: 'Bad',
          details: [{ '@type': 'x', fieldViolations: [{ field: 'a', description: 'b' }] }],
        },
      },
      ['Bad', 'a: b'],
    ],
    [{ error: { formErrors: ['No'], fieldErrors: { name: ['Blank'] } } }, ['name: Blank', 'No']],
    [{ errors: { _errors: [], name: { _errors: ['Blank'] } } }, ['name: Blank']],
    [{ error: [{ message: 'No' }] }, ['No']],
    [{ errors: [{ source: { pointer: '/data/name' }, detail: 'Blank' }] }, ['data.name: Blank']],
    [
      { message: 'Failed', errors: [{ field: 'title', code: 'missing' }] },
      ['Failed', 'title: missing'],
    ],
    [[{ property: 'email', constraints: { isEmail: 'Bad' }, target: { a: 1 } }], ['email: Bad']],
    [{ email: ['Bad'], non_field_errors: ['No'] }, ['email: Bad', 'No']],
    [{ data: { message: 'No' } }, ['No']],
    [{ result: { errors: ['No'] } }, ['No']],
    [{ response: { detail: 'No' } }, ['No']],
    [{ error: 'x', required: 'team:update' }, ['required: team:update']],
    [{ code: 'LIMIT' }, ['code: LIMIT']],
    [{ message: 'email is taken', errors: { email: 'email is taken' } }, ['email is taken']],
    [
      { message: 'Blank', errors: { email: 'Blank', name: 'Blank' } },
      ['Blank', 'email: Blank', 'name: Blank'],
    ],
    [{ error: 'taken', application: { id: 'app_1', internalNotes: 'geheim' } }, []],
    [
      { error: 'taken', details: { other: { id: 'app_1', name: 'Ann' }, field: 'a' } },
      ['field: a'],
    ],
    ['"Just no"', ['Just no']],
    ['null', []],
    ['[]', []],
    ['', []],
    ['17', []],
  ])('%j', (body, words) => {
    expect(said(body)).toEqual(words);
  });

  test('a plain text line by line', () => {
    expect(said('Down\r\n\r\nTry later\n', { contentType: 'text/plain' })).toEqual([
      'Down',
      'Try later',
    ]);
  });

  test('a web page not at all', () => {
    const page = refusal('<!doctype html><title>No</title>', { contentType: 'text/html' });
    expect(page.json).not.toMatch(/<|The service says/);
    expect(page.error.hint).toContain('web page');
  });

  // A proxy in front of the service sent it, so the base URL is right.
  test.each([408, 413, 429, 502, 504])('a web page with %i leaves the base URL alone', (status) => {
    const page = refusal('<html>Too many</html>', { status, contentType: 'text/html' });
    expect(page.lines.join('\n')).not.toContain('base URL');
  });

  test.each([200, 400, 401, 403, 404, 405, 409, 413, 422, 429, 500, 503])('with %i', (status) => {
    const body = { success: false, error: 'x', errors: { name: ['Blank'] } };
    expect(said(body, { status })).toEqual(['name: Blank']);
    expect(refusal(body, { status }).error).toMatchObject({
      code: 'x',
      message: expect.stringMatching(/The service says: name: Blank$/) as unknown,
      service: body,
    });
  });
});

describe('a refusal that says a lot', () => {
  const many = { errors: Array.from({ length: 10_000 }, (_, index) => `error ${index}`) };

  test('takes ten lines and counts the rest', () => {
    const { lines } = refusal(many);
    expect(lines[1]).toBe('The service says:');
    expect(lines.slice(2, 12)).toEqual(many.errors.slice(0, 10).map((error) => `  ${error}`));
    expect(lines[12]).toBe('  … 9,990 more (-v shows all)');
    expect(lines).toHaveLength(14);
  });

  test('is whole with -v', () => {
    expect(said(many, { isVerbose: true })).toEqual(many.errors);
    const long = 'x'.repeat(1_000_000);
    expect(said({ message: long }, { isVerbose: true })).toEqual([long]);
  });

  test('is one short line in the message, and of bounded size in the JSON', () => {
    const { error, json } = refusal(many);
    expect(error.message.length).toBeLessThan(700);
    expect(error.service).toMatch(/^\{"errors":\["error 0",.*…$/);
    expect(json.length).toBeLessThan(90_000);
  });

  test('is cut at 200 characters a line, never inside a character', () => {
    const [line = ''] = said({ message: '🦊'.repeat(500_000) });
    expect(line).toMatch(/^(🦊)+…$/u);
    expect(line.length).toBeLessThanOrEqual(200);
  });

  test('is not read deeper than a person would', () => {
    const deep = `{"errors":${'['.repeat(150)}"x"${']'.repeat(150)},"message":"No"}`;
    expect(said(deep)).toEqual(['No']);
    const tooDeep = `{"message":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    expect(refusal(tooDeep).error.service).toBe(undefined);
  });
});

describe('secrets that a refusal repeats', () => {
  const url = 'https://store.example.com/file.pdf?X-Amz-Signature=0a1b2c3d4e5f';

  test.each([
    [{ message: `The key ${key} is wrong` }],
    [{ message: 'x'.repeat(190) + key }],
    [{ errors: { [key]: [`x ${key}`] } }],
    [{ error: 'x', [`key ${key}`]: 'wrong' }],
    [{ errors: [{ path: ['headers', key], message: 'No' }], pad: 'y'.repeat(70_000) }],
    [`The key ${key} is wrong`],
    [{ message: `Not signed: ${url}` }],
    [{ details: { url } }],
    [{ url, pad: 'y'.repeat(70_000) }],
  ])('are in no line and no JSON: %#', (body) => {
    for (const isVerbose of [false, true]) {
      const { lines, json } = refusal(body, { isVerbose });
      for (const text of [lines.join('\n'), json]) {
        expect(text).not.toContain('key-canary');
        expect(text).not.toContain('0a1b2c3d');
      }
      expect(json).toContain('[redacted]');
    }
  });
});

const text = fc.oneof(
  fc.constantFrom(...hostileTexts.filter((each) => each.length < 1000)),
  fc.constantFrom('__proto__', 'constructor', 'message', 'errors', 'details', 'path', 'x\u0000y'),
  fc.string({ unit: codePoint }),
);
const value = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    text,
    fc.constantFrom(null, true, 0, 1e300),
    fc.array(tie('any'), { maxLength: 15 }),
    fc.dictionary(
      fc.oneof(
        text,
        fc.constantFrom('error', 'errors', 'issues', 'field', 'loc', 'detail', 'data'),
      ),
      tie('any'),
      { maxKeys: 6, noNullPrototype: true },
    ),
  ),
})).any;

test('whatever a service sends, its words are ten harmless lines of at most 200 characters', () => {
  fc.assert(
    fc.property(value, fc.constantFrom(200, 400, 409, 500), (body, status) => {
      const error = failureOf(
        { status, headers: {}, body: Buffer.from(JSON.stringify(body)), at: { wall: 0, mono: 0 } },
        call,
      );
      if (!error) return;
      const words = said(body, { status });
      expect(words.length).toBeLessThanOrEqual(11);
      for (const word of words) {
        expect(word).not.toMatch(forbidden);
        expect(word).not.toContain('\n');
        expect(word.length).toBeLessThanOrEqual(200);
      }
      // oxlint-disable-next-line no-control-regex
      expect(refusal(body, { status }).json).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
    }),
    { numRuns: 500 },
  );
});

test('a code that only repeats the status is not printed', () => {
  for (const status of [400, 404, 503])
    expect(refusal({ code: status, message: 'No' }, { status }).lines[0]).not.toContain(
      `(${status})`,
    );
});
