import { expect, test } from 'vitest';
import { converse } from '../support/converse.js';
import { temporaryFolder } from '../support/run.js';

test.each([
  ['docs delete doc_0001 doc_0002', 'be deleted', 'Delete 2 records?'],
  ['tryouts convert app_0061 app_0062', 'be converted', 'Convert 2 records?'],
  ['tryouts set-status app_0061 app_0062 --to rejected', 'change', 'Change 2 records?'],
])('%s says that records would %s, and asks: %s', async (line, would, question) => {
  const words = ['-p', 'sandbox', ...line.split(' ')];
  const asked = new RegExp(question.replace('?', '\\?'));
  const { shown, code } = await converse(temporaryFolder(), words, [[asked, 'n\r']]);
  expect(shown).toContain(`2 of 2 records would ${would}`);
  expect(shown).toContain('Nothing was done.');
  expect(code).toBe(130);
});
