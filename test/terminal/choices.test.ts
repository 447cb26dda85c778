import { expect, test } from 'vitest';
import { matchChoices } from '../../src/terminal/choices.js';

const people = [
  { value: 'app_39', label: 'app_39  Ann Lee 39', keywords: 'ann1@example.org' },
  { value: 'app_10', label: 'app_10  Ann Lee 10' },
  { value: 'app_01', label: 'app_01  Ann Lee 1' },
];
const found = (typed?: string) => matchChoices(people, typed).map(({ value }) => value);

test('who is named as typed comes first, before those who hold the words apart', () => {
  expect(found('ann lee 1')).toEqual(['app_01', 'app_10', 'app_39']);
  expect(found('  LEE  39 ')).toEqual(['app_39']);
});

test('otherwise the order of the list stays', () => {
  expect(found()).toEqual(['app_39', 'app_10', 'app_01']);
  expect(found('ann')).toEqual(['app_39', 'app_10', 'app_01']);
  expect(found('nobody')).toEqual([]);
});
