import { validateStructure } from '#ast/validate.ts';
import { findJsonNodes, formatPath, lineAt, offsetOfJsonError } from '../forms/create/json-positions.ts';
import { type EditNode, parseEditableTree } from './model/edit-node.ts';

/** A problem of the JSON text: its location in words, a message, and the offset of the character. */
export type JsonProblem = {
  readonly where: string;
  readonly message: string;
  readonly offset: number | undefined;
};

/** `root` is set if the text has the shape of a form and can be applied. It may still have problems. */
type CheckedJson = { readonly root: EditNode | undefined; readonly problems: readonly JsonProblem[] };

/**
 * Parses a text as a form. Returns the problems that prevent it from being JSON, a form, or ready to publish.
 */
export function checkJson(text: string): CheckedJson {
  let structure: unknown;
  try {
    structure = JSON.parse(text);
  } catch (error) {
    return { root: undefined, problems: [syntaxProblem(text, error as SyntaxError)] };
  }
  const read = parseEditableTree(structure);
  const valid = validateStructure(structure);
  const found = read.ok ? (valid.ok ? [] : valid.errors) : read.problems;
  const places = found.length === 0 ? undefined : findJsonNodes(text);
  return {
    root: read.ok ? read.root : undefined,
    problems: found.map(({ path, message }) => ({
      where: `${formatPath(path)}:`,
      message,
      offset: places?.get(path.join('.'))?.start,
    })),
  };
}

function syntaxProblem(text: string, error: SyntaxError): JsonProblem {
  const offset = offsetOfJsonError(text, error);
  return { where: `Line ${lineAt(text, offset)}:`, message: 'The JSON is invalid from here.', offset };
}
