import { isRecord } from '#ast/basics/json.ts';
import type { ChoiceOption } from '#ast/basics/options.ts';
import { fillPiped, pipedAttributes, pipedIds } from '#ast/form/piping.ts';
import { renameInFormula } from '#ast/logic/formula/parse.ts';
import { mapTextInAllLanguages } from '#ast/translations/text-in-all-languages.ts';
import {
  type ComparisonLeaf,
  listComparisons,
  mapComparisons,
  parseConditionTree,
  toStoredCondition,
} from '../../conditions/condition-tree.ts';
import { type EditNode, type NodeAttributes } from './edit-node.ts';
import { shortenOption } from './options-text.ts';
import { conditionAttributes, jumpsOf } from './references.ts';

/** Maps old ids to new ones, separately for elements and steps. */
type Renamed = {
  readonly elements: ReadonlyMap<string, string>;
  readonly steps: ReadonlyMap<string, string>;
};

/** Updates the ids in all conditions and jumps. Nodes without a renamed reference are shared. */
export function renameReferences(node: EditNode, renamed: Renamed): EditNode {
  return mapConditions(
    node,
    (leaf) => {
      const name = leaf.subject.of === 'element' && renamed.elements.get(leaf.subject.name);
      const other = leaf.other !== undefined && renamed.elements.get(leaf.other);
      if (!name && !other) return leaf;
      const subject = name ? { ...leaf.subject, name } : leaf.subject;
      return { ...leaf, subject, ...(other && { other }) };
    },
    (to) => renamed.steps.get(to) ?? to,
    (id) => renamed.elements.get(id) ?? id,
  );
}

/** Replaces an option in all comparisons of an element's answer. */
export function renameOptionInConditions(node: EditNode, id: string, old: string, fresh: string): EditNode {
  const rename = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map((entry: unknown) => (entry === old ? fresh : entry));
    return value === old ? fresh : value;
  };
  const holdsOption = (value: unknown): boolean =>
    value === old || (Array.isArray(value) && value.includes(old));
  return mapConditions(
    node,
    (leaf) => {
      const isMeant = leaf.subject.of === 'element' && leaf.subject.name === id && holdsOption(leaf.value);
      return isMeant ? { ...leaf, value: rename(leaf.value) } : leaf;
    },
    (to) => to,
    (id) => id,
  );
}

/** Replaces the id of a matrix row in all comparisons. */
export const renameRowInConditions = (node: EditNode, id: string, old: string, fresh: string): EditNode =>
  mapConditions(
    node,
    (leaf) => {
      const { of, name, row } = leaf.subject;
      const isMeant = of === 'element' && name === id && row === old;
      return isMeant ? { ...leaf, subject: { ...leaf.subject, row: fresh } } : leaf;
    },
    (to) => to,
    (id) => id,
  );

/**
 * Replaces the conditions of options; undefined removes a condition. Entries that are not options stay
 * unchanged.
 */
export const mapOptionConditions = (
  options: readonly unknown[],
  change: (condition: unknown) => unknown,
): unknown[] =>
  options.map((option) => {
    if (!isRecord(option) || option['show_when'] === undefined) return option;
    const { show_when: when, ...rest } = option;
    const changed = change(when);
    return changed === undefined ? shortenOption(rest as ChoiceOption) : { ...rest, show_when: changed };
  });

function mapConditions(
  node: EditNode,
  change: (leaf: ComparisonLeaf) => ComparisonLeaf,
  changeStep: (to: string) => string,
  changeShown: (id: string) => string,
): EditNode {
  const attrs = mapAttributes(node, change, changeStep, changeShown);
  const children = node.children.map((child) => mapConditions(child, change, changeStep, changeShown));
  const isSame = attrs === node.attrs && children.every((child, index) => child === node.children[index]);
  return isSame ? node : { ...node, attrs, children };
}

function mapAttributes(
  node: EditNode,
  change: (leaf: ComparisonLeaf) => ComparisonLeaf,
  changeStep: (to: string) => string,
  changeShown: (id: string) => string,
): NodeAttributes {
  const map = (condition: unknown): unknown => {
    const group = parseConditionTree(condition);
    const isMeant = group && listComparisons(group).some((leaf) => change(leaf) !== leaf);
    return isMeant ? toStoredCondition(mapComparisons(group, change)) : condition;
  };
  const changed: Record<string, unknown> = {};
  for (const name of conditionAttributes)
    if (node.attrs[name] !== undefined) changed[name] = map(node.attrs[name]);
  const { options } = node.attrs;
  if (Array.isArray(options)) changed['options'] = mapOptionConditions(options, map);
  const jumps = jumpsOf(node);
  if (jumps.length > 0)
    changed['jumps'] = jumps.map((jump) => ({
      ...jump,
      to: changeStep(jump.to),
      ...(jump.when !== undefined && { when: map(jump.when) }),
    }));
  const { formula } = node.attrs;
  if (typeof formula === 'string') changed['formula'] = renameInFormula(formula, changeShown);
  const follow = (text: string): string =>
    pipedIds(text).some((id) => changeShown(id) !== id)
      ? fillPiped(text, (id) => `{{${changeShown(id)}}}`)
      : text;
  const texts = pipedAttributes.reduce(
    (attrs, name) => mapTextInAllLanguages(attrs, name, follow),
    node.attrs,
  );
  const isSame = Object.entries(changed).every(
    ([name, value]) => JSON.stringify(value) === JSON.stringify(node.attrs[name]),
  );
  return isSame ? texts : { ...texts, ...changed };
}
