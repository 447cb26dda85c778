import { expect, test } from 'vitest';
import { tlsHint } from '../../src/api/transport-error.js';
import { converse } from '../support/converse.js';
import { errorOf, rosterctl, temporaryFolder } from '../support/run.js';
import { recordingService } from '../support/service.js';

const hint = (code: string) =>
  tlsHint(code, 'https://api.test', 'Check the base URL: rosterctl auth status');

test.each([
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /does not know who issued/, true],
  ['SELF_SIGNED_CERT_IN_CHAIN', /does not know who issued/, true],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', /is self-signed/, true],
  ['ERR_TLS_CERT_ALTNAME_INVALID', /a host other than api\.test/, false],
  ['CERT_HAS_EXPIRED', /has expired.*clock/, false],
  ['CERT_NOT_YET_VALID', /not valid yet.*clock/, false],
  ['ERR_SSL_WRONG_VERSION_NUMBER', /does not speak TLS/, false],
  ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', /does not support TLS 1\.2/, false],
  ['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', /ended the handshake.*client certificate/, false],
  ['ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL', /does not speak HTTP\/1\.1/, false],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', /demands a client certificate/, false],
])('%s has its own hint, and names an authority only if one helps', (code, text, helps) => {
  expect(hint(code)).toMatch(text);
  // Node ignores a file in another form, such as DER, without a word.
  expect(hint(code).includes('set NODE_EXTRA_CA_CERTS to its PEM file')).toBe(helps);
});

test('https to a plain http port says so, and that a retry cannot help', async () => {
  const service = await recordingService(() => ({ status: 200, json: [] }));
  const env = { ...service.env, ROSTERCTL_BASE_URL: service.baseUrl.replace('http:', 'https:') };
  const ran = await rosterctl('teams list --json', { env });
  expect(ran.code).toBe(9);
  expect(errorOf(ran)).toMatchObject({
    kind: 'network',
    retryable: false,
    hint: expect.stringContaining('does not speak TLS. Is the port right?'),
  });
  const told = await converse(temporaryFolder(), ['doctor'], [], env, 200);
  expect(told.shown).toContain('does not speak TLS');
});

test('a refused connection may be retried', async () => {
  const env = { ROSTERCTL_BASE_URL: 'http://127.0.0.1:9/v1', ROSTERCTL_ORG: 'org_7' };
  const ran = await rosterctl('teams list --json --retries 0', {
    env: { ...env, ROSTERCTL_API_KEY: 'key-0123456789' },
  });
  expect(errorOf(ran)).toMatchObject({ kind: 'network', retryable: true });
});
