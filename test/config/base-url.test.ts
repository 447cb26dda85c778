import { expect, test } from 'vitest';
import { originOf, parseBaseUrl } from '../../src/config/base-url.js';
import { isLoopbackHost } from '../../src/data/http.js';
import { UsageError } from '../../src/errors.js';

test.each([
  ['https://api.example.com/v1', 'https://api.example.com/v1'],
  ['https://api.example.com/v1/', 'https://api.example.com/v1'],
  ['https://API.Example.com:443/v1', 'https://api.example.com/v1'],
  ['https://api.example.com:8443/team/v1', 'https://api.example.com:8443/team/v1'],
  [' https://api.example.com/v1\n', 'https://api.example.com/v1'],
  ['http://localhost:8080/v1', 'http://localhost:8080/v1'],
  ['http://127.0.0.1:8080/v1', 'http://127.0.0.1:8080/v1'],
  ['http://127.8.9.1/v1', 'http://127.8.9.1/v1'],
  ['http://[::1]:8080/v1/', 'http://[::1]:8080/v1'],
  ['http://[::ffff:127.0.0.1]:8080/v1', 'http://[::ffff:7f00:1]:8080/v1'],
])('%s is accepted as %s', (typed, used) => {
  expect(parseBaseUrl(typed)).toBe(used);
});

test.each([
  ['nothing', '', /not a URL/],
  ['no scheme', 'api.example.com/v1', /not a URL/],
  ['a port that looks like a scheme', 'localhost:8080/v1', /not a URL/],
  ['plain http to the world', 'http://api.example.com/v1', /https/],
  ['plain http to a private address', 'http://192.168.0.7/v1', /https/],
  ['plain http to a private address within IPv6', 'http://[::ffff:10.0.0.1]/v1', /https/],
  ['plain http to an address that only ends like ours', 'http://[2001::ffff:7f00:1]/v1', /https/],
  [
    'plain http to a name that only starts like a loopback address',
    'http://127.0.0.1.evil.example/v1',
    /https/,
  ],
  [
    'plain http to a name that only starts with localhost',
    'http://localhost.evil.example/v1',
    /https/,
  ],
  ['plain http to an address mapped into IPv6', 'http://[::ffff:10.0.0.1]/v1', /https/],
  ['plain http to an old spelling of this machine', 'http://[::127.0.0.1]/v1', /https/],
  ['plain http to a translated one', 'http://[::ffff:0:127.0.0.1]/v1', /https/],
  ['another scheme', 'ftp://api.example.com/v1', /https/],
  ['a file', 'file:///v1', /https/],
  ['no /v1', 'https://api.example.com', /end in \/v1/],
  ['another version', 'https://api.example.com/v2', /end in \/v1/],
  ['a word that ends alike', 'https://api.example.com/xv1', /end in \/v1/],
  ['more after /v1', 'https://api.example.com/v1/teams', /end in \/v1/],
  ['a query', 'https://api.example.com/v1?x=1', /no query/],
  ['an empty query', 'https://api.example.com/v1?', /no query/],
  ['a fragment', 'https://api.example.com/v1#top', /no query/],
  ['a backslash', 'https://api.example.com\\v1', /backslash/],
  ['a space', 'https://api.example.com/my team/v1', /space/],
  ['a user', 'https://ann@api.example.com/v1', /user name/],
  ['an empty user', 'https://@api.example.com/v1', /user name/],
])('%s is refused', (_, typed, words) => {
  expect(() => parseBaseUrl(typed)).toThrow(UsageError);
  expect(() => parseBaseUrl(typed)).toThrow(words);
});

test('a password in the URL is in no message', () => {
  let told = '';
  try {
    parseBaseUrl('https://ann:hunter2@api.example.com/v1?token=hunter2');
  } catch (error) {
    const { message, hint, stack } = error as UsageError;
    told = `${message} ${hint} ${stack}`;
  }
  expect(told).toContain('user name or password');
  expect(told).not.toContain('hunter2');
});

test('an origin is scheme, host and port', () => {
  expect(originOf('https://api.example.com:8443/team/v1')).toBe('https://api.example.com:8443');
});

test.each(['localhost', '127.0.0.1', '127.255.255.254', '[::1]'])('%s is this machine', (host) => {
  expect(isLoopbackHost(host)).toBe(true);
});
