import { factOf } from '#ast/fact-of.ts';
import { validateStructure } from '#ast/validate.ts';
import { type EditNode, nodeAt, type NodeKey, toStructure } from './edit-node.ts';

/** A problem of the form, at the node that it belongs to. */
export type LocatedProblem = {
  readonly key: NodeKey;
  readonly message: string;
  readonly path: readonly number[];
};

/** What the validator says of the form; asked once for each state of it, however many ask. */
export const validateRoot = factOf((root: EditNode) => validateStructure(toStructure(root)));

/** Everything that keeps the form from being published, in reading order: what the API would say, by node. */
export function findProblems(root: EditNode): readonly LocatedProblem[] {
  const result = validateRoot(root);
  if (result.ok) return [];
  return result.errors.map(({ path, message }) => ({ key: nodeAt(root, path).key, message, path }));
}

/** The messages of each node that has any. */
export function problemsByKey(problems: readonly LocatedProblem[]): ReadonlyMap<NodeKey, readonly string[]> {
  const groups = Map.groupBy(problems, ({ key }) => key);
  return new Map([...groups].map(([key, found]) => [key, found.map(({ message }) => message)]));
}
