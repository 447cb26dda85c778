import { expect, test } from 'vitest';

interface Picture {
  readonly draw: (text: string) => string;
}
const script = new URL('../../build/picture.mjs', import.meta.url).href;
const { draw } = (await import(script)) as Picture;

/** The texts of a picture with their place and look. */
function drawn(text: string): string[] {
  return draw(text)
    .split('\n')
    .filter((line) => line.startsWith('<text'))
    .map((line) => line.replace(/ (textLength|lengthAdjust)="[^"]*"/g, ''));
}

test('colours and weights of the terminal are kept', () => {
  expect(drawn('\u001b[1mname\u001b[22m  \u001b[33mpending\u001b[39m')).toEqual([
    '<text x="16" y="31" font-weight="bold">name</text>',
    '<text x="66.4" y="31" fill="#e5c07b">pending</text>',
  ]);
});

test('what a program wiped is not drawn', () => {
  expect(drawn('loading\r\u001b[2K\u001b[1Gdone\nnext')).toEqual([
    '<text x="16" y="31">done</text>',
    '<text x="16" y="51">next</text>',
  ]);
});

test('wide characters take two columns and long lines go on below', () => {
  expect(drawn('田中  x')).toEqual([
    '<text x="16" y="31">田中</text>',
    '<text x="66.4" y="31">x</text>',
  ]);
  expect(drawn(`${'a'.repeat(80)}b`)).toEqual([
    `<text x="16" y="31">${'a'.repeat(80)}</text>`,
    '<text x="16" y="51">b</text>',
  ]);
});

test('text that XML would read as a tag stays text', () => {
  expect(drawn('<b> & c')).toEqual(['<text x="16" y="31">&lt;b&gt; &amp; c</text>']);
});
