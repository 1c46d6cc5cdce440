import { fillPiped, pipedAttributes, pipedIds } from '#ast/form/piping.ts';
import { mapTextInAllLanguages } from '#ast/translations/text-in-all-languages.ts';
import { filterComparisons, parseConditionTree, toStoredCondition } from '../../conditions/condition-tree.ts';
import { setAttribute } from './edit.ts';
import { type EditNode } from './edit-node.ts';
import { editorFormIndexOf } from './form-index.ts';
import {
  conditionAttributes,
  jumpsOf,
  listNodeReferences,
  type NodeReference,
  namedElements,
  type StepJump,
} from './references.ts';
import { mapOptionConditions } from './rename.ts';

const nameOf = ({ from, attribute, of, name, row }: NodeReference): string =>
  JSON.stringify([from, attribute, of, name, row]);

/**
 * Lists references that an edit breaks. The reference and its node remain, but the target was deleted or can
 * no longer be referred to from there (docs/rules.md B7).
 */
export function listBrokenReferences(before: EditNode, after: EditNode): readonly NodeReference[] {
  if (before === after) return [];
  const valid = new Set(
    listNodeReferences(before)
      .filter(({ holds }) => holds)
      .map(nameOf),
  );
  if (valid.size === 0) return [];
  return listNodeReferences(after).filter((reference) => !reference.holds && valid.has(nameOf(reference)));
}

/** Removes broken references from the form: comparisons, and with the last one its condition or jump. */
export function removeBrokenReferences(root: EditNode, broken: readonly NodeReference[]): EditNode {
  const names = new Set(broken.map(nameOf));
  let cleaned = root;
  for (const from of new Set(broken.map((reference) => reference.from))) {
    const node = editorFormIndexOf(root).byKey.get(from)?.node;
    if (node) cleaned = dropFrom(cleaned, node, names);
  }
  return cleaned;
}

function dropFrom(root: EditNode, node: EditNode, broken: ReadonlySet<string>): EditNode {
  const clean = (attribute: NodeReference['attribute'], condition: unknown): object | undefined => {
    const group = parseConditionTree(condition);
    const remaining =
      group &&
      filterComparisons(group, (leaf) =>
        namedElements(leaf).every(
          (named) =>
            !broken.has(nameOf({ from: node.key, attribute, of: 'element', ...named, holds: false })),
        ),
      );
    return remaining && toStoredCondition(remaining);
  };
  let cleaned = root;
  for (const attribute of conditionAttributes) {
    const condition = node.attrs[attribute];
    if (condition !== undefined && parseConditionTree(condition))
      cleaned = setAttribute(cleaned, node.key, attribute, clean(attribute, condition));
  }
  const { options } = node.attrs;
  if (Array.isArray(options))
    cleaned = setAttribute(
      cleaned,
      node.key,
      'options',
      mapOptionConditions(options, (condition) => clean('options', condition)),
    );
  const texts = pipedAttributes.reduce(
    (attrs, attribute) =>
      mapTextInAllLanguages(attrs, attribute, (text) => {
        const remaining = fillPiped(text, (name) => {
          const isLost = broken.has(nameOf({ from: node.key, attribute, of: 'element', name, holds: false }));
          return isLost ? '' : `{{${name}}}`;
        });
        // If a label becomes empty this way, the problems of the form report it.
        return pipedIds(text).length > pipedIds(remaining).length ? remaining : text;
      }),
    node.attrs,
  );
  for (const name of [...pipedAttributes, 'translations'])
    cleaned = setAttribute(cleaned, node.key, name, texts[name]);
  const jumps = jumpsOf(node);
  if (jumps.length === 0) return cleaned;
  const remaining = jumps.flatMap((jump): StepJump[] => {
    const { to, when } = jump;
    const isLost = broken.has(
      nameOf({ from: node.key, attribute: 'jumps', of: 'step', name: to, holds: false }),
    );
    if (isLost) return [];
    if (when === undefined) return [jump];
    // Removes a jump that loses its whole condition, because it would otherwise always apply.
    const left = clean('jumps', when);
    return left ? [{ ...jump, when: left }] : [];
  });
  return setAttribute(cleaned, node.key, 'jumps', remaining.length === 0 ? undefined : remaining);
}
