import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decisionKeys } from '../../src/review/deciding.js';
import { applyRead } from '../../src/review/model.js';
import { tallyOf } from '../../src/review/state.js';
import type { Key } from '../../src/terminal/keys.js';
import { atKeys, cardOf, cards, letters } from './user.js';

describe('deciding', () => {
  test.each(Object.entries(decisionKeys))(
    '%s decides %s and shows the next card',
    (key, status) => {
      const person = atKeys();
      const { index, message } = person.type(key);
      expect(person.decided()).toEqual([`app_1 ${status}`]);
      expect(index).toBe(1);
      expect(message).toBe(`Applicant 1: ${status}. 1 decided, u undoes.`);
    },
  );

  test('the last card stays, and the head says what to do', () => {
    const { index, message } = atKeys(cards(1)).type('s');
    expect(index).toBe(0);
    expect(message).toBe(
      'Applicant 1: shortlisted. 1 decided, u undoes. That was the last one: w sends, q keeps.',
    );
  });

  test('a second decision about the same card replaces the first', () => {
    const person = atKeys();
    person.type('s', 'left', 'r');
    expect(person.decided()).toEqual(['app_1 rejected']);
  });

  test('capital letters decide nothing', () => {
    const person = atKeys();
    expect(person.type('S', 'R', 'A', 'E', 'W', 'Q').message).toBe(
      'The keys are lower case letters. ? lists them.',
    );
    expect(person.effects()).toEqual([]);
  });

  test('Enter passes a card on, and the head counts it until it is decided', () => {
    const person = atKeys();
    expect(tallyOf(person.type('enter', 'enter'))).toEqual(['2 skipped']);
    expect(tallyOf(person.type('left', 'a'))).toEqual(['1 accepted', '1 skipped']);
    expect(tallyOf(person.type('left', 'left', 'enter'))).toEqual(['1 accepted', '1 skipped']);
    expect(tallyOf(person.type('enter'))).toEqual(['1 accepted', '1 skipped']);
  });

  test('what the person saw is kept beside the decision', () => {
    const person = atKeys([cardOf(1, { status: 'reviewing' })]);
    person.type('a');
    expect(person.kept().queued.get('app_1')).toEqual({
      name: 'Applicant 1',
      seen: 'reviewing',
      decision: { status: 'accepted' },
    });
  });
});

describe('keys that arrive together', () => {
  test('the first key of a read counts, the rest is dropped and told', () => {
    const person = atKeys();
    expect(person.read(['s', 'r', 'w', 'q']).message).toContain('More keys arrived at once');
    expect(person.decided()).toEqual(['app_1 shortlisted']);
    expect(person.state().index).toBe(1);
  });

  test('w among other keys does not send', () => {
    const person = atKeys();
    person.type('s');
    expect(person.read(['w', 'y', 'enter']).message).toMatch(/^Other keys arrived with w\./);
    expect(person.effects().map(({ kind }) => kind)).toEqual(['keep']);
  });

  test('the reads that follow such a read at once belong to it', () => {
    const person = atKeys();
    person.read(['s', 'r']);
    for (let piece = 0; piece < 5; piece += 1) person.read(['a', 'e'], 10);
    expect(person.decided()).toEqual(['app_1 shortlisted']);
    person.read(['a']);
    expect(person.decided()).toEqual(['app_1 shortlisted', 'app_2 accepted']);
  });

  test('a paste decides nothing, also where it ends in the read of a key', () => {
    const person = atKeys();
    expect(person.read(['paste']).message).toBe('Pasted text is ignored.');
    person.read(['paste', 'r']);
    person.read(['r'], 10);
    person.read(['paste']);
    person.read(['paste'], 10);
    person.read(['r'], 10);
    expect(person.decided()).toEqual([]);
  });

  test('a held decision key counts once; pressed again it counts again', () => {
    const person = atKeys(cards(5));
    person.read(['r']);
    person.read(['r'], 600);
    for (let repeat = 0; repeat < 40; repeat += 1) person.read(['r'], 30);
    expect(person.decided()).toEqual(['app_1 rejected']);
    expect(person.state().message).toMatch(/u undoes\. A held key counts once\.$/);
    person.read(['r'], 800);
    person.read(['a'], 50);
    person.read(['r'], 50);
    expect(person.decided()).toEqual([
      'app_1 rejected',
      'app_2 rejected',
      'app_3 accepted',
      'app_4 rejected',
    ]);
  });

  test('a decision key that is held while a slow disk keeps its decision counts once', () => {
    const person = atKeys(cards(5));
    person.read(['r']);
    person.wait(2_500);
    for (let repeat = 0; repeat < 28; repeat += 1) person.read(['r'], 100);
    expect(person.decided()).toEqual(['app_1 rejected']);
    person.read(['r'], 800);
    expect(person.decided()).toEqual(['app_1 rejected', 'app_2 rejected']);
  });

  test('a held arrow scrolls on', () => {
    const person = atKeys();
    for (let repeat = 0; repeat < 4; repeat += 1) person.read(['down', 'down'], 30);
    expect(person.state()).toMatchObject({ scroll: 4, message: '' });
  });
});

