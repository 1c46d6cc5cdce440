import { type ReactElement, useState } from 'react';
import { Icon, Logo } from '../design/icon.tsx';
import './navigation.css';
import { Link, useNavigate } from '@tanstack/react-router';
import { Button } from 'react-aria-components/Button';
import type { Session } from '#workspaces/sign-in/session-shapes.ts';
import { callSessionOperation } from '../api/operations.ts';
import { useAction } from '../design/action.tsx';
import { FieldsDialog } from '../design/form-dialog.tsx';
import { Menu } from '../design/menu.tsx';
import { FinderButton } from './finder-frame.tsx';
import { workspaceScreens } from './screen-links.ts';
import { mayAdminister, useCurrentWorkspace, useSession } from './session.ts';
import { consoleThemes, setConsoleTheme, useConsoleTheme } from './theme.ts';
import './skip-link.css';

/** The initials of a name, as a picture of a person or workspace. */
export function Avatar({ name, isSquare = false }: { name: string; isSquare?: boolean }): ReactElement {
  const words = name.trim().split(/\s+/);
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined]
    .map((word) => Array.from(word ?? '')[0] ?? '')
    .join('');
  return (
    <span className={`avatar${isSquare ? ' avatar-square' : ''}`} aria-hidden="true">
      {letters.toUpperCase()}
    </span>
  );
}

function CreateWorkspaceDialog({ onClose }: { onClose: () => void }): ReactElement {
  const navigate = useNavigate();
  const create = useAction({
    run: (body: { name: string }) => callSessionOperation('createWorkspace', { body }),
    onDone({ id }) {
      onClose();
      return navigate({ to: '/w/$workspace/forms', params: { workspace: id } });
    },
  });
  return (
    <FieldsDialog
      title="Create workspace"
      description="Forms, API keys and members belong to a workspace. You will be its owner."
      onClose={onClose}
      submitLabel="Create workspace"
      action={create}
      begin={{ name: '' }}
      fields={{ name: { label: 'Name', autoFocus: true, autoComplete: 'organization' } }}
    />
  );
}

/** Shows the current workspace and lets the person switch to another. */
function WorkspaceSwitcher({
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
              description: `Your role: ${role}`,
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
      {isCreating && <CreateWorkspaceDialog onClose={() => setCreating(false)} />}
    </>
  );
}

/** The menu of the signed-in person: account, appearance and sign-out. */
function PersonMenu({ user }: { user: Session['user'] }): ReactElement {
  const theme = useConsoleTheme();
  // Reloads the page, so that none of the person's data stays in memory.
  const signOut = useAction({
    run: () => callSessionOperation('signOut', {}),
    problem: 'toast',
    onDone: () => window.location.assign('/app/sign-in'),
  });
  return (
    <Menu
      placement="top start"
      items={[
        { id: 'account', label: 'Account and password', icon: 'settings', href: '/account' },
        {
          id: 'theme',
          heading: 'Appearance',
          items: consoleThemes.map(({ id, label }) => ({
            id,
            label,
            isCurrent: id === theme,
            onAction: () => setConsoleTheme(id),
          })),
        },
        { id: 'before-sign-out', separator: true },
        { id: 'sign-out', label: 'Sign out', icon: 'sign-out', onAction: () => signOut.start() },
      ]}
    >
      <Button className="side-button">
        <Avatar name={user.name} />
        <span className="side-button-text">
          <span className="side-button-name cut">{user.name}</span>
          <span className="soft small cut">{user.email}</span>
        </span>
        <Icon name="chevron-up" />
      </Button>
    </Menu>
  );
}

/** The navigation between the screens of a workspace. */
export function Navigation(): ReactElement {
  const { user } = useSession();
  const workspace = useCurrentWorkspace();
  const base = workspace && `/w/${workspace.id}`;
  const screens = workspaceScreens.filter(
    ({ isAdministration }) => !isAdministration || (workspace && mayAdminister(workspace.role)),
  );
  const drawLink = ({ path, label, icon }: (typeof screens)[number]): ReactElement => (
    <Link key={path} to={`${base}${path}`} className="navigation-link">
      <Icon name={icon} />
      {label}
    </Link>
  );
  return (
    <div className="navigation">
      <Link to="/" className="navigation-brand">
        <Logo /> Formloom
      </Link>
      <WorkspaceSwitcher current={workspace} />
      <FinderButton />
      {base && (
        <nav aria-label="Workspace" className="navigation-links">
          {screens.filter(({ isSetting }) => !isSetting).map(drawLink)}
          <p className="navigation-heading">Settings</p>
          {screens.filter(({ isSetting }) => isSetting).map(drawLink)}
        </nav>
      )}
      <div className="navigation-end">
        <PersonMenu user={user} />
      </div>
    </div>
  );
}

/** The first Tab stop: skips the repeated beginning of every screen. */
export function SkipLink(): ReactElement {
  return (
    <a className="skip-link" href="#main">
      Skip to content
    </a>
  );
}
