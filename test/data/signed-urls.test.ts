import { expect, test } from 'vitest';
import {
  holdsSignedUrl,
  isSignedAgain,
  withoutSignatures,
  withoutSignedQueries,
} from '../../src/data/signed-urls.js';

const picture = 'https://b.example/p.png';

test.each([
  [`${picture}?X-Amz-Date=1&X-Amz-Signature=ab`, picture],
  [`${picture}?AWSAccessKeyId=K&Signature=ab&Expires=1&x-amz-security-token=T`, picture],
  [`${picture}?X-Goog-Signature=ab&X-Goog-Date=1`, picture],
  [`${picture}?GoogleAccessId=K&Expires=1&Signature=ab`, picture],
  [`${picture}?Expires=1&Signature=ab&Key-Pair-Id=K`, picture],
  [`${picture}?Policy=P&Signature=ab&Key-Pair-Id=K`, picture],
  [
    `${picture}?sv=1&st=1&se=1&sr=b&sp=r&spr=https&skoid=o&sktid=t&skt=1&ske=1&sks=b&skv=1&sig=ab`,
    picture,
  ],
  [`${picture}?OSSAccessKeyId=K&Expires=1&Signature=ab&security-token=T`, picture],
  [`${picture}?q-sign-algorithm=sha1&q-ak=K&q-sign-time=1&q-signature=ab`, picture],
  [`${picture}?temp_url_sig=ab&temp_url_expires=1`, picture],
  [`${picture}?token=ab&expires=1`, picture],
  [`${picture}?ex=1&is=1&hm=ab&`, picture],
  // Where the query says which file or version it is, it stays.
  [`${picture}?alt=media&token=ab`, `${picture}?alt=media`],
  [`${picture}?versionId=3&X-Amz-Signature=ab`, `${picture}?versionId=3`],
  [`${picture}?id=3&token=ab&size=l`, `${picture}?id=3&size=l`],
])('%s is a signed URL', (text, bare) => {
  expect(withoutSignatures({ all: [text, 'Ann'] })).toEqual({ all: [bare, 'Ann'] });
  expect(isSignedAgain(text, text.replace('ab', 'cd'))).toBe(true);
  expect(isSignedAgain(text, text.replace('p.png', 'q.png'))).toBe(false);
  expect(isSignedAgain(text, bare)).toBe(false);
  expect(holdsSignedUrl(`See ${text} please`)).toBe(true);
  expect(withoutSignedQueries(`See "${text}", ${text} please`)).toBe(
    `See "${picture}", ${picture} please`,
  );
});

test('another file or version of the same path is not the same URL signed again', () => {
  for (const name of ['versionId', 'id', 'file', 'v'])
    expect(isSignedAgain(`${picture}?${name}=1&token=ab`, `${picture}?${name}=2&token=cd`)).toBe(
      false,
    );
});

test.each(['https://b.example/?id=1', 'token=ab', 'Is this ok?sig=1', 'see ://x and ?sig=1'])(
  '%s is not',
  (text) => {
    expect([withoutSignatures(text), withoutSignedQueries(text)]).toEqual([text, text]);
    expect(holdsSignedUrl(text)).toBe(false);
  },
);

test('a long hostile text is searched in no time', () => {
  for (const text of ['://', 'a', '?&x-a', 'a://?sig'])
    expect(holdsSignedUrl(text.repeat(500_000))).toBe(false);
  expect(withoutSignedQueries(`a://b?sig=${'c://d?&'.repeat(500_000)}`)).toBe('a://b');
  expect(withoutSignatures(`a://${'?&x-a'.repeat(500_000)}`)).toContain('?&x-a');
});
