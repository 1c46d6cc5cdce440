import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { Button } from '../design/button.tsx';
import { useSession } from '../shell/session.ts';
import { EntryCard } from './entry-card.tsx';
import { SecondFactors } from './second-factor/second-factor-card.tsx';
import { hasFactor, secondFactorsQuery } from './second-factor/second-factors.ts';
import { SignOutButton } from './sign-out-button.tsx';
import { useGoOn } from './use-go-on.ts';

/** Where a workspace asks for a second factor whoever has none sets one up here, before anything of it is open. */
export function SecondFactorScreen(): ReactElement {
  const { workspaces, closed_workspaces } = useSession();
  const { data } = useQuery(secondFactorsQuery);
  const goOn = useGoOn();
  const closed = workspaces.filter(({ id }) => closed_workspaces.includes(id)).map(({ name }) => name);
  const open = workspaces.find(({ id }) => !closed_workspaces.includes(id));
  return (
    <EntryCard title="A second step is asked for">
      <p className="soft">
        {closed.length > 0 ? new Intl.ListFormat('en').format(closed) : 'Your workspace'} asks everybody to
        sign in in two steps. Set up an app on your phone or a passkey to go on.
      </p>
      <SecondFactors />
      <Button
        variant="primary"
        isDisabled={data === undefined || !hasFactor(data)}
        onPress={() => void goOn()}
      >
        Go on
      </Button>
      {open && (
        <Link to="/w/$workspace/forms" params={{ workspace: open.id }}>
          Go to {open.name} instead
        </Link>
      )}
      <SignOutButton />
    </EntryCard>
  );
}
