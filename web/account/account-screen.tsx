import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { RadioGroup } from '../design/checkbox.tsx';
import { Card, Page } from '../design/page.tsx';
import { useSession } from '../shell/session.ts';
import { setTheme, themes, useTheme } from '../shell/theme.ts';
import { ActivityCard } from './activity-card.tsx';
import { DeleteAccountCard } from './delete-account-card.tsx';
import { EndingWorkspacesCard } from './ending-workspaces-card.tsx';
import { NameForm } from './name-form.tsx';
import { PasswordForm } from './password-form.tsx';
import { SecondFactorCard } from './second-factor/second-factor-card.tsx';
import { secondFactorsQuery } from './second-factor/second-factors.ts';
import { SessionsCard } from './sessions-card.tsx';

/** What belongs to the person rather than to a workspace. */
export function AccountScreen(): ReactElement {
  const { user } = useSession();
  const { data: factors } = useQuery(secondFactorsQuery);
  const theme = useTheme();
  return (
    <Page title="Your account" width="narrow">
      <EndingWorkspacesCard />
      <Card title="You" lead={`You sign in as ${user.email}.`}>
        <NameForm name={user.name} />
      </Card>
      {factors?.has_password !== false && (
        <Card title="Password" lead="Changing it signs you out everywhere else.">
          <PasswordForm />
        </Card>
      )}
      <SecondFactorCard />
      <SessionsCard />
      <ActivityCard />
      <Card title="Appearance">
        <RadioGroup label="Theme of this browser" choices={themes} value={theme} onChange={setTheme} />
      </Card>
      <DeleteAccountCard />
    </Page>
  );
}
