import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import type { ReplyOf } from '#app/operations/operations.ts';
import { callOwn, readSessionQuery } from '../api/operations.ts';
import { queryClient } from '../api/query-client.ts';
import { useAction } from '../design/action.tsx';
import { Button } from '../design/button.tsx';
import { RadioGroup } from '../design/checkbox.tsx';
import { Chip } from '../design/chip.tsx';
import { FieldsForm } from '../design/fields.tsx';
import { Message } from '../design/message.tsx';
import { Card, Page } from '../design/page.tsx';
import { Pager } from '../design/pager.tsx';
import { QueryState } from '../design/states.tsx';
import { Ago, sayMoment } from '../design/time.tsx';
import { useSession } from '../shell/session.ts';
import { setTheme, themes, useTheme } from '../shell/theme.ts';
import { nameBrowser } from './browser-name.ts';
import { secondFactorsQuery, usePasswordAction } from './password-dialog.tsx';
import { PasswordForm } from './password-screens.tsx';
import { SecondFactorCard } from './second-factor-card.tsx';

type Session = ReplyOf<'listSessions'>['data'][number];

const sessionsQuery = queryOptions({
  ...readSessionQuery('listSessions', {}),
  select: ({ data }) => data,
  // They begin and end elsewhere.
  staleTime: 0,
});

/** Where the person is signed in, and the ends of it. A browser that was left open signs nobody out elsewhere. */
function SessionsCard(): ReactElement {
  const sessions = useQuery(sessionsQuery);
  const end = usePasswordAction({
    ask: (ending: Session | 'others') => ({
      title: `Sign out ${ending === 'others' ? 'everywhere else' : nameBrowser(ending.browser)}?`,
      description: 'Nothing of your account is open there any more.',
      label: 'Sign out',
    }),
    run: (password, ending) =>
      ending === 'others'
        ? callOwn('endOtherSessions', { body: { password } })
        : callOwn('endSession', { params: { id: ending.id }, body: { password } }),
    done: (_, ending) => (ending === 'others' ? 'You are signed out everywhere else.' : 'It is signed out.'),
  });
  const others = (sessions.data ?? []).filter(({ is_this }) => !is_this);
  return (
    <Card
      title="Where you are signed in"
      lead="A session ends after a week without use, and after 30 days in any case."
      actions={
        others.length > 1 && <Button onPress={() => end.start('others')}>Sign out everywhere else</Button>
      }
    >
      {end.dialog}
      <QueryState query={sessions} lines={2} showsError>
        {(data) =>
          data.map((session) => (
            <SessionRow key={session.id} session={session} onEnd={() => end.start(session)} />
          ))
        }
      </QueryState>
    </Card>
  );
}

function SessionRow({
  session: { browser, signed_in_at, is_halfway, is_this },
  onEnd,
}: {
  session: Session;
  onEnd: () => void;
}): ReactElement {
  return (
    <div className="stack-tight">
      <div className="spread">
        <div>
          <strong>{nameBrowser(browser)}</strong>
          <div className="soft small">
            Signed in <Ago at={signed_in_at} />
          </div>
        </div>
        {is_this ? (
          <Chip tone="good">This browser</Chip>
        ) : (
          <Button onPress={onEnd} aria-label={`Sign out ${nameBrowser(browser)}`}>
            Sign out
          </Button>
        )}
      </div>
      {is_halfway && <Message tone="warn">Waits for the second step: somebody knows your password.</Message>}
    </div>
  );
}

/** The end of the person's account, with seven days to come back. */
function DeleteAccountCard(): ReactElement {
  const router = useRouter();
  const remove = usePasswordAction({
    ask: () => ({
      title: 'Delete your account?',
      description:
        'Signing in within 7 days brings it back. A workspace that you alone own has to be handed over or deleted first.',
      label: 'Delete my account',
      isDanger: true,
    }),
    run: (password) => callOwn('deleteAccount', { body: { password } }),
    onLeave() {
      queryClient.clear();
      return router.navigate({ to: '/sign-in' });
    },
    done: () => 'Your account is gone in 7 days. Sign in until then to come back.',
  });
  return (
    <Card
      title="Delete your account"
      lead="You are signed out everywhere, and in 7 days the account is gone. Forms and submissions belong to their workspaces and stay; the API keys that you made end with it."
    >
      <div className="row">
        <Button variant="danger" onPress={() => remove.start()}>
          Delete account
        </Button>
      </div>
      {remove.dialog}
    </Card>
  );
}

