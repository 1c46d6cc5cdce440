import type { ReactElement } from 'react';
import { elements } from '#ast/elements.ts';
import { Button } from '../../design/button.tsx';
import { Menu } from '../../design/menu.tsx';
import { useBuilder } from '../editor/use-editor.ts';
import { titleOf } from '../model/compare.ts';
import { changeType } from '../model/edit.ts';
import type { EditNode } from '../model/edit-node.ts';
import { typesLike } from '../model/new-element.ts';

/** What an element is, and what else the same question could be. */
export function TypeMenu({ node }: { node: EditNode }): ReactElement {
  const { editor } = useBuilder();
  const types = typesLike(node.type);
  if (types.length < 2) return <span className="node-type">{titleOf(node.type)}</span>;
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
      <Button size="small" variant="quiet" className="node-type">
        {titleOf(node.type)}
      </Button>
    </Menu>
  );
}
