/** Forty texts that try to drive a terminal, hide or reorder text, fake lines, or break formats. */
export const hostileTexts: readonly string[] = [
  '\u001b[2J\u001b[H',
  '\u001b]0;title\u0007',
  '\u001b]52;c;aGVsbG8=\u0007',
  '\u001b]8;;https://evil.example/\u001b\\link\u001b]8;;\u001b\\',
  '\u001b[1A\u001b[2Kaccepted',
  '\u001b[31mred\u001b[0m',
  '\u001b(0lqqk\u001b(B',
  '\u001bP+q544e\u001b\\',
  '\u001b_payload\u001b\\',
  '\u009b31mred',
  '\u009d0;title\u009c',
  '\u0090data\u009c',
  'bell\u0007',
  'back\b\b\b\bspace',
  'null\u0000byte',
  'delete\u007f\u007f',
  'carriage\rreturn',
  'line\nfeed | accepted',
  'windows\r\nline',
  'tab\tbed',
  'vertical\u000btab\u000cform',
  'next\u0085line',
  'line\u2028separator\u2029paragraph',
  'right\u202eto left\u202c',
  '\u2066isolate\u2069 \u2067rtl\u2069',
  'marks\u200e\u200f\u061c',
  'zero\u200bwidth\u200cnon\u200djoiner\u2060word',
  '\ufeffbom',
  'soft\u00adhyphen',
  'tags\u{e0041}\u{e0042}\u{e007f}',
  'flag\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
  `tower${'\u0301\u0302\u0303\u0304'.repeat(50)}`,
  '\u0301 lonely mark',
  '\ud800 half',
  'half \udc00',
  'selectors\ufe00\ufe01\u{e0100}',
  '\u{1f469}\u200d\u{1f680}\u200d\u{1f469}\u200d\u{1f680}\u200d\u{1f469}\u200d\u{1f680}\u200d\u{1f469}',
  '=HYPERLINK("https://evil.example","x")',
  'W'.repeat(100_000),
  `${'界'.repeat(5_000)}\u3164\u115f\uffa0`,
];

/** No human view may ever hold one of these, our own colour and the line's end aside. */
export const forbidden = new RegExp(
  `[${[
    // C0 but the line end, DEL, C1
    '\\u0000-\\u0009\\u000b-\\u001f\\u007f-\\u009f',
    // invisible and zero-width, fillers, variation selectors but the emoji one
    '\\u00ad\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b\\u200c\\u3164\\ufe00-\\ufe0e\\ufeff\\uffa0',
    // bidirectional controls, separators, interlinear marks, non-characters, tags, half characters
    '\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufff0-\\uffff\\u{e0000}-\\u{e0fff}\\p{Cs}',
  ].join('')}]`,
  'u',
);

/** Takes our own bold, dim and colours off. */
export function withoutColor(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replace(/\u001b\[(?:1|2|22|39|3[0-9]|90)m/g, '');
}
