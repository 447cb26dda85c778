import { expect, test } from 'vitest';
import { holdsSignedUrl, isSignedAgain, withoutSignatures } from '../../src/data/signed-urls.js';

test.each([
  'https://b.example/p.png?X-Amz-Date=1&X-Amz-Signature=ab',
  'https://b.example/p.png?X-Goog-Signature=ab&X-Goog-Date=1',
  'https://b.example/p.png?Expires=1&Signature=ab&Key-Pair-Id=K',
  'https://b.example/p.png?sv=1&sig=ab',
  'https://b.example/o/p.png?alt=media&token=ab',
  'https://b.example/p.png?ex=1&is=1&hm=ab&',
])('%s is a signed URL', (text) => {
  expect(withoutSignatures({ all: [text, 'Ann'] })).toEqual({
    all: [text.slice(0, text.indexOf('?')), 'Ann'],
  });
  expect(isSignedAgain(text, text.replace('ab', 'cd'))).toBe(true);
  expect(isSignedAgain(text, text.replace('p.png', 'q.png'))).toBe(false);
  expect(isSignedAgain(text, text.slice(0, text.indexOf('?')))).toBe(false);
  expect(holdsSignedUrl(`See ${text} please`)).toBe(true);
});

test.each(['https://b.example/?id=1', 'token=ab', 'Is this ok?sig=1', 'see ://x and ?sig=1'])(
  '%s is not',
  (text) => {
    expect(withoutSignatures(text)).toBe(text);
    expect(holdsSignedUrl(text)).toBe(false);
  },
);

test('a long hostile text is searched in no time', () => {
  expect(holdsSignedUrl('://'.repeat(500_000))).toBe(false);
  expect(withoutSignatures(`a://${'?&x-a'.repeat(500_000)}`)).toContain('?&x-a');
});
