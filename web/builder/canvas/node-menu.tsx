import type { ReactElement } from 'react';
import { IconButton } from '../../design/button.tsx';
import { Menu, type MenuAction } from '../../design/menu.tsx';
import { addStep, mergeWithPrevious, moveBy, moveTo, moveToStep, splitAt } from '../editor/commands.ts';
import { useBuilder, useEditorState } from '../editor/use-editor.ts';
import { type EditNode, textOf, trailTo } from '../model/edit-node.ts';

/** Every move without dragging (WCAG 2.2, 2.5.7), and what steps can do. */
export function NodeMenu({ node }: { node: EditNode }): ReactElement {
  const { editor } = useBuilder();
  const { root } = useEditorState(editor).history.present;
  return (
    <Menu items={node.type === 'step' ? stepActions() : elementActions()}>
      <IconButton icon="more" label="Move and more" size="small" />
    </Menu>
  );

  function elementActions(): MenuAction[] {
    const trail = trailTo(root, node.key);
    const own = trail[1];
    const isDirect = trail.length === 3;
    const isFirst = own?.children[0] === node;
    return [
      { id: 'up', label: 'Move up', icon: 'chevron-up', onAction: () => moveBy(editor, node.key, -1) },
      { id: 'down', label: 'Move down', icon: 'chevron-down', onAction: () => moveBy(editor, node.key, 1) },
      ...(root.children.length > 1 ? [moveToSteps(own)] : []),
      ...(isDirect && !isFirst
        ? [
            {
              id: 'split',
              label: 'Begin a new step here',
              icon: 'steps' as const,
              onAction: () => splitAt(editor, node.key),
            },
          ]
        : []),
    ];
  }

  function moveToSteps(own: EditNode | undefined): MenuAction {
    return {
      id: 'steps',
      heading: 'Move to step',
      items: root.children.map((step, index) => ({
        id: step.key,
        label: textOf(step, 'title') || `Step ${index + 1}`,
        isCurrent: step === own,
        onAction: () => moveToStep(editor, node.key, step.key),
      })),
    };
  }

  function stepActions(): MenuAction[] {
    const index = root.children.indexOf(node);
    const to = (at: number) => () => moveTo(editor, node.key, { parent: root.key, index: at });
    return [
      {
        id: 'up',
        label: 'Move step up',
        icon: 'chevron-up',
        isDisabled: index === 0,
        onAction: to(index - 1),
      },
      {
        id: 'down',
        label: 'Move step down',
        icon: 'chevron-down',
        isDisabled: index === root.children.length - 1,
        onAction: to(index + 2),
      },
      {
        id: 'merge',
        label: 'Merge with the step before',
        icon: 'steps',
        isDisabled: index === 0,
        onAction: () => mergeWithPrevious(editor, node.key),
      },
      { id: 'add', label: 'Add a step behind', icon: 'add', onAction: () => addStep(editor, node.key) },
    ];
  }
}
