import { type EditNode, type NodeKey, textOf } from './edit-node.ts';
import { editorFormIndexOf } from './form-index.ts';

/** Marks a position, because no id begins with it. Ids and positions therefore cannot be confused. */
const mark = '.';

/**
 * Names a step or element for the address of the builder: an element by its id, otherwise the position, such
 * as `.2` for the second step and `.2.1` for its first element. Undefined for the form itself.
 */
export function formatNodeAddress(root: EditNode, key: NodeKey): string | undefined {
  const index = editorFormIndexOf(root);
  const found = index.byKey.get(key);
  if (!found) return undefined;
  const id = textOf(found.node, 'id');
  if (index.elements.get(id)?.node === found.node) return id;
  const nodes = [...found.around, found.node];
  const numbers = nodes.map(
    (node, depth) => (depth === 0 ? root : nodes[depth - 1]!).children.indexOf(node) + 1,
  );
  return numbers.map((number) => mark + number).join('');
}

/** Finds the node that an address names. */
export function nodeAtAddress(root: EditNode, address: string): EditNode | undefined {
  if (!address.startsWith(mark)) return editorFormIndexOf(root).elements.get(address)?.node;
  return address
    .slice(1)
    .split(mark)
    .reduce<EditNode | undefined>((node, number) => node?.children[Number(number) - 1], root);
}
