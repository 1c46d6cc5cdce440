import { endOfForm } from '#ast/basics/condition.ts';
import type { ChoiceOption } from '#ast/basics/options.ts';
import { namesIn } from '#ast/logic/formula/parse.ts';
import { type Group, readCondition, readOptions } from '../../conditions/condition-tree.ts';
import {
  plain,
  type Sentence,
  sayWhen,
  strong,
  toPlain,
  type Words,
} from '../../conditions/say-condition.ts';
import { type EditNode, textOf } from './edit-node.ts';
import { indexOf } from './form-index.ts';
import { type ConditionName, conditionNames, type Jump, jumpsOf } from './references.ts';

const beginnings: Readonly<Record<ConditionName, string>> = {
  show_when: 'Shown',
  hide_when: 'Hidden',
  require_when: 'Required',
};

/**
 * Describes each rule of a node in a sentence: `Shown when Country is DE`, `Jumps to the end when …`
 * (docs/rules.md B7).
 */
export function sayLogic(root: EditNode, node: EditNode): readonly Sentence[] {
  const conditions = conditionNames.flatMap((name): Sentence[] => {
    const group = readCondition(node.attrs[name]);
    return group ? [[plain(beginnings[name]), ...sayWhenIn(root, group)]] : [];
  });
  const formula = textOf(node, 'formula');
  return [
    ...(formula === '' ? [] : [sayFormula(root, formula)]),
    ...conditions,
    ...readOptions(node.attrs['options']).flatMap((option) => sayOffer(root, option) ?? []),
    ...jumpsOf(node).map((jump) => sayJump(root, jump)),
  ];
}

/** `Large offered when …`. */
function sayOffer(root: EditNode, { label, show_when: when }: ChoiceOption): Sentence[] | undefined {
  const group = readCondition(when);
  return group && [[strong(label), plain(' offered'), ...sayWhenIn(root, group)]];
}

/** Formats a formula with the labels of its elements: `= Price * People`. */
export function sayFormula(root: EditNode, formula: string): Sentence {
  const names = namesIn(formula);
  const labelOf = (id: string): string => {
    const named = indexOf(root).elements.get(id)?.node;
    return (named && textOf(named, 'label')) || id;
  };
  const parts = names.flatMap(({ id, at }, index) => [
    plain(formula.slice(names[index - 1]?.end ?? 0, at)),
    strong(labelOf(id)),
  ]);
  return [plain('= '), ...parts, plain(formula.slice(names.at(-1)?.end ?? 0))];
}

/** Describes a jump: `Jumps to Thanks when Country is DE`, or without a condition if it always applies. */
export function sayJump(root: EditNode, { to, when }: Jump): Sentence {
  const group = readCondition(when);
  return [plain('Jumps to '), sayTarget(root, to), ...(group ? sayWhenIn(root, group) : [])];
}

/** Describes an attribute as plain text if it is a rule; `root` is the form of the node. */
export function sayRule(root: EditNode, node: EditNode, attribute: string): string | undefined {
  if (attribute === 'formula') return toPlain(sayFormula(root, textOf(node, 'formula'))).slice(2);
  if (attribute === 'jumps')
    return jumpsOf(node)
      .map((jump) => toPlain(sayJump(root, jump)))
      .join('; ');
  const name = conditionNames.find((known) => known === attribute);
  const group = name && readCondition(node.attrs[name]);
  return group && toPlain(sayWhenIn(root, group)).trim();
}

/** Describes the target of a jump. */
function sayTarget(root: EditNode, to: string): Words {
  if (to === endOfForm) return plain('the end');
  const placed = indexOf(root).steps.get(to);
  return strong(placed ? stepName(root, placed.node) : `${to} (missing)`);
}

/** Returns the title of a step, or its number. */
export const stepName = (root: EditNode, step: EditNode): string =>
  textOf(step, 'title') || `Step ${root.children.indexOf(step) + 1}`;

/** Formats ` when A and B`; `root` is the form of the node. */
export const sayWhenIn = (root: EditNode, group: Group): Sentence =>
  sayWhen(group, (id) => indexOf(root).elements.get(id)?.node);
