import { formatCount } from '#ast/basics/format-number.ts';
import { isRecord } from '#ast/basics/json.ts';
import type { ChoiceOption } from '#ast/basics/options.ts';
import { elementDefinitions, isElementType } from '#ast/form/elements.ts';
import {
  type ComparedNode,
  compareForms as compareParts,
  compareValues,
  type NodeChange,
} from '#rules/compare-forms.ts';
import { fillLabels, validOptionsOf } from '../../conditions/condition-tree.ts';
import { describeRule } from './describe-logic.ts';
import { type EditNode, type NodeKey, textOf } from './edit-node.ts';
import { finderIn } from './form-index.ts';
import { attributeSpecsOfNode } from './form-problems.ts';

/** A difference between two forms in words. `key` is the node in the second form, if it is there. */
export type DescribedDifference = {
  readonly kind: 'added' | 'removed' | 'changed' | 'moved';
  /** For example, `“Your email” (Email)`. */
  readonly subject: string;
  /** A sentence for each change; empty if the part was added, removed or moved. */
  readonly details: readonly string[];
  readonly key?: NodeKey;
};

/**
 * Lists all differences between `before` and `after` in reading order of `after`, with removed nodes last.
 */
export function listFormDifferences(before: EditNode, after: EditNode): readonly DescribedDifference[] {
  const { changes } = compareParts(before, after);
  const added = changes.flatMap((change) => (change.kind === 'added' ? [change.after] : []));
  const removed = changes.flatMap((change) => (change.kind === 'removed' ? [change.before] : []));
  return changes.flatMap((change): DescribedDifference[] => {
    if (change.kind === 'added') return describeWhole('added', after, change.after, added);
    if (change.kind === 'removed') return describeWhole('removed', before, change.before, removed);
    const { node } = change.after;
    const subject = describeNode(after, node);
    const details = describeAttributes(change, { before, after });
    return [
      ...(details.length > 0 ? [{ kind: 'changed', subject, details, key: node.key } as const] : []),
      ...(change.isMoved ? [{ kind: 'moved', subject, details: [], key: node.key } as const] : []),
    ];
  });
}

/** The two forms. The description of a rule contains labels of nodes in these forms. */
type Roots = { readonly before: EditNode; readonly after: EditNode };

/** Describes a node that was added or removed. The nodes inside it are listed with it. */
function describeWhole(
  kind: 'added' | 'removed',
  root: EditNode,
  { node, parent }: ComparedNode<EditNode>,
  all: readonly ComparedNode<EditNode>[],
): DescribedDifference[] {
  if (parent && all.includes(parent)) return [];
  const inside = all.filter((other) => isInside(other, node));
  const details =
    inside.length === 0 ? [] : [`With ${inside.map((other) => describeNode(root, other.node)).join(', ')}`];
  return [{ kind, subject: describeNode(root, node), details, ...(kind === 'added' && { key: node.key }) }];
}

const isInside = ({ parent }: ComparedNode<EditNode>, outer: EditNode): boolean =>
  parent !== undefined && (parent.node === outer || isInside(parent, outer));

/** Returns the title of a node type: `Email`, `Step`, `Form`. */
export function titleOfType(type: string): string {
  if (isElementType(type)) return elementDefinitions[type].title;
  if (type === 'step') return 'Step';
  return type === 'form' ? 'Form' : `Unknown type “${type}”`;
}

/** Describes a node of a form by its label or title in quotes, and its type. */
export function describeNode(root: EditNode, node: EditNode): string {
  const text = textOf(node, 'label') || textOf(node, 'title') || textOf(node, 'name');
  const name = fillLabels(text, finderIn(root));
  return name ? `“${name}” (${titleOfType(node.type)})` : titleOfType(node.type);
}

/** Describes one part, or counts several. */
export const describeNodes = (root: EditNode, nodes: readonly EditNode[]): string =>
  nodes.length === 1 ? describeNode(root, nodes[0]!) : formatCount(nodes.length, 'part');

type Kept = Extract<NodeChange<EditNode>, { kind: 'kept' }>;

