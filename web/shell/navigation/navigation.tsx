import './navigation.css';
import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { Icon, Logo } from '../../design/icon.tsx';
import { FinderButton } from '../finder/finder-frame.tsx';
import { PersonMenu } from './person-menu.tsx';
import { workspaceScreens } from './places.ts';
import { mayAdminister, useCurrentWorkspace, useSession } from '../session.ts';
import { WorkspaceSwitcher } from './workspace-switcher.tsx';

/** Everything that leads from one screen of a workspace to another. */
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
