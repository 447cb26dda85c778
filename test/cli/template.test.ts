import { describe, expect, test } from 'vitest';
import { parseLineTemplate } from '../../src/cli/lists/template.js';
import { printValue } from '../../src/cli/output.js';
import { listView, recordView, type View } from '../../src/cli/views.js';
import { outputContext } from '../support/output-context.js';
import { rosterctl } from '../support/run.js';
import { screen } from '../support/screen.js';

const ann = {
  id: 'app_1',
  name: 'Ann\n"A"',
  email: 'ann@example.test',
  submittedAt: '2026-11-21T09:00:00Z',
  internalNotes: null,
  gamerTags: [{ game: 'Chess' }, { game: 'Go' }],
  odd: '=1+1 [x](http://e.test) `@all` www.e.test',
};

async function printed<T>(template: string, value: T, view: View<T>): Promise<string> {
  const made = screen();
  await printValue(value, view, {
    ...outputContext({ template }),
    streams: made.streams,
  });
  return made.stdout();
}

describe('--template', () => {
  test.each([
    ['{name} <{email}>', 'Ann "A" <ann@example.test>'],
    ['{{{id}} {{', '{app_1} {'],
    ['{submittedAt|ago}, {submitted|date}', '3 h ago, 2026-11-21'],
    ['[{internalNotes}] {name|json} {internalNotes|json}', '[] "Ann\\n\\"A\\"" null'],
    ['{name|csv},{odd|csv}', `"Ann ""A""",'=1+1 [x](http://e.test) \`@all\` www.e.test`],
    ['{gamerTags.game} {gamerTags.0.game}', 'Chess, Go Chess'],
    ['{discordUsername}.', '.'],
    // No filter lets a value begin a line of its own.
    ['{name|date} {name|ago} {name|md}', 'Ann "A" Ann "A" Ann "A"'],
    ['{odd|md}', '=1\\+1 \\[x\\]\\(http:\u200b//e.test\\) \\`@\u200ball\\` www\u200b.e.test'],
  ])('%s', async (template, line) => {
    expect(await printed(template, [ann], listView('tryouts'))).toBe(`${line}\n`);
    expect(await printed(template, ann, recordView('tryouts'))).toBe(`${line}\n`);
  });

  test('an unknown field is an error, and no line is printed', async () => {
    await expect(printed('{id} {nmae}', [ann], listView('tryouts'))).rejects.toThrow(
      'Unknown field "nmae". Did you mean name?',
    );
  });

  test('an empty one is refused, as an unset variable leaves it', async () => {
    const ran = await rosterctl("teams list -p sandbox --template ''");
    expect(ran).toMatchObject({ code: 2, stdout: '', stderr: '--template must not be empty.\n' });
  });

  test.each(['{name', '{}', '{name|shout}', '{name|}', 'a { b'])('%j is refused', (template) => {
    expect(() => parseLineTemplate(template)).toThrow(/template/);
  });

  test.each(['{{.name}}', '{{name}} <{{.email}}>'])(
    '%j, as gh takes it, is refused',
    (template) => {
      expect(() => parseLineTemplate(template)).toThrow(
        expect.objectContaining({ hint: expect.stringContaining('Write {name} for a field') }),
      );
    },
  );
});
