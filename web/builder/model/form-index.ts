import { factOf } from '#ast/basics/fact-of.ts';
import { type EditNode, type NodeKey, textOf } from './edit-node.ts';

/** A node with its step and its ancestors, outermost first. */
export type Placed = {
  readonly node: EditNode;
  readonly step: number;
  readonly around: readonly EditNode[];
};

/**
 * Every step and element of a form by key and id, in reading order. Step ids and element ids are separate.
 */
export type FormIndex = {
  readonly placed: readonly Placed[];
  readonly byKey: ReadonlyMap<NodeKey, Placed>;
  readonly elements: ReadonlyMap<string, Placed>;
  readonly steps: ReadonlyMap<string, Placed>;
};

/** Returns the index of a form, built once per root. */
export const indexOf = factOf((root: EditNode): FormIndex => {
  const placed: Placed[] = [];
  const visit = (node: EditNode, step: number, around: readonly EditNode[]): void => {
    placed.push({ node, step, around });
    for (const child of node.children) visit(child, step, [...around, node]);
  };
  for (const [step, node] of root.children.entries()) visit(node, step, []);
  const byId = (ofSteps: boolean): ReadonlyMap<string, Placed> => {
    const found = placed.filter(
      ({ node }) => (node.type === 'step') === ofSteps && textOf(node, 'id') !== '',
    );
    // If two nodes share an id, the first one counts. The duplicate is reported separately.
    return new Map(found.toReversed().map((entry) => [textOf(entry.node, 'id'), entry]));
  };
  return {
    placed,
    byKey: new Map(placed.map((entry) => [entry.node.key, entry])),
    elements: byId(false),
    steps: byId(true),
  };
});