describe('undo', () => {
  test('takes back the last decision and shows its card', () => {
    const person = atKeys();
    person.type('s', 'r', 'enter');
    expect(person.type('u')).toMatchObject({
      index: 1,
      message: 'Applicant 2: decision undone. 1 decided.',
    });
    expect(person.decided()).toEqual(['app_1 shortlisted']);
  });

  test('brings back what was decided before', () => {
    const person = atKeys();
    person.type('s', 'left', 'r', 'u');
    expect(person.decided()).toEqual(['app_1 shortlisted']);
    expect(person.state().message).toBe('Applicant 1: shortlisted. 1 decided.');
  });

  test('takes back a decision whose application is not listed, and stays on its card', () => {
    const before = atKeys();
    before.type('s', 'r');
    const person = atKeys(cards(1), before.kept());
    expect(person.type('u')).toMatchObject({
      index: 0,
      message: 'app_2: decision undone. 1 decided.',
    });
    expect(person.decided()).toEqual(['app_1 shortlisted']);
  });

  test('goes on after the queue was taken up', () => {
    const before = atKeys();
    before.type('s', 'r');
    const person = atKeys(cards(3), before.kept());
    expect(person.state().index).toBe(2);
    person.type('u', 'u');
    expect(person.decided()).toEqual([]);
    expect(person.type('u').message).toBe('There is nothing to undo.');
  });
});

