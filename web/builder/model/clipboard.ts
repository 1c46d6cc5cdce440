import { getProperty, isRecord, jsonStorageProblem } from '#ast/basics/json.ts';
import { formLimits } from '#ast/basics/limits.ts';
import { removeBrokenReferences } from './broken-references.ts';
import { insertCopies } from './edit.ts';
import { type EditNode, type NodeKey, parseEditableTree, toStructure, walkNodes } from './edit-node.ts';
import { idsOf } from './element-ids.ts';
import { findProblems } from './form-problems.ts';
import { isElement, type Spot, spotForNewElement, topmostNodes } from './node-positions.ts';
import { listNodeReferences } from './references.ts';

/*
 * Parts of forms as clipboard text: `{"formloom": {"parts": [...]}}`. Each part is a node of the form
 * language (docs/form-language.md). Parts can be pasted into other forms, other windows and text editors.
 */

/** Formats nodes as the text that `readParts` reads. */
export const formatClipboardNodes = (nodes: readonly EditNode[]): string =>
  JSON.stringify({ formloom: { parts: nodes.map(toStructure) } }, undefined, 2);

type ParsedNodes =
  | { readonly ok: true; readonly parts: readonly EditNode[] }
  | { readonly ok: false; readonly message: string };

const refused = (message: string): ParsedNodes => ({ ok: false, message });

/**
 * Parses clipboard text as parts: copied parts, or JSON of the form language. The JSON can be a form (for its
 * steps), a step, an element, or a list of steps or elements. Never throws.
 */
export function parseClipboardNodes(text: string): ParsedNodes {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refused('The clipboard has no steps or elements to paste.');
  }
  const problem = jsonStorageProblem(value, { values: 0, markup: 0 });
  if (problem !== undefined) return refused(`The clipboard content ${problem}.`);
  const copied = isRecord(value) ? getProperty(value, 'formloom') : undefined;
  const sent = isRecord(copied) ? getProperty(copied, 'parts') : value;
  const listed: readonly unknown[] = Array.isArray(sent) ? sent : [sent];
  const nodes = listed.flatMap((node) => {
    const children = isRecord(node) && node['type'] === 'form' ? node['children'] : undefined;
    return Array.isArray(children) ? (children as unknown[]) : [node];
  });
  if (nodes.length === 0) return refused('The clipboard has no steps or elements to paste.');
  const areSteps = nodes.every((node) => isRecord(node) && node['type'] === 'step');
  const steps = areSteps ? nodes : [{ type: 'step', attrs: {}, children: nodes }];
  const read = parseEditableTree({ type: 'form', attrs: {}, children: steps });
  if (!read.ok)
    return refused(`The clipboard has no steps or elements to paste: ${read.problems[0]!.message}`);
  const parts = areSteps ? read.root.children : read.root.children[0]!.children;
  if (!areSteps && !parts.every(isElement))
    return refused('Steps and elements cannot be pasted together. Copy only steps or only elements.');
  return { ok: true, parts };
}

/** The result of pasting parts into a form. */
export type Pasted = {
  readonly root: EditNode;
  readonly keys: readonly NodeKey[];
  /**
   * The number of references in rules, jumps and texts that this form could not resolve. They were removed.
   */
  readonly dropped: number;
  /** Problems that prevent publishing, in the words of the form language. */
  readonly problems: readonly string[];
};

/**
 * Pastes parts after the selection. Parts whose ids are in `taken` get new ids. References between the parts
 * are updated, references to this form stay, and unresolved ones are removed. Returns a message if the parts
 * cannot be pasted.
 */
export function insertPastedNodes(
  root: EditNode,
  parts: readonly EditNode[],
  selection: NodeKey,
  taken: Set<string> = idsOf(root),
): Pasted | string {
  const count = [root, ...parts].flatMap((node) => [...walkNodes(node)]).filter(isElement).length;
  if (count > formLimits.elements)
    return `A form can have at most ${formLimits.elements.toLocaleString()} elements.`;
  const spot = parts[0]?.type === 'step' ? behindStep(root, selection) : spotForNewElement(root, selection);
  const { root: full, keys } = insertCopies(root, parts, spot, taken);
  if (keys.length === 0) return 'This cannot be pasted here.';
  const fresh = new Set(topmostNodes(full, keys).flatMap(keysIn));
  const lost = listNodeReferences(full).filter(({ from, holds }) => !holds && fresh.has(from));
  const changed = removeBrokenReferences(full, lost);
  const problems = findProblems(changed).filter(({ key }) => fresh.has(key));
  return { root: changed, keys, dropped: lost.length, problems: problems.map(({ message }) => message) };
}

const keysIn = (node: EditNode): readonly NodeKey[] => [...walkNodes(node)].map(({ key }) => key);

function behindStep(root: EditNode, selection: NodeKey): Spot {
  const at = root.children.findIndex((step) => keysIn(step).includes(selection));
  return { parent: root.key, index: at === -1 ? root.children.length : at + 1 };
}
