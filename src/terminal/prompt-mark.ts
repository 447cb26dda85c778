/** A list to mark several of many choices, which typing narrows down; @inquirer/checkbox knows no search. */
import { styleText } from 'node:util';
import {
  createPrompt,
  isDownKey,
  isEnterKey,
  isSpaceKey,
  isTabKey,
  isUpKey,
  makeTheme,
  useKeypress,
  useMemo,
  usePagination,
  usePrefix,
  useState,
} from '@inquirer/core';
import { type Choice, matchChoices } from './choices.js';

interface MarkConfig {
  readonly message: string;
  readonly choices: readonly Choice[];
  readonly pageSize: number;
  /** Cuts the label of a choice to the width of the screen. */
  readonly fit: (choice: Choice) => { readonly name: string };
  /** The line below the list, for the choices that match. */
  readonly help: (found: readonly Choice[]) => string;
}

/** Returns the values of the marked choices, in the order of the list. */
export const markPrompt = createPrompt<readonly string[], MarkConfig>((config, done) => {
  const { choices, pageSize, fit, help } = config;
  const theme = makeTheme({});
  const [isDone, setDone] = useState(false);
  const [typed, setTyped] = useState('');
  const [active, setActive] = useState(0);
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const [problem, setProblem] = useState('');
  const found = useMemo(() => matchChoices(choices, typed), [typed]);
  const prefix = usePrefix({ status: isDone ? 'done' : 'idle', theme });
  const toggle = (toggled: readonly Choice[]) => {
    const values = new Set(toggled.map(({ value }) => value));
    const kept = [...marked].filter((value) => !values.has(value));
    const isOn = kept.length + values.size > marked.size;
    setMarked(new Set(isOn ? [...marked, ...values] : kept));
  };
  useKeypress((key, line) => {
    setProblem('');
    if (isEnterKey(key)) {
      if (marked.size === 0) setProblem('Mark at least one with Space.');
      else {
        setDone(true);
        done(choices.map(({ value }) => value).filter((value) => marked.has(value)));
      }
    } else if (isUpKey(key)) setActive(Math.max(0, active - 1));
    else if (isDownKey(key)) setActive(Math.max(0, Math.min(found.length - 1, active + 1)));
    else if (isSpaceKey(key) || isTabKey(key)) toggle(found.slice(active, active + 1));
    else if (key.ctrl && key.name === 'a') toggle(found);
    else {
      if (line.line !== typed) setActive(0);
      return setTyped(line.line);
    }
    // Readline heard the key, too: take back what it did to the typed text.
    line.clearLine(0);
    line.write(typed);
  });
  const page = usePagination({
    items: found,
    active,
    renderItem({ item, isActive }) {
      const mark = marked.has(item.value) ? styleText('green', '◉') : '◯';
      const text = `${isActive ? '❯' : ' '}${mark} ${fit(item).name}`;
      return isActive ? theme.style.highlight(text) : text;
    },
    pageSize,
    loop: false,
  });
  const message = theme.style.message(config.message, isDone ? 'done' : 'idle');
  const count = `${marked.size} marked`;
  if (isDone) return `${prefix} ${message} ${theme.style.answer(count)}`;
  return [
    `${prefix} ${message} ${marked.size > 0 ? `(${count}) ` : ''}${styleText('cyan', typed)}`,
    [
      found.length > 0 ? page : theme.style.error('Nothing matches.'),
      ' ',
      ...(problem === '' ? [] : [theme.style.error(problem)]),
      help(found),
    ].join('\n'),
  ];
});
