import { endOfForm } from '#ast/basics/condition.ts';
import type { ChoiceOption } from '#ast/basics/options.ts';
import { findFormulaNames } from '#ast/logic/formula/parse.ts';
import {
  type ConditionGroup,
  fillLabels,
  parseConditionTree,
  validOptionsOf,
} from '../../conditions/condition-tree.ts';
import {
  describeWhen,
  formatSentence,
  plainPart,
  type Sentence,
  type SentencePart,
  strongPart,
} from '../../conditions/describe-condition.ts';
import { type EditNode, type NodeKey, textOf } from './edit-node.ts';
import { editorFormIndexOf, finderIn, labelledFinderIn } from './form-index.ts';
import { conditionAttributes, jumpsOf, type StepJump } from './references.ts';

const beginnings: Readonly<Record<string, string>> = {
  show_when: 'Shown',
  hide_when: 'Hidden',
  require_when: 'Required',
  valid_when: 'Valid',
};

/**
 * Describes each rule of a node in a sentence: `Shown if Country is DE`, `Skips to the end if …`
 * (docs/rules.md B7).
 */
export function describeLogic(root: EditNode, node: EditNode): readonly Sentence[] {
  const conditions = conditionAttributes.flatMap((name): Sentence[] => {
    const group = parseConditionTree(node.attrs[name]);
    return group ? [describeCondition(root, name, group)] : [];
  });
  const formula = textOf(node, 'formula');
  return [
    ...(formula === '' ? [] : [formatFormula(root, formula)]),
    ...conditions,
    ...validOptionsOf(node.attrs['options']).flatMap((option) => describeOptionCondition(root, option) ?? []),
    ...jumpsOf(node).map((jump) => describeJump(root, jump)),
  ];
}

/** Describes a condition of a node: `Shown if Country is DE`. */
export const describeCondition = (root: EditNode, name: string, group: ConditionGroup): Sentence => [
  plainPart(beginnings[name] ?? beginnings['show_when']!),
  ...describeNodeCondition(root, group),
];

/** Formats, for example, `Large offered if …`. */
function describeOptionCondition(
  root: EditNode,
  { label, show_when: when }: ChoiceOption,
): Sentence[] | undefined {
  const group = parseConditionTree(when);
  return group && [[strongPart(label), plainPart(' offered'), ...describeNodeCondition(root, group)]];
}

/** Formats a formula with the labels of its elements: `= Price * People`. */
export function formatFormula(root: EditNode, formula: string): Sentence {
  const names = findFormulaNames(formula);
  const labelOf = (id: string): string => {
    const named = labelledFinderIn(root)(id);
    return (named && textOf(named, 'label')) || id;
  };
  const parts = names.flatMap(({ id, at }, index) => [
    plainPart(formula.slice(names[index - 1]?.end ?? 0, at)),
    strongPart(labelOf(id)),
  ]);
  return [plainPart('= '), ...parts, plainPart(formula.slice(names.at(-1)?.end ?? 0))];
}

/** Describes a jump: `Skips to Thanks when Country is DE`, or without a condition if it always applies. */
export function describeJump(root: EditNode, { to, when }: StepJump): Sentence {
  const group = parseConditionTree(when);
  return [
    plainPart('Skips to '),
    describeJumpTarget(root, to),
    ...(group ? describeNodeCondition(root, group) : []),
  ];
}

/** Describes an attribute that is a rule as plain text; `root` is the form of the node. */
export function describeRule(root: EditNode, node: EditNode, attribute: string): string | undefined {
  if (attribute === 'formula') return formatSentence(formatFormula(root, textOf(node, 'formula'))).slice(2);
  if (attribute === 'jumps')
    return jumpsOf(node)
      .map((jump) => formatSentence(describeJump(root, jump)))
      .join('; ');
  const name = conditionAttributes.find((known) => known === attribute);
  const group = name && parseConditionTree(node.attrs[name]);
  return group && formatSentence(describeNodeCondition(root, group)).trim();
}

/** Describes the target of a jump. */
function describeJumpTarget(root: EditNode, to: string): SentencePart {
  if (to === endOfForm) return plainPart('the end');
  const placed = editorFormIndexOf(root).steps.get(to);
  return strongPart(placed ? stepName(root, placed.node) : `${to} (missing)`);
}

/** Returns the title of a step, or its number. */
export const stepName = (root: EditNode, step: EditNode): string =>
  fillLabels(textOf(step, 'title'), finderIn(root)) || `Step ${root.children.indexOf(step) + 1}`;

/** Formats ` if A and B`; `root` is the form of the node. */
const describeNodeCondition = (root: EditNode, group: ConditionGroup): Sentence =>
  describeWhen(group, labelledFinderIn(root));

/** A jump of a step. `to` is the number of a step from 0, or the number of steps for the end. */
type PathJump = { readonly to: number; readonly sentence: Sentence; readonly lane: number };

/** A step on the map of paths. */
export type PathStep = {
  readonly key: NodeKey;
  readonly name: string;
  readonly elements: number;
  readonly jumps: readonly PathJump[];
  /** Whether visitors can continue to the next step. */
  readonly leadsOn: boolean;
  /** Whether a path leads to the step. Assumes that every condition can be true. */
  readonly isReached: boolean;
};

/** Returns the steps of a form with their jumps. Arrows in the same lane of the map do not overlap. */
export function listPaths(root: EditNode): { readonly steps: readonly PathStep[]; readonly lanes: number } {
  const { children } = root;
  const { steps: indexed } = editorFormIndexOf(root);
  const reached = new Set([0]);
  const ends: number[] = [];
  const steps = children.map((step, index): PathStep => {
    const known = jumpsOf(step).flatMap((jump) => {
      const to = jump.to === endOfForm ? children.length : indexed.get(jump.to)?.step;
      return to === undefined ? [] : [{ jump, to }];
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
