import { validateStructure } from '#ast/validate.ts';
import { findNodes, lineAt, offsetOfError, sayPath } from '../forms/create/json-places.ts';
import { type EditNode, readStructure } from './model/edit-node.ts';

/** A problem of the text: where in words, what, and at which character. */
export type JsonProblem = {
  readonly where: string;
  readonly message: string;
  readonly offset: number | undefined;
};

/** `root` is there when the text can be applied, which takes a form of the right shape; problems may remain. */
type CheckedJson = { readonly root: EditNode | undefined; readonly problems: readonly JsonProblem[] };

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
  const places = found.length === 0 ? undefined : findNodes(text);
  return {
    root: read.ok ? read.root : undefined,
    problems: found.map(({ path, message }) => ({
      where: `${sayPath(path)}:`,
      message,
      offset: places?.get(path.join('.'))?.start,
    })),
  };
}

function syntaxProblem(text: string, error: SyntaxError): JsonProblem {
  const offset = offsetOfError(text, error);
  return { where: `Line ${lineAt(text, offset)}:`, message: 'This is not JSON from here on.', offset };
}