/** Workspaces of the person that are being deleted, with the way back for their owners; nothing where there are none. */
function EndingWorkspacesCard(): ReactElement | null {
  const { ending_workspaces: ending } = useSession();
  const restore = useAction({
    run: (id: string) => callOwn('bringBackWorkspace', { params: { id } }),
    done: 'The workspace is open again.',
  });
  if (ending.length === 0) return null;
  return (
    <Card title="Being deleted" lead="Closed for everybody, and gone for good when their time comes.">
      {restore.error && <Message tone="bad">{restore.error.message}</Message>}
      {ending.map(({ id, name, role, ends_at }) => (
        <div key={id} className="spread">
          <div>
            <strong>{name}</strong>
            <div className="soft small">Gone on {sayMoment(ends_at)}</div>
          </div>
          {role === 'owner' ? (
            <Button {...restore.press(id)}>Bring back {name}</Button>
          ) : (
            <span className="soft small">An owner can bring it back.</span>
          )}
        </div>
      ))}
    </Card>
  );
}

/** The person's name, as other members see it. */
function NameForm({ name }: { name: string }): ReactElement {
  const rename = useAction({
    run: (body: { name: string }) => callOwn('renamePerson', { body }),
    done: 'Your name was changed.',
  });
  return (
    <FieldsForm
      label="Save name"
      action={rename}
      begin={{ name }}
      fields={{ name: { label: 'Name', autoComplete: 'name', description: 'Other members see it.' } }}
    />
  );
}

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

/** For a person who signs in by a provider only: a first password is chosen through a mail, as a forgotten one is. */
function FirstPasswordCard({ email }: { email: string }): ReactElement {
  const ask = useAction({
    run: () => callOwn('askForPasswordReset', { body: { email } }),
    done: `A mail to ${email} is on its way.`,
    problem: 'toast',
  });
  return (
    <Card title="Password" lead="You have none here. One that you choose works beside how you sign in now.">
      <div className="row">
        <Button {...ask.press()}>Mail me a link to choose one</Button>
      </div>
    </Card>
  );
}

type Line = ReplyOf<'listActivity'>['data'][number];

const perPage = 10;

const activityQuery = (page: number) =>
  queryOptions({
    ...readSessionQuery('listActivity', { query: { page, per_page: perPage } }),
    placeholderData: keepPreviousData,
    staleTime: 0,
  });

const words = {
  signIn: 'Signed in by password',
  signInByPasskey: 'Signed in by passkey',
  signInByProvider: 'Signed in by the provider',
  takeSecondStep: 'Second step taken',
  signOut: 'Signed out',
  endSession: 'A session was signed out',
  endOtherSessions: 'Every other session was signed out',
  changePassword: 'Password changed',
  finishPasswordReset: 'Password chosen by the link of a mail',
  renamePerson: 'Name changed',
  renamePasskey: 'Passkey renamed',
  createUser: 'Account made',
  replacePassword: 'Temporary password given',
  addAuthenticatorApp: 'Authenticator app added',
  removeAuthenticatorApp: 'Authenticator app removed',
  addPasskey: 'Passkey added',
  removePasskey: 'Passkey removed',
  renewRecoveryCodes: 'New recovery codes made',
  useRecoveryCode: 'A recovery code was used',
  forgetSecondFactors: 'Second factors taken away',
  deleteAccount: 'Deletion of the account begun',
  bringBackAccount: 'Account brought back',
} as const satisfies Record<Line['operation'], string>;

const refusedWords: Partial<Record<Line['operation'], string>> = {
  signIn: 'Somebody tried to sign in with a wrong password',
  takeSecondStep: 'Somebody who knows your password tried a wrong code',
};

/** What lately concerned the person's account: when, from where, and whether it was refused. */
function ActivityCard(): ReactElement {
  const [page, setPage] = useState(1);
  const activity = useQuery(activityQuery(page));
  return (
    <Card
      title="Recent activity"
      lead="What concerned your account in the last year. If something here was not you, change your password and sign out everywhere else."
    >
      <QueryState
        query={activity}
        empty={<p className="soft">Nothing yet. Your next sign-in is the first line.</p>}
      >
        {({ data, pagination }) => (
          <>
            {data.map((line) => (
              <div key={line.id} className="spread">
                <div>
                  <strong>{sayDeed(line)}</strong>
                  <div className="soft small">
                    <Ago at={line.at} /> · {sayWhere(line)}
                  </div>
                </div>
                {line.status >= 400 && <Chip tone="bad">Refused</Chip>}
                {line.is_this && <Chip tone="good">This session</Chip>}
              </div>
            ))}
            {pagination.total_count > perPage && (
              <Pager label="Pages of your activity" page={page} pagination={pagination} onChange={setPage} />
            )}
          </>
        )}
      </QueryState>
    </Card>
  );
}

const sayDeed = ({ operation, status }: Line): string =>
  (status >= 400 ? refusedWords[operation] : undefined) ?? words[operation];

function sayWhere({ by_operator, browser, address }: Line): string {
  if (by_operator) return 'whoever runs this service, at the command line';
  return address === null ? nameBrowser(browser) : `${nameBrowser(browser)}, ${address}`;
}
