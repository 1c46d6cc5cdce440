import type { ReactElement } from 'react';
import { elements, isElementType } from '#ast/elements.ts';
import { Button } from '../../design/button.tsx';
import { Menu } from '../../design/menu.tsx';
import { Tooltip } from '../../design/tooltip.tsx';
import { useBuilder } from '../editor/use-editor.ts';
import { titleOf } from '../model/compare.ts';
import { changeType } from '../model/edit.ts';
import type { EditNode } from '../model/edit-node.ts';
import { typesLike } from '../model/new-element.ts';
import { ElementIcon } from '../palette/element-icon.tsx';

/** What an element is, by name or by its icon, and what else the same question could be. */
export function TypeMenu({ node, isIcon }: { node: EditNode; isIcon: boolean }): ReactElement | null {
  const { editor } = useBuilder();
  const types = typesLike(node.type);
  const title = titleOf(node.type);
  const face = isIcon ? isElementType(node.type) && <ElementIcon type={node.type} /> : title;
  if (types.length < 2) return face ? <span className="node-type">{face}</span> : null;
  const button = (
    <Button size="small" variant="quiet" className="node-type" aria-label={title}>
      {face}
    </Button>
  );
  return (
    <Menu
      placement="bottom start"
      items={types.map((type) => ({
        id: type,
        label: elements[type].title,
        isCurrent: type === node.type,
        onAction: () =>
          editor.change((root) => ({
            root: changeType(root, node.key, type),
            focus: 'node',
            say: `${elements[type].title} now`,
          })),
      }))}
    >
      {isIcon ? <Tooltip text={title}>{button}</Tooltip> : button}
    </Menu>
  );
}
