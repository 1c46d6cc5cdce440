import { type ReactElement, useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { Icon } from '../../design/icon.tsx';
import { Menu } from '../../design/menu.tsx';
import { Avatar } from './avatar.tsx';
import { CreateWorkspaceDialog } from './create-workspace-dialog.tsx';
import { useSession } from '../session.ts';

/** Which workspace this is, and the way to the others. */
export function WorkspaceSwitcher({
  current,
}: {
  current: { id: string; name: string; role: string } | undefined;
}): ReactElement {
  const { workspaces, may_create_workspaces } = useSession();
  const [isCreating, setCreating] = useState(false);
  return (
    <>
      <Menu
        placement="bottom start"
        items={[
          {
            id: 'workspaces',
            heading: 'Workspaces',
            items: workspaces.map(({ id, name, role }) => ({
              id,
              label: name,
              description: `You are ${role}`,
              href: `/w/${id}/forms`,
              isCurrent: id === current?.id,
            })),
          },
          ...(may_create_workspaces
            ? ([
                { id: 'before-create', separator: true },
                { id: 'create', label: 'Create workspace', icon: 'add', onAction: () => setCreating(true) },
              ] as const)
            : []),
        ]}
      >
        <Button className="side-button side-button-bordered">
          <Avatar name={current?.name ?? '+'} isSquare />
          <span className="side-button-text">
            <span className="unseen">Workspace:</span>
            <span className="side-button-name cut">{current?.name ?? 'No workspace'}</span>
          </span>
          <Icon name="chevron-down" />
        </Button>
      </Menu>
      <CreateWorkspaceDialog isOpen={isCreating} onClose={() => setCreating(false)} />
    </>
  );
}
