import { expect, test } from 'vitest';
import { expectOrder, masked, openTerminal } from './terminal.js';
import { views } from './views.js';

const { screenOf, screenInside } = await openTerminal();

// The rest of the views and widths is in the slow tests.
test.each(['lists', 'cards', 'changes', 'pages'] as const)(
  'the screens of test/screens/%s.txt are in order, and as they were',
  async (name) => {
    const wanted = views.flatMap((view) =>
      (view.kept?.[name] ?? []).map((columns) => [view, columns] as const),
    );
    const screens = await Promise.all(
      wanted.map(async ([view, columns], at) => {
        const draw = at === 0 ? screenOf : screenInside;
        const screen = await draw(view, columns, { NO_COLOR: '1' });
        expectOrder(view, screen);
        const ruler = `${'─'.repeat(columns - 1)}┤ ${columns}`;
        return `$ rosterctl ${view.line}\n${ruler}\n${screen.lines.map(masked).join('\n')}\n`;
      }),
    );
    await expect(screens.join('\n')).toMatchFileSnapshot(`${name}.txt`);
  },
);
