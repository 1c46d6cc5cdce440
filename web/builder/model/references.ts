import { endOfForm } from '#ast/basics/condition.ts';
import { isRecord } from '#ast/basics/json.ts';
import { memoizeByObject } from '#ast/basics/memoize.ts';
import { pipedAttributes, pipedIds } from '#ast/form/piping.ts';
import { findFormulaNames } from '#ast/logic/formula/parse.ts';
import { textInAllLanguages } from '#ast/translations/text-in-all-languages.ts';
import {
  type ComparisonLeaf,
  type ConditionGroup,
  listComparisons,
  parseConditionTree,
  validOptionsOf,
} from '../../conditions/condition-tree.ts';
import { type EditNode, type NodeKey, textOf } from './edit-node.ts';
import { editorFormIndexOf, type IndexedNode } from './form-index.ts';
import { canReferInFormula, canShowAnswer, referenceRules } from './referable-nodes.ts';

/** The attributes that contain a condition, in display order. */
export const conditionAttributes = ['show_when', 'hide_when', 'require_when', 'valid_when'] as const;
type ConditionAttribute = (typeof conditionAttributes)[number];

/** A jump from a step: the target, and an optional condition. */
export type StepJump = { readonly to: string; readonly when?: unknown };

/** Returns the valid jumps of a step. */
export function jumpsOf(step: EditNode): readonly StepJump[] {
  const jumps = step.attrs['jumps'];
  if (!Array.isArray(jumps)) return [];
  return jumps.filter((jump): jump is StepJump => isRecord(jump) && typeof jump['to'] === 'string');
}

const optionConditions = (node: EditNode): ConditionGroup[] =>
  validOptionsOf(node.attrs['options']).flatMap(({ show_when: when }) => parseConditionTree(when) ?? []);

/** The name of an attribute whose text can show answers. */
type PipedAttribute = (typeof pipedAttributes)[number];

/**
 * A reference from one node to the id of another: in a condition, as the target of a jump, or in a text that
 * shows its answer.
 */
export type NodeReference = {
  /** The node with the condition, jump or text. */
  readonly from: NodeKey;
  readonly attribute: ConditionAttribute | 'options' | 'jumps' | 'formula' | PipedAttribute;
  readonly of: 'element' | 'step';
  readonly name: string;
  /** The id of the matrix row, if the reference is to a row. */
  readonly row?: string;
  /** Whether the target exists and may be referred to from here. */
  readonly holds: boolean;
};

/** Lists every reference of a form, once per root. */
export const listNodeReferences = memoizeByObject((root: EditNode): readonly NodeReference[] =>
  editorFormIndexOf(root).placed.flatMap((place) => [
    ...conditionAttributes.flatMap((attribute) => {
      const group = parseConditionTree(place.node.attrs[attribute]);
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
  attribute: NodeReference['attribute'],
  group: ConditionGroup,
): NodeReference[] {
  const may = referenceRules[attribute === 'jumps' || attribute === 'valid_when' ? attribute : 'show_when'];
  return listComparisons(group)
    .flatMap(namedElements)
    .map((subject): NodeReference => {
      const target = editorFormIndexOf(root).elements.get(subject.name);
      const { name, row } = subject;
      const hasRow =
        row === undefined || validOptionsOf(target?.node.attrs['rows']).some(({ id }) => id === row);
      const holds = target !== undefined && hasRow && may(place, target);
      return {
        from: place.node.key,
        attribute,
        of: 'element',
        name,
        ...(row !== undefined && { row }),
        holds,
      };
    });
}

/** Lists the elements that a comparison names: the tested one, and the one under `other`. */
export const namedElements = ({ subject: { of, ...named }, other }: ComparisonLeaf) => [
  ...(of === 'element' ? [named] : []),
  ...(other === undefined ? [] : [{ name: other }]),
];

function inText(root: EditNode, place: IndexedNode, attribute: PipedAttribute): NodeReference[] {
  const shown = textInAllLanguages(place.node.attrs, attribute).flatMap(({ text }) => pipedIds(text));
  return shown.map((name): NodeReference => {
    const target = editorFormIndexOf(root).elements.get(name);
    const holds = target !== undefined && canShowAnswer(root, place, target);
    return { from: place.node.key, attribute, of: 'element', name, holds };
  });
}

function inFormula(root: EditNode, place: IndexedNode): NodeReference[] {
  return findFormulaNames(textOf(place.node, 'formula')).map(({ id }): NodeReference => {
    const target = editorFormIndexOf(root).elements.get(id);
    const holds = target !== undefined && canReferInFormula(place, target);
    return { from: place.node.key, attribute: 'formula', of: 'element', name: id, holds };
  });
}

function inJump(root: EditNode, place: IndexedNode, { to, when }: StepJump): NodeReference[] {
  const from = place.node.key;
  const target = editorFormIndexOf(root).steps.get(to);
  const holds = target !== undefined && target.step > place.step;
  const step: NodeReference[] =
    to === endOfForm ? [] : [{ from, attribute: 'jumps', of: 'step', name: to, holds }];
  const group = parseConditionTree(when);
  return group ? [...step, ...inCondition(root, place, 'jumps', group)] : step;
}
