import { endOfForm } from '#ast/basics/condition.ts';
import { setAttribute } from './edit.ts';
import { type EditNode, findNode, type NodeKey, textOf } from './edit-node.ts';
import { freshId, idFromLabel } from './element-ids.ts';

/** Ensures that a step has an id, so that a jump can refer to it. Returns the form and the id. */
export function ensureStepId(root: EditNode, key: NodeKey): { readonly root: EditNode; readonly id: string } {
  const step = findNode(root, key);
  const own = step ? textOf(step, 'id') : '';
  if (!step || own) return { root, id: own };
  const taken = new Set([endOfForm, ...root.children.map((other) => textOf(other, 'id'))]);
  const preferred = idFromLabel(textOf(step, 'title')) ?? `step_${root.children.indexOf(step) + 1}`;
  const id = freshId(preferred, taken);
  return { root: setAttribute(root, key, 'id', id), id };
}
