import type { ReactElement } from 'react';
import { Button } from 'react-aria-components/Button';
import type { Session } from '#console/accounts/shapes.ts';
import { callOwn } from '../../api/operations.ts';
import { Icon } from '../../design/icon.tsx';
import { Menu } from '../../design/menu.tsx';
import { toastProblem } from '../../design/toast.tsx';
import { Avatar } from './avatar.tsx';
import { setTheme, themes, useTheme } from '../theme.ts';

/** Leaves nothing of the person behind: what was loaded goes with the page. */
async function signOut(): Promise<void> {
  try {
    await callOwn('signOut', {});
    window.location.assign('/app/sign-in');
  } catch (error) {
    toastProblem(error);
  }
}

/** Who is signed in, and what belongs to the person rather than to a workspace. */
export function PersonMenu({ user }: { user: Session['user'] }): ReactElement {
  const theme = useTheme();
  return (
    <Menu
      placement="top start"
      items={[
        { id: 'account', label: 'Account and password', icon: 'settings', href: '/account' },
        {
          id: 'theme',
          heading: 'Appearance',
          items: themes.map(({ id, label }) => ({
            id,
            label,
            isCurrent: id === theme,
            onAction: () => setTheme(id),
          })),
        },
        { id: 'before-sign-out', separator: true },
        { id: 'sign-out', label: 'Sign out', icon: 'sign-out', onAction: () => void signOut() },
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
