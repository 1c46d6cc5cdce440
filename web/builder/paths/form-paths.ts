import { endOfForm } from '#ast/basics/condition.ts';
import type { Sentence } from '../../conditions/describe-condition.ts';
import { describeJump, stepName } from '../model/describe-logic.ts';
import { type EditNode, type NodeKey, textOf } from '../model/edit-node.ts';
import { jumpsOf } from '../model/references.ts';

/** A jump of a step. `to` is the number of a step from 0, or the number of steps for the end. */
export type PathJump = { readonly to: number; readonly sentence: Sentence; readonly lane: number };

/** A step on the map of paths. */
export type PathStep = {
  readonly key: NodeKey;
  readonly name: string;
  readonly elements: number;
  readonly jumps: readonly PathJump[];
  /** Whether visitors can go on to the next step. */
  readonly leadsOn: boolean;
  /** Whether any path leads to the step. Conditions are not solved. */
  readonly isReached: boolean;
};

/** Returns the steps of a form with the ways between them. Each lane has arrows that do not overlap. */
export function listPaths(root: EditNode): { readonly steps: readonly PathStep[]; readonly lanes: number } {
  const { children } = root;
  const reached = new Set([0]);
  const ends: number[] = [];
  const steps = children.map((step, index): PathStep => {
    const known = jumpsOf(step).flatMap((jump) => {
      const to = targetOf(children, jump.to);
      return to === -1 ? [] : [{ jump, to }];
    });
    const always = known.findIndex(({ jump }) => jump.when === undefined);
    const jumps = known.slice(0, always === -1 ? undefined : always + 1).map(({ jump, to }): PathJump => {
      const free = ends.findIndex((end) => end <= index);
      const lane = free === -1 ? ends.length : free;
      ends[lane] = to;
      return { to, lane, sentence: describeJump(root, jump) };
    });
    const isReached = reached.has(index);
    if (isReached) for (const { to } of jumps) reached.add(to);
    if (isReached && always === -1) reached.add(index + 1);
    const { key, children: inside } = step;
    const name = stepName(root, step);
    return { key, name, elements: inside.length, jumps, leadsOn: always === -1, isReached };
  });
  return { steps, lanes: ends.length };
}

const targetOf = (steps: readonly EditNode[], to: string): number =>
  to === endOfForm ? steps.length : steps.findIndex((step) => textOf(step, 'id') === to);
