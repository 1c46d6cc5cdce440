import { parseSync } from 'vite';

/**
 * A mutation that removes a guard: `replacement` replaces the text from `start` to `end`. `statement` is the
 * range of the outermost statement around it. `prepared` has the fixed parts of the SQL
 * statement that contains it.
 */
export type Mutant = {
  start: number;
  end: number;
  replacement: string;
  line: number;
  what: string;
  statement: readonly [start: number, end: number];
  prepared: readonly string[] | undefined;
};

type Node = { type: string; start: number; end: number } & Readonly<Record<string, unknown>>;

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && 'start' in value;

/** Calls that are guards, by their names. */
const guarding =
  /lock|check|assert|verify|ensure|refuse|require|forbid|admit|limit|throttle|within|inTurn|spend/i;

/**
 * An SQL condition: `and a = b`, `where a = b and`. The mutant keeps its text, so that parameters keep their
 * types, and makes it always true.
 */
const condition =
  /\b(where|and)\s+(?!not exists|exists|\()((?:\w+\.)?\w+(?:::\w+)?(?:\s+is(?: not)? null|\s*(?:=|<>|<=|>=|<|>)\s*(?:any|all)?(?:\([^()]*\)|[$\w.:]+(?:\([^()]*(?:\([^()]*\))?[^()]*\))?)))/g;
const rowLock = /\bfor (?:no key )?(?:update|share)(?: of \w+)?(?: skip locked| nowait)?/g;

/**
 * Finds the guards of a source: each `if` without an `else`, each side of an `&&` or `||` in a decision, each
 * guard call, and each condition and lock of an SQL statement.
 */
export function listMutants(path: string, source: string): Mutant[] {
  const mutants: Mutant[] = [];
  const spread = new Set<Node>();
  const textOf = ({ start, end }: Node): string => source.slice(start, end);
  const add = (what: string, { start, end }: { start: number; end: number }, replacement: string): void => {
    const line = source.slice(0, start).split('\n').length;
    const said = `${what}: ${short(source.slice(start, end))}`;
    const statement = [outermost.start, outermost.end] as const;
    mutants.push({ start, end, replacement, line, what: said, statement, prepared });
  };
  const visitors: Readonly<Record<string, (node: Node) => void>> = {
    IfStatement(node) {
      if (!node['alternate']) add('without', node, ';');
    },
    LogicalExpression(node) {
      if (node['operator'] === '??') return;
      const { left, right } = node as unknown as { left: Node; right: Node };
      // In `...(a && { a })` an absent value needs no guard. In other conditional members the condition may
      // be a guard.
      const isMember = spread.has(node) && bare(right).type === 'ObjectExpression';
      if (isMember && textOf(right).includes(textOf(left))) return;
      // After a check of type or existence, the right side alone would fail by itself.
      if (!/typeof|instanceof|!== undefined|!= null/.test(textOf(left)))
        add(`only the right of ${String(node['operator'])}`, node, `(${textOf(right)})`);
      if (!isMember) add(`only the left of ${String(node['operator'])}`, node, `(${textOf(left)})`);
    },
    ExpressionStatement(node) {
      const call = unawaited(node['expression'] as Node);
      if (call.type === 'CallExpression' && guarding.test(textOf(call['callee'] as Node)))
        add('without', node, ';');
    },
    TemplateLiteral(node) {
      const text = textOf(node);
      if (!/\b(select|update|delete|insert)\b/.test(text)) return;
      for (const match of text.matchAll(condition)) {
        const start = node.start + match.index + match[0].length - match[2]!.length;
        add('whether or not', { start, end: start + match[2]!.length }, `(${match[2]} or true)`);
      }
      for (const match of text.matchAll(rowLock)) {
        const start = node.start + match.index;
        add('without', { start, end: start + match[0].length }, '');
      }
    },
  };
  const visit = (node: Node): void => {
    const around = prepared;
    prepared = partsOfStatement(node) ?? prepared;
    if (node.type === 'SpreadElement') spread.add(bare(node['argument'] as Node));
    if (node.type.startsWith('TS') && !/^TS(As|Satisfies|NonNull)/.test(node.type)) return;
    visitors[node.type]?.(node);
    for (const value of Object.values(node)) {
      if (isNode(value)) visit(value);
      else if (Array.isArray(value)) for (const each of value) if (isNode(each)) visit(each);
    }
    prepared = around;
  };
  const partsOfStatement = (node: Node): string[] | undefined => {
    if (node.type !== 'TaggedTemplateExpression' || !textOf(node).startsWith('statement(')) return undefined;
    const { quasis } = node['quasi'] as { quasis: Node[] } & Node;
    // Parameters have numbers in the text that runs.
    return quasis
      .flatMap((each) => (each['value'] as { raw: string }).raw.split(/\$[a-z_]+/))
      .map((part) => part.trim());
  };
  const program = parseSync(path, source).program as unknown as Node & { body: Node[] };
  let outermost: Node = program;
  let prepared: readonly string[] | undefined;
  for (outermost of program.body) visit(outermost);
  return mutants;
}

const bare = (node: Node): Node =>
  node.type === 'ParenthesizedExpression' ? bare(node['expression'] as Node) : node;

const unawaited = (node: Node): Node =>
  node.type === 'AwaitExpression' ? unawaited(node['argument'] as Node) : node;

const short = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > 110 ? `${line.slice(0, 107)}…` : line;
};
