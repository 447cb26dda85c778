import { expect, test } from 'vitest';
import { nearestFew } from '../../src/data/nearest.js';
import {
  answersTo,
  missingHint,
  parseReference,
  quotedId,
  referenceProblem,
  wordOfId,
} from '../../src/data/references.js';

test.each([
  ['app_0001', 'id', 'app_0001'],
  ['id:app_0001', 'id', 'app_0001'],
  ['id:email:odd', 'id', 'email:odd'],
  ['id: spaced ', 'id', ' spaced '],
  ['email: nilo@example.org', 'email', 'nilo@example.org'],
  ['name:Kite: the second', 'name', 'Kite: the second'],
  ['Email:nilo@example.org', 'id', 'Email:nilo@example.org'],
  ['mail:x', 'id', 'mail:x'],
])('%j is a reference of kind %s to %j', (word, kind, value) => {
  expect(parseReference(word)).toMatchObject({ kind, value });
});

test('an id that looks like a reference is written with id:', () => {
  const ids = ['app_1', 'name:x', 'id:1', 'tag:', 'names:x'];
  expect(ids.map(wordOfId)).toEqual(['app_1', 'id:name:x', 'id:id:1', 'id:tag:', 'names:x']);
  expect(ids.map((id) => parseReference(wordOfId(id)).value)).toEqual(ids);
});

test.each([
  ['"app_0001"', 'Did you mean app_0001?'],
  [' app_0001,', 'Did you mean app_0001?'],
  ['https://club.example.org/tryouts/app_0001?tab=notes', 'Did you mean app_0001?'],
  ['<ann@example.org>', 'Did you mean email:ann@example.org?'],
  ["'Ann Example'", "Did you mean 'name:Ann Example'?"],
])('what is pasted with quotes, brackets or a URL names no record: %j', (word, meant) => {
  expect(missingHint(word, 'tryouts')).toBe(`${meant}\nSee: rosterctl tryouts list`);
});

test.each([
  ['app_1,app_2, app_3', 'app_1 app_2 app_3'],
  ['"app_1 app_2"', 'app_1 app_2'],
])('ids in one argument are named one by one: %j', (word, words) => {
  expect(missingHint(word, 'tryouts')).toBe(`Give each id by itself: ${words}`);
});

test.each(['app_0001', '"', ', ', 'https://club.example.org/'])(
  'nothing is suggested for the word %j',
  (word) => expect(missingHint(word, 'tryouts')).not.toContain('Did you mean'),
);

const application = {
  id: 'app_1',
  name: 'Zoe\u0308 Bra\u030angdal',
  email: 'Zoe@Example.org',
  discordUserId: '9000000000000100001',
  discordUsername: 'ZoeOtter_demo',
  gamerTags: [{ gamerTag: 'Kite🦊#DEMO' }, { gamerTag: 'Second#DEMO' }],
};

test.each([
  ['email:zoe@example.org', true],
  ['email:zoe2@example.org', false],
  ['name:Zoë Brångdal', true],
  ['name:zoë brångdal', true],
  ['name:Zoë', false],
  ['discord:9000000000000100001', true],
  ['discord:zoeotter_DEMO', true],
  ['discord:9000000000000100002', false],
  ['tag:Second#DEMO', true],
  ['tag:kite🦊#demo', true],
  ['app_1', true],
  ['APP_1', false],
  ['email:', false],
])('whether an application answers to %j: %s', (word, answers) => {
  expect(answersTo(application, parseReference(word), 'tryouts', {})).toBe(answers);
});

test.each([
  [{ e_mail: 'a@example.org' }, 'email:A@example.org', true],
  [{ emailAddress: 'a@example.org' }, 'email:a@example.org', true],
  [{ discord: { id: '1', username: 'kite' } }, 'discord:kite', true],
  [{ discord_user_id: '77' }, 'discord:77', true],
  [{ gamerTags: ['Kite#1', 'Moth#2'] }, 'tag:moth#2', true],
  [{ note: 'a@example.org' }, 'email:a@example.org', false],
  [{ email: null, name: '' }, 'name:', false],
  // PHP's word for nothing.
  [{ discordUserId: false }, 'discord:false', false],
])('the obvious names find %j by %j: %s', (record, word, answers) => {
  expect(answersTo(record, parseReference(word), 'players', {})).toBe(answers);
});

test('a setting names other fields, and only these count then', () => {
  const overrides = { 'refs.players.email': 'contact.email,backup' };
  const record = { email: 'a@x.org', contact: { email: 'b@x.org' }, backup: 'c@x.org' };
  const answers = ['a', 'b', 'c'].map((name) =>
    answersTo(record, parseReference(`email:${name}@x.org`), 'players', overrides),
  );
  expect(answers).toEqual([false, true, true]);
});

const problem = (word: string) => referenceProblem(parseReference(word), 'documents');

test('documents know ids and names, and a tag is answered with the list that has the flag', () => {
  expect(problem('name:NDA.docx')).toBeUndefined();
  expect(problem('doc_1')).toBeUndefined();
  expect(problem('tag:contract')).toMatch(
    /\nTo find them: rosterctl documents list --tag contract$/,
  );
  expect(problem('email:a@x.org')).toMatch(/^documents are found by id or name:/);
  expect(problem('name:')).toBe('Add the name after "name:".');
});

test('of many candidates, the nearest few are named', () => {
  const known = ['Nilo Tsukiyo', 'Nilo Tsukyo', 'Nora Vale', 'Milo Tsukiyo', 'Juno Kite'];
  expect(nearestFew('nilo tsukio', known, 3)).toEqual([
    'Nilo Tsukiyo',
    'Nilo Tsukyo',
    'Milo Tsukiyo',
  ]);
  expect(nearestFew('nilo', known, 3)).toEqual(['Nilo Tsukiyo', 'Nilo Tsukyo']);
  expect(nearestFew('xxxxxxxx', known, 3)).toEqual([]);
});

test.each([
  ['app_1', 'app_1'],
  ['tag:contract', 'id:tag:contract'],
  ['-x', 'id:-x'],
  ["a'1", "'a'\\''1'"],
])('the id %j is typed as %s', (id, word) => {
  expect(quotedId(id)).toBe(word);
});
