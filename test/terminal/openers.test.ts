import { expect, test } from 'vitest';
import { openerOf } from '../../src/terminal/other-programs.js';

test('Windows opens files with its own explorer.exe, not one in the current folder', () => {
  expect(openerOf('win32', { SystemRoot: 'D:\\Windows' })).toBe('D:\\Windows\\explorer.exe');
  expect(openerOf('win32', { SYSTEMROOT: 'D:\\Windows' })).toBe('D:\\Windows\\explorer.exe');
  expect(openerOf('win32', {})).toBe('C:\\Windows\\explorer.exe');
  expect(openerOf('darwin', {})).toBe('open');
  expect(openerOf('linux', {})).toBe('xdg-open');
});
