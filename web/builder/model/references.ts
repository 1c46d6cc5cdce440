import { endOfForm } from '#ast/basics/condition.ts';
import { isRecord } from '#ast/basics/json.ts';
import { memoizeByObject } from '#ast/basics/memoize-by-object.ts';
import { pipedAttributes, pipedIds } from '#ast/form/piping.ts';
import { namesIn } from '#ast/logic/formula/parse.ts';
import { textInAllLanguages } from '#ast/translations/text-in-all-languages.ts';
import { type Group, leavesOf, readCondition, validOptionsOf } from '../../conditions/condition-tree.ts';
import { type EditNode, type NodeKey, textOf } from './edit-node.ts';
import { type IndexedNode, indexOf } from './form-index.ts';
import { canReferInCondition, canReferInFormula, canReferInJump, canShowAnswer } from './referable-nodes.ts';

/** The attributes that contain a condition, in display order. */
export const conditionNames = ['show_when', 'hide_when', 'require_when'] as const;
export type ConditionName = (typeof conditionNames)[number];

/** A jump from a step: the target, and an optional condition. */
export type Jump = { readonly to: string; readonly when?: unknown };

/** Returns the valid jumps of a step. */
export function jumpsOf(step: EditNode): readonly Jump[] {
  const jumps = step.attrs['jumps'];
  if (!Array.isArray(jumps)) return [];
  return jumps.filter((jump): jump is Jump => isRecord(jump) && typeof jump['to'] === 'string');
}

const optionConditions = (node: EditNode): Group[] =>
  validOptionsOf(node.attrs['options']).flatMap(({ show_when: when }) => readCondition(when) ?? []);

/** The name of an attribute whose text can show answers. */
export type PipedName = (typeof pipedAttributes)[number];

/**
 * A reference from one node to the id of another: in a condition, as the target of a jump, or in a text that
 * shows its answer.
 */
export type Reference = {
  /** The node with the condition, jump or text. */
  readonly from: NodeKey;
  readonly attribute: ConditionName | 'options' | 'jumps' | 'formula' | PipedName;
  readonly of: 'element' | 'step';
  readonly name: string;
  /** The id of the matrix row, if the reference is to a row. */
  readonly row?: string;
  /** Whether the target exists and may be referred to from here. */
  readonly holds: boolean;
};

/** Lists every reference of a form, once per root. */
export const listReferences = memoizeByObject((root: EditNode): readonly Reference[] =>
  indexOf(root).placed.flatMap((place) => [
    ...conditionNames.flatMap((attribute) => {
      const group = readCondition(place.node.attrs[attribute]);
      return group ? inCondition(root, place, attribute, group) : [];
    }),
    ...optionConditions(place.node).flatMap((group) => inCondition(root, place, 'options', group)),
    ...jumpsOf(place.node).flatMap((jump) => inJump(root, place, jump)),
    ...pipedAttributes.flatMap((attribute) => inText(root, place, attribute)),
    ...inFormula(root, place),
  ]),
);

function inCondition(
  root: EditNode,
  place: IndexedNode,
  attribute: Reference['attribute'],
  group: Group,
): Reference[] {
  const may = attribute === 'jumps' ? canReferInJump : canReferInCondition;
  return leavesOf(group).flatMap(({ subject }): Reference[] => {
    if (subject.of !== 'element') return [];
    const asked = indexOf(root).elements.get(subject.name);
    const { name, row } = subject;
    const hasRow =
      row === undefined || validOptionsOf(asked?.node.attrs['rows']).some(({ id }) => id === row);
    const holds = asked !== undefined && hasRow && may(place, asked);
    return [
      { from: place.node.key, attribute, of: 'element', name, ...(row !== undefined && { row }), holds },
    ];
  });
}

function inText(root: EditNode, place: IndexedNode, attribute: PipedName): Reference[] {
  const shown = textInAllLanguages(place.node.attrs, attribute).flatMap(({ text }) => pipedIds(text));
  return shown.map((name): Reference => {
    const asked = indexOf(root).elements.get(name);
    const holds = asked !== undefined && canShowAnswer(root, place, asked);
    return { from: place.node.key, attribute, of: 'element', name, holds };
  });
}

function inFormula(root: EditNode, place: IndexedNode): Reference[] {
  return namesIn(textOf(place.node, 'formula')).map(({ id }): Reference => {
    const asked = indexOf(root).elements.get(id);
    const holds = asked !== undefined && canReferInFormula(place, asked);
    return { from: place.node.key, attribute: 'formula', of: 'element', name: id, holds };
  });
}

function inJump(root: EditNode, place: IndexedNode, { to, when }: Jump): Reference[] {
  const from = place.node.key;
  const target = indexOf(root).steps.get(to);
  const holds = target !== undefined && target.step > place.step;
  const step: Reference[] =
    to === endOfForm ? [] : [{ from, attribute: 'jumps', of: 'step', name: to, holds }];
  const group = readCondition(when);
  return group ? [...step, ...inCondition(root, place, 'jumps', group)] : step;
}
