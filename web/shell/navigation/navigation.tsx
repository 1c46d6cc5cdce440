import './navigation.css';
import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { Icon, type IconName, Logo } from '../../design/icon.tsx';
import { PersonMenu } from './person-menu.tsx';
import { mayAdminister, useCurrentWorkspace, useSession } from '../session.ts';
import { WorkspaceSwitcher } from './workspace-switcher.tsx';

/** Everything that leads from one screen of a workspace to another. */
export function Navigation(): ReactElement {
  const { user } = useSession();
  const workspace = useCurrentWorkspace();
  const base = workspace && `/w/${workspace.id}`;
  return (
    <div className="navigation">
      <Link to="/" className="navigation-brand">
        <Logo /> Formloom
      </Link>
      <WorkspaceSwitcher current={workspace} />
      {base && (
        <nav aria-label="Workspace" className="navigation-links">
          <NavigationLink to={`${base}/forms`} icon="form">
            Forms
          </NavigationLink>
          <p className="navigation-heading">Settings</p>
          <NavigationLink to={`${base}/settings/general`} icon="settings">
            General
          </NavigationLink>
          <NavigationLink to={`${base}/settings/members`} icon="people">
            Members
          </NavigationLink>
          {mayAdminister(workspace.role) && (
            <>
              <NavigationLink to={`${base}/settings/keys`} icon="key">
                API keys
              </NavigationLink>
              <NavigationLink to={`${base}/settings/mail`} icon="mail">
                Mail
              </NavigationLink>
              <NavigationLink to={`${base}/settings/activity`} icon="history">
                Activity
              </NavigationLink>
            </>
          )}
        </nav>
      )}
      <div className="navigation-end">
        <PersonMenu user={user} />
      </div>
    </div>
  );
}

function NavigationLink({
  to,
  icon,
  children,
}: {
  to: string;
  icon: IconName;
  children: string;
}): ReactElement {
  return (
    <Link to={to} className="navigation-link">
      <Icon name={icon} />
      {children}
    </Link>
  );
}