describe('notes', () => {
  test('a note is typed in a line, beside a decision or alone', () => {
    const person = atKeys();
    person.read(['n']);
    person.read([...letters('Strong aim'), 'enter', 'r', 'w']);
    expect(person.decided()).toEqual(['app_1 "Strong aim"']);
    person.type('s');
    expect(person.decided()).toEqual(['app_1 shortlisted "Strong aim"']);
    expect(person.kept().queued.get('app_1')?.decision.note?.day).toBe('2026-11-22');
  });

  test('a note takes emoji, and no other keys than characters', () => {
    const person = atKeys();
    person.type('n', 'é', '😀', 'up', '🎯', 'suspend', 'backspace', 'enter');
    expect(person.decided()).toEqual(['app_1 "é😀"']);
  });

  test('Escape keeps the note as it was, and letters of a note decide nothing', () => {
    const person = atKeys();
    person.read(['n']);
    person.read([...letters('srae wq'), 'escape']);
    expect(person.state().mode.kind).toBe('cards');
    for (const end of ['escape', 'enter']) {
      person.read(['n']);
      person.read([end, 'r', 'w']);
    }
    expect(person.effects()).toEqual([]);
  });

  test('a paste into a note or a search is typed as one line, and sends nothing', () => {
    const person = atKeys([cardOf(1), cardOf(2, { vod: 'https://example.com/v/2' })]);
    person.type('n', 'a', ' ');
    expect(person.paste('see\nhttps://example.com/v\u001b\r').mode).toMatchObject({
      kind: 'note',
      text: 'a see https://example.com/v ',
    });
    person.type('enter');
    expect(person.decided()).toEqual(['app_1 "a see https://example.com/v"']);
    person.type('/');
    person.read(['paste']);
    person.read(['paste'], 10, ' https://example.com/v/2');
    expect(person.type('enter').index).toBe(1);
    person.type('n');
    expect(person.paste('😀'.repeat(3_000)).mode).toMatchObject({ text: '😀'.repeat(500) });
  });

  test('what follows a note in a paste without brackets is dropped, in further reads as well', () => {
    const person = atKeys();
    person.type('n');
    const { message } = person.read([...letters('first'), 'enter', ...letters('second')]);
    expect(message).toMatch(
      /note kept\. 1 decided\. More keys arrived at once and were ignored\.$/,
    );
    for (const line of ['rejected by Kim', 'w', 'a']) person.read(letters(line), 10);
    expect(person.decided()).toEqual(['app_1 "first"']);
    person.type('r');
    expect(person.decided()).toEqual(['app_1 rejected "first"']);
  });

  test('a note says when it has no room for more', () => {
    const person = atKeys();
    person.type('n');
    expect(person.paste('a'.repeat(1_000)).message).toBe('');
    const full = 'No room for more than 1,000 characters: the rest was left out.';
    expect(person.type('b')).toMatchObject({ mode: { text: 'a'.repeat(1_000) }, message: full });
    expect(person.type('backspace').message).toBe('');
    expect(person.paste('😀c').mode).toMatchObject({ text: 'a'.repeat(999) });
    expect(person.state().message).toBe(full);
  });

  test('a note is no new decision on a status that changed since', () => {
    const before = atKeys();
    before.type('s');
    const person = atKeys([cardOf(1, { status: 'rejected' })], before.kept());
    person.read(['n']);
    person.read([...letters('late'), 'enter']);
    expect(person.kept().queued.get('app_1')?.seen).toBe('pending');
    expect(person.decided()).toEqual(['app_1 shortlisted "late"']);
    person.type('a');
    expect(person.kept().queued.get('app_1')?.seen).toBe('rejected');
  });

  test('n again edits the note, and an empty one drops it', () => {
    const person = atKeys();
    person.read(['n']);
    person.read([...letters('ab'), 'enter']);
    expect(person.type('n').mode).toEqual({ kind: 'note', text: 'ab' });
    person.read(['backspace', 'c', 'enter']);
    expect(person.decided()).toEqual(['app_1 "ac"']);
    person.type('n', 'erase', 'enter');
    expect(person.decided()).toEqual([]);
    person.type('u');
    expect(person.decided()).toEqual(['app_1 "ac"']);
  });
});

describe('moving', () => {
  test('arrows move between cards and stop at both ends', () => {
    const person = atKeys();
    expect(person.type('left')).toMatchObject({ index: 0, message: 'This is the first one.' });
    expect(person.type('right', 'right', 'right')).toMatchObject({ index: 2 });
    expect(person.state().message).toBe('That was the last one: w sends, q keeps.');
  });

  test.each<readonly [Key, number]>([
    ['down', 1],
    [' ', 9],
    ['pageDown', 9],
    ['end', 20],
    ['up', 0],
    ['home', 0],
  ])('%j scrolls a card of thirty lines to line %i', (key, line) => {
    expect(atKeys().type(key).scroll).toBe(line);
  });

  test('another card is shown from its top', () => {
    expect(atKeys().type(' ', 'right').scroll).toBe(0);
  });

  test('/ finds a card by any text in it, the next one first, and again with an empty search', () => {
    const person = atKeys([
      cardOf(1, { formResponses: { Role: 'Sentinel' } }),
      cardOf(2),
      cardOf(3, { email: 'SENTINEL@example.com' }),
    ]);
    expect(person.type('/', 'enter')).toMatchObject({ index: 0, message: '' });
    person.read(['/']);
    expect(person.read([...letters('sentinel'), 'enter'])).toMatchObject({ index: 2 });
    expect(person.type('/', 'enter')).toMatchObject({ index: 0, message: 'Found "sentinel".' });
    person.read(['/']);
    expect(person.read([...letters('nobody'), 'enter'])).toMatchObject({
      index: 0,
      message: 'No application here mentions "nobody".',
    });
  });
});

