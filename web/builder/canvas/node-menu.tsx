import type { ReactElement } from 'react';
import { IconButton } from '../../design/button.tsx';
import { Menu, type MenuAction } from '../../design/menu.tsx';
import { sayPress } from '../../shell/press.ts';
import { useBuilder, useEditorState } from '../editor/use-editor.ts';
import type { EditNode } from '../model/edit-node.ts';
import { type Deed, offeredFor, type OnParts } from '../shortcuts/deeds.ts';
import { useOnParts } from '../shortcuts/on-parts.ts';

/** All that can be done to parts without a key and without dragging (WCAG 2.2, 2.5.7), from the table of deeds. */
export function NodeMenu({ parts }: { parts: readonly EditNode[] }): ReactElement {
  const { editor } = useBuilder();
  useEditorState(editor);
  const on = useOnParts()({ parts });
  const groups = Map.groupBy(offeredFor(on), ([, { menu }]) => menu);
  const items = [...groups.values()].flatMap((group, index): MenuAction[] => [
    ...(index === 0 ? [] : [{ id: `line ${index}`, separator: true } as const]),
    ...group.map(([name, deed]) => itemOf(name, deed, on)),
  ]);
  return (
    <Menu items={items}>
      <IconButton icon="more" label="Move and more" size="small" />
    </Menu>
  );
}

function itemOf(name: string, deed: Deed<OnParts>, on: OnParts): MenuAction {
  const { label, icon, presses, choices } = deed;
  if (choices)
    return {
      id: name,
      heading: label,
      items: choices(on).map(({ perform, ...choice }) => ({ ...choice, onAction: perform })),
    };
  return {
    id: name,
    label,
    ...(icon && { icon }),
    ...(presses[0] !== undefined && { press: sayPress(presses[0]) }),
    onAction: () => deed.perform(on),
  };
}