function describeAttributes({ before, after, attributes }: Kept, roots: Roots): string[] {
  const details =
    before.type === after.type ? [] : [`Type: ${titleOfType(before.type)} → ${titleOfType(after.type)}`];
  for (const { name, before: old, after: fresh } of attributes) {
    const title = attributeTitle(after.type, name);
    const rules = [
      describeRule(roots.before, before.node, name),
      describeRule(roots.after, after.node, name),
    ] as const;
    if (name === 'translations') details.push(...describeTranslations(title, old, fresh));
    else if (rules.some((rule) => rule !== undefined))
      details.push(`${title}: ${rules.map((rule) => rule || '(empty)').join(' → ')}`);
    else if (name === 'options' || name === 'rows')
      details.push(...describeOptionsChange(title, validOptionsOf(old), validOptionsOf(fresh)));
    else details.push(...describeValueChange(title, old, fresh));
  }
  return details;
}

/** Describes changed translations: the number of texts in each language. */
export function describeTranslations(title: string, old: unknown, fresh: unknown): string[] {
  const [before, after] = [flatTexts(old), flatTexts(fresh)];
  const counts = new Map<string, number>();
  for (const place of new Set([...before.keys(), ...after.keys()])) {
    const [language] = JSON.parse(place) as [string];
    if (before.get(place) !== after.get(place)) counts.set(language, (counts.get(language) ?? 0) + 1);
  }
  const summaries = [...counts].map(([language, count]) => `${language} (${formatCount(count, 'text')})`);
  return summaries.length === 0 ? [] : [`${title && `${title}: `}${summaries.join(', ')}`];
}

/** Flattens translations. The key is the language, the attribute and the option as JSON. */
function flatTexts(translations: unknown, place: readonly string[] = []): Map<string, unknown> {
  if (!isRecord(translations))
    return new Map(place.length === 0 ? [] : [[JSON.stringify(place), translations]]);
  return new Map(
    Object.entries(translations).flatMap(([name, value]) => [...flatTexts(value, [...place, name])]),
  );
}

/** Returns the title of an attribute, or its name if it is unknown. */
function attributeTitle(type: string, name: string): string {
  const specs = attributeSpecsOfNode({ type });
  return Object.hasOwn(specs, name) ? specs[name]!.title : name;
}

/** Describes a change. Without a title it is a line below the name of what changed. */
export function describeValueChange(title: string, old: unknown, fresh: unknown): string[] {
  if (Array.isArray(old) && Array.isArray(fresh)) return describeListChange(title, old, fresh);
  return [`${title && `${title}: `}${formatValue(old)} → ${formatValue(fresh)}`];
}

function describeListChange(title: string, old: readonly unknown[], fresh: readonly unknown[]): string[] {
  const added = fresh.filter((entry) => !old.includes(entry));
  const removed = old.filter((entry) => !fresh.includes(entry));
  const parts = [
    added.length > 0 && `added ${added.map(formatValue).join(', ')}`,
    removed.length > 0 && `removed ${removed.map(formatValue).join(', ')}`,
    added.length === 0 && removed.length === 0 && 'reordered',
  ].filter(Boolean);
  return [`${title && `${title}: `}${parts.join('; ')}`];
}

/** Describes changed options. An option is known by its id, so another label is a new name. */
function describeOptionsChange(
  title: string,
  old: readonly ChoiceOption[],
  fresh: readonly ChoiceOption[],
): string[] {
  const before = new Map(old.map((option) => [option.id, option]));
  const kept = fresh.flatMap((option) => {
    const was = before.get(option.id);
    return was ? [{ was, option }] : [];
  });
  const renamed = kept.filter(({ was, option }) => was.label !== option.label);
  const details = kept.flatMap(({ was, option }) =>
    compareValues(was, option)
      .filter(({ name }) => name !== 'label')
      .map(
        ({ name, before: one, after: other }) =>
          `${name} of ${formatValue(option.label)}: ${formatValue(one)} → ${formatValue(other)}`,
      ),
  );
  const calls = new Map(fresh.map(({ id, label }) => [id, label]));
  const isSame = old.length === fresh.length && old.every(({ id }, index) => id === fresh[index]!.id);
  return [
    ...renamed.map(
      ({ was, option }) => `${title}: renamed ${formatValue(was.label)} to ${formatValue(option.label)}`,
    ),
    ...details.map((detail) => `${title}: ${detail}`),
    ...(isSame
      ? []
      : describeListChange(
          title,
          old.map(({ id, label }) => calls.get(id) ?? label),
          fresh.map(({ label }) => label),
        )),
  ];
}

const longestShown = 60;

function formatValue(value: unknown): string {
  if (value === undefined || value === null || value === '') return '(empty)';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const text = typeof value === 'string' ? `“${value}”` : JSON.stringify(value);
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text;
}
