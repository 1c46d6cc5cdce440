import { fillPiped } from '#ast/form/piping.ts';
import { formatPipedLabel } from '../design/split-piped-text.ts';
import { type FindTestedNode, type TestedNode, textOf } from './condition-tree.ts';

/** Fills the placeholders of a text with the labels of their questions: `Hello [Name]`. */
export const fillLabels = (text: string, find: FindTestedNode): string =>
  fillPiped(text, (id) => {
    const node = find(id);
    return formatPipedLabel(node ? fillPiped(textOf(node, 'label'), () => '…') : 'missing question');
  });

/** Fills the placeholders in the label of a node. Returns the node itself if there are none. */
export function withFilledLabel<Node extends TestedNode>(node: Node, find: FindTestedNode): Node {
  const label = textOf(node, 'label');
  const shown = fillLabels(label, find);
  return shown === label ? node : { ...node, attrs: { ...node.attrs, label: shown } };
}
