import { validateStructure } from '#ast/validate.ts';
import { type EditNode, readStructure } from '../model/edit-node.ts';
import { offsetOfPath } from './json-path.ts';

/** A problem of the text: where in words, what, and at which character. */
export type JsonProblem = {
  readonly where: string;
  readonly message: string;
  readonly offset: number | undefined;
};

/** `root` is there when the text can be applied, which takes a form of the right shape; problems may remain. */
export type CheckedJson = { readonly root: EditNode | undefined; readonly problems: readonly JsonProblem[] };

/** Reads a text as a form: what keeps it from being JSON, from being a form, and from being published. */
export function checkJson(text: string): CheckedJson {
  let structure: unknown;
  try {
    structure = JSON.parse(text);
  } catch (error) {
    return { root: undefined, problems: [syntaxProblem(text, error as SyntaxError)] };
  }
  const read = readStructure(structure);
  const valid = validateStructure(structure);
  const found = read.ok ? (valid.ok ? [] : valid.errors) : read.problems;
  return {
    root: read.ok ? read.root : undefined,
    problems: found.map(({ path, message }) => ({
      where: sayPath(path),
      message,
      offset: offsetOfPath(text, path),
    })),
  };
}

/** `Step 1, element 2, 3`: as people count. */
function sayPath([step, element, ...inner]: readonly number[]): string {
  if (step === undefined) return 'The form:';
  if (element === undefined) return `Step ${step + 1}:`;
  return `Step ${step + 1}, element ${[element, ...inner].map((index) => index + 1).join('.')}:`;
}

function syntaxProblem(text: string, { message }: SyntaxError): JsonProblem {
  // Browsers word it differently; all of them name the place in one of these ways.
  const position = /position (\d+)/.exec(message)?.[1];
  const lineAndColumn = /line (\d+) column (\d+)/.exec(message);
  const offset = position === undefined ? offsetOfLine(text, lineAndColumn) : Number(position);
  const line = text.slice(0, offset).split('\n').length;
  return { where: `Line ${line}:`, message: 'This is not JSON from here on.', offset };
}

function offsetOfLine(text: string, found: RegExpExecArray | null): number {
  if (!found) return text.length;
  const lines = text.split('\n').slice(0, Number(found[1]) - 1);
  return lines.reduce((sum, line) => sum + line.length + 1, 0) + Number(found[2]) - 1;
}
