import { parseAst } from 'rolldown/parseAst';

interface Node {
  readonly type: string;
  readonly [key: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value;

/** The parts of a node, without its type. */
const childrenOf = (node: Node) =>
  Object.entries(node)
    .filter(([part]) => part !== 'typeAnnotation')
    .flatMap(([, value]) => value)
    .filter((value) => isNode(value));

/** The names that a pattern binds: `{ a, b: [c] }` binds a and c. */
function boundBy(pattern: Node): string[] {
  if (pattern.type === 'Identifier') return [String(pattern['name'])];
  // A property binds its value, a default its left side.
  const parts = pattern.type === 'Property' ? [pattern['value']] : childrenOf(pattern);
  const bound = pattern.type === 'AssignmentPattern' ? [pattern['left']] : parts;
  return bound.filter((part) => isNode(part)).flatMap((part) => boundBy(part));
}

/** True for what is imported when it is first used, which keeps its name. */
const isImport = (declared: Node) => {
  const { init } = declared as Node & { readonly init: Node | null };
  const value = init?.type === 'AwaitExpression' ? (init['argument'] as Node) : init;
  return value?.type === 'ImportExpression';
};

/** Returns the names of the parameters and variables within the functions of a module. */
export function localNames(text: string): readonly string[] {
  const names: string[] = [];
  const visit = (node: Node, isInside: boolean): void => {
    const isFunction = /Function/.test(node.type) && 'params' in node;
    if (isFunction)
      for (const each of [node['params']].flat()) if (isNode(each)) names.push(...boundBy(each));
    if (isInside && node.type === 'VariableDeclarator' && !isImport(node))
      names.push(...boundBy(node['id'] as Node));
    for (const child of childrenOf(node)) visit(child, isInside || isFunction);
  };
  visit(parseAst(text, { lang: 'ts' }) as unknown as Node, false);
  return names;
}
