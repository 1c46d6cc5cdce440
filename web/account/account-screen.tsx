import { useMutation, useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { callOwn } from '../api/operations.ts';
import { Button } from '../design/button.tsx';
import { RadioGroup } from '../design/checkbox.tsx';
import { Card, Page } from '../design/page.tsx';
import { toastDone, toastProblem } from '../design/toast.tsx';
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
      {factors?.has_password === false ? (
        <FirstPasswordCard email={user.email} />
      ) : (
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

/** Of who signs in by a provider alone: the first password is chosen through a mail, as a forgotten one is. */
function FirstPasswordCard({ email }: { email: string }): ReactElement {
  const ask = useMutation({
    mutationFn: () => callOwn('askForPasswordReset', { body: { email } }),
    onSuccess: () => toastDone(`A mail to ${email} is on its way.`),
    onError: toastProblem,
  });
  return (
    <Card title="Password" lead="You have none here. One that you choose works beside how you sign in now.">
      <div className="row">
        <Button isPending={ask.isPending} onPress={() => ask.mutate()}>
          Mail me a link to choose one
        </Button>
      </div>
    </Card>
  );
}