describe('leaving, sending and opening', () => {
  test('q and Ctrl-C leave', () => {
    const person = atKeys();
    person.type('q', 'interrupt');
    expect(person.effects()).toEqual([
      { kind: 'leave', how: 'quit' },
      { kind: 'leave', how: 'interrupt' },
    ]);
  });

  test('on a screen that is too small for a card, only q and Ctrl-C do something', () => {
    const { state } = atKeys();
    const world = { at: 9_000, day: '2026-11-22', room: 0, length: 30 };
    const before = state();
    for (const key of ['r', 'u', 'w', 'n', 'enter', 'q', 'interrupt']) {
      const how = { q: 'quit', interrupt: 'interrupt' }[key];
      const { state: after, effect } = applyRead(before, [key], world);
      expect([key, after.mode, effect]).toEqual([key, before.mode, how && { kind: 'leave', how }]);
    }
  });

  test('on a screen that is too small for a card, a note that was begun is typed on', () => {
    const { state } = atKeys();
    const world = { at: 9_000, day: '2026-11-22', room: 0, length: 30 };
    const typing = { ...state(), mode: { kind: 'note', text: 'asks a ' } } as const;
    const { state: after, effect } = applyRead(typing, ['q'], world);
    expect([after.mode, effect]).toEqual([{ kind: 'note', text: 'asks a q' }, undefined]);
  });

  test('w sends only where something is decided', () => {
    const person = atKeys();
    expect(person.type('w').message).toBe('Nothing is decided yet.');
    person.type('s', 'w');
    expect(person.effects().at(-1)).toEqual({ kind: 'send' });
  });

  test('o asks, y opens, any other key does not', () => {
    const person = atKeys([
      cardOf(1, { formResponses: { VOD: 'https://b.example/1 and http://bücher.example/2' } }),
    ]);
    expect(person.type('o', 'enter').message).toBe('Nothing was opened.');
    expect(person.effects()).toEqual([]);
    person.type('o', 'o', 'y');
    expect(person.effects()).toEqual([{ kind: 'open', url: 'http://xn--bcher-kva.example/2' }]);
    const no = 'This application has no link to open.';
    expect(atKeys().type('o').message).toBe(no);
    for (const link of ['ftp://b.example', 'https://kim@b.example', 'https://:key@b.example'])
      expect(atKeys([cardOf(1, { vod: link })]).type('o').message).toBe(no);
  });

  test('any key closes the help and does nothing else', () => {
    const person = atKeys();
    expect(person.type('?', 'r').mode.kind).toBe('cards');
    expect(person.effects()).toEqual([]);
  });
});

test('whatever is typed, the screen and the file agree, and only w asks to send', () => {
  const key = fc.constantFrom<Key>(
    ...['s', 'r', 'a', 'e', 'n', 'u', 'o', 'y', '/', '?', ' ', 'x', 'w', 'q', 'é'],
    ...['enter', 'left', 'right', 'up', 'down', 'pageUp', 'pageDown', 'home', 'end', 'escape'],
    ...['backspace', 'erase', 'paste', 'interrupt'],
  );
  const reads = fc.array(fc.tuple(fc.array(key, { minLength: 1, maxLength: 4 }), fc.nat(2_000)));
  const link = cardOf(4, { formResponses: { VOD: 'https://example.com' } });
  fc.assert(
    fc.property(reads, (all) => {
      const person = atKeys([...cards(3), link]);
      for (const [keys, ms] of all) {
        const sent = person.effects().length;
        const { mode } = person.state();
        const { decisions, index, scroll } = person.read(keys, ms);
        expect(decisions).toEqual(person.kept());
        expect(index).toBeLessThan(4);
        expect(index).toBeGreaterThanOrEqual(0);
        expect(scroll).toBeLessThanOrEqual(20);
        expect(scroll).toBeGreaterThanOrEqual(0);
        const [effect] = person.effects().slice(sent);
        if (effect?.kind === 'send') expect([mode.kind, keys[0]]).toEqual(['cards', 'w']);
        if (effect?.kind === 'open') expect([mode.kind, keys[0]]).toEqual(['link', 'y']);
      }
      const { history } = person.kept();
      person.read(['escape'], 5_000);
      person.read(['escape'], 5_000);
      for (let each = 0; each < history.length; each += 1) person.read(['u'], 5_000);
      expect(person.decided()).toEqual([]);
    }),
  );
});
