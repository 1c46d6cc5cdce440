import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import type { ReplyOf } from '#app/operations/operations.ts';
import { callSessionOperation, sessionOperationQuery } from '../api/operations.ts';
import { queryClient } from '../api/query-client.ts';
import { useAction } from '../design/action.tsx';
import { Button } from '../design/button.tsx';
import { RadioGroup, Switch } from '../design/checkbox.tsx';
import { Chip } from '../design/chip.tsx';
import { FieldsForm } from '../design/form-dialog.tsx';
import { Message } from '../design/message.tsx';
import { Card, SettingsPage } from '../design/page.tsx';
import { Pager } from '../design/pager.tsx';
import { QueryState } from '../design/states.tsx';
import { Ago, formatDateTime } from '../design/time.tsx';
import { useSession } from '../shell/session.ts';
import { consoleThemes, setConsoleTheme, useConsoleTheme } from '../shell/theme.ts';
import { describeBrowser } from './browser-name.ts';
import { secondFactorsQuery, usePasswordAction } from './password-dialog.tsx';
import { PasswordForm } from './password-screens.tsx';
import { SecondFactorCard } from './second-factor-card.tsx';

type Session = ReplyOf<'listSessions'>['data'][number];

const sessionsQuery = queryOptions({
  ...sessionOperationQuery('listSessions', {}),
  select: ({ data }) => data,
  // Never cached: sessions also begin and end in other browsers.
  staleTime: 0,
});

/**
 * Lists the browsers where the person is signed in and lets them sign these out. Asks for the password, so an
 * unattended browser cannot end other sessions.
 */
function SessionsCard(): ReactElement {
  const sessions = useQuery(sessionsQuery);
  const end = usePasswordAction({
    ask: (ending: Session | 'others') => ({
      title: `Sign out ${ending === 'others' ? 'everywhere else' : describeBrowser(ending.browser)}?`,
      description: 'You will need to sign in there again.',
      label: 'Sign out',
    }),
    run: (password, ending) =>
      ending === 'others'
        ? callSessionOperation('endOtherSessions', { body: { password } })
        : callSessionOperation('endSession', { params: { id: ending.id }, body: { password } }),
    done: (_, ending) =>
      ending === 'others' ? 'You were signed out everywhere else.' : 'The browser was signed out.',
  });
  const others = (sessions.data ?? []).filter(({ is_this }) => !is_this);
  return (
    <Card
      title="Where you are signed in"
      lead="A session ends after a week without use, and after 30 days at the latest."
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
          <strong>{describeBrowser(browser)}</strong>
          <div className="soft small">
            Signed in <Ago at={signed_in_at} />
          </div>
        </div>
        {is_this ? (
          <Chip tone="good">This browser</Chip>
        ) : (
          <Button onPress={onEnd} aria-label={`Sign out ${describeBrowser(browser)}`}>
            Sign out
          </Button>
        )}
      </div>
      {is_halfway && (
        <Message tone="warn">
          Waiting for two-factor. If this isn’t you, change your password: someone knows it.
        </Message>
      )}
    </div>
  );
}

/** Lets the person delete their account. It can be restored for seven days. */
function DeleteAccountCard(): ReactElement {
  const router = useRouter();
  const remove = usePasswordAction({
    ask: () => ({
      title: 'Delete your account?',
      description:
        'You can restore it by signing in within 7 days. First transfer or delete any workspace that only you own.',
      label: 'Delete my account',
      isDanger: true,
    }),
    run: (password) => callSessionOperation('deleteAccount', { body: { password } }),
    onLeave() {
      queryClient.clear();
      return router.navigate({ to: '/sign-in' });
    },
    done: () => 'Your account will be deleted in 7 days. Sign in before then to restore it.',
  });
  return (
    <Card
      title="Delete your account"
      lead="You will be signed out everywhere, and your account will be deleted in 7 days. Forms and submissions stay in their workspaces. Your API keys will stop working."
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

/**
 * Lists the person's workspaces that are being deleted; owners can restore them. Renders nothing if there are
 * none.
 */
function WorkspaceDeletionsCard(): ReactElement | null {
  const { ending_workspaces: ending } = useSession();
  const restore = useAction({
    run: (id: string) => callSessionOperation('bringBackWorkspace', { params: { id } }),
    done: 'The workspace was restored.',
  });
  if (ending.length === 0) return null;
  return (
    <Card
      title="Workspaces being deleted"
      lead="Members cannot open them. They will be permanently deleted on the date shown."
    >
      {restore.error && <Message tone="bad">{restore.error.message}</Message>}
      {ending.map(({ id, name, role, ends_at }) => (
        <div key={id} className="spread">
          <div>
            <strong>{name}</strong>
            <div className="soft small">Deleted on {formatDateTime(ends_at)}</div>
          </div>
          {role === 'owner' ? (
            <Button {...restore.press(id)}>Restore {name}</Button>
          ) : (
            <span className="soft small">An owner can restore it.</span>
          )}
        </div>
      ))}
    </Card>
  );
}

/** Changes the name of the person that other members see. */
function NameForm({ name }: { name: string }): ReactElement {
  const rename = useAction({
    run: (body: { name: string }) => callSessionOperation('renamePerson', { body }),
  });
  return (
    <FieldsForm
      label="Save name"
      action={rename}
      begin={{ name }}
      fields={{ name: { label: 'Name', autoComplete: 'name', description: 'Shown to other members.' } }}
    />
  );
}

const notificationsQuery = queryOptions(sessionOperationQuery('getNotifications', {}));

/** The emails that the person wants. */
function NotificationsCard(): ReactElement {
  const notifications = useQuery(notificationsQuery);
  const change = useAction({
    run: (assignment_emails: boolean) =>
      callSessionOperation('changeNotifications', { body: { assignment_emails } }),
    problem: 'toast',
  });
  return (
    <Card title="Emails" lead="Sent to your address, for all your workspaces.">
      <QueryState query={notifications} lines={1} showsError>
        {({ assignment_emails }) => (
          <Switch
            isSelected={change.isPending ? change.variables : assignment_emails}
            onChange={(isOn) => change.start(isOn)}
          >
            Submissions that others assign to me
          </Switch>
        )}
      </QueryState>
    </Card>
  );
}

/** Settings of the person rather than of a workspace. */
export function AccountScreen(): ReactElement {
  const { user } = useSession();
  const { data: factors } = useQuery(secondFactorsQuery);
  const theme = useConsoleTheme();
  return (
    <SettingsPage title="Your account" lead="Your name, sign-in methods and sessions, in every workspace.">
      <WorkspaceDeletionsCard />
      <Card title="Profile" lead={`You sign in as ${user.email}.`}>
        <NameForm name={user.name} />
      </Card>
      {factors?.has_password === false ? (
        <FirstPasswordCard email={user.email} />
      ) : (
        <Card title="Password" lead="Changing your password signs you out everywhere else.">
          <PasswordForm />
        </Card>
      )}
      <SecondFactorCard />
      <SessionsCard />
      <ActivityCard />
      <NotificationsCard />
      <Card title="Appearance">
        <RadioGroup
          label="Theme in this browser"
          choices={consoleThemes}
          value={theme}
          onChange={setConsoleTheme}
        />
      </Card>
      <DeleteAccountCard />
    </SettingsPage>
  );
}

/**
 * Sets a first password for a person who signs in only through a provider. It sends the same email as a
 * password reset.
 */
function FirstPasswordCard({ email }: { email: string }): ReactElement {
  const request = useAction({
    run: () => callSessionOperation('askForPasswordReset', { body: { email } }),
    done: `We sent an email to ${email}.`,
    problem: 'toast',
  });
  return (
    <Card
      title="Password"
      lead="Your account has no password. You can set one and keep your current sign-in methods."
    >
      <div className="row">
        <Button {...request.press()}>Email me a link to set a password</Button>
      </div>
    </Card>
  );
}

type Line = ReplyOf<'listActivity'>['data'][number];

const perPage = 10;

const activityQuery = (page: number) =>
  queryOptions({
    ...sessionOperationQuery('listActivity', { query: { page, per_page: perPage } }),
    placeholderData: keepPreviousData,
    staleTime: 0,
  });

const words = {
  signIn: 'Signed in with a password',
  signInByPasskey: 'Signed in with a passkey',
  signInByProvider: 'Signed in through a provider',
  takeSecondStep: 'Two-factor passed',
  signOut: 'Signed out',
  endSession: 'Another session signed out',
  endOtherSessions: 'All other sessions signed out',
  changePassword: 'Password changed',
  finishPasswordReset: 'Password reset by email link',
  renamePerson: 'Name changed',
  renamePasskey: 'Passkey renamed',
  createUser: 'Account created',
  replacePassword: 'Temporary password set',
  addAuthenticatorApp: 'Authenticator app added',
  removeAuthenticatorApp: 'Authenticator app removed',
  addPasskey: 'Passkey added',
  removePasskey: 'Passkey removed',
  renewRecoveryCodes: 'New recovery codes created',
  useRecoveryCode: 'Recovery code used',
  forgetSecondFactors: 'Two-factor and passkeys removed',
  deleteAccount: 'Account deletion started',
  bringBackAccount: 'Account restored',
} as const satisfies Record<Line['operation'], string>;

const refusedWords: Partial<Record<Line['operation'], string>> = {
  signIn: 'Sign-in failed: wrong password',
  takeSecondStep: 'Sign-in failed: correct password, wrong two-factor code',
};

/** Lists recent activity of the account: when, from where, and whether it was refused. */
function ActivityCard(): ReactElement {
  const [page, setPage] = useState(1);
  const activity = useQuery(activityQuery(page));
  return (
    <Card
      title="Recent activity"
      lead="Activity of your account in the last year. If you do not recognize something, change your password and sign out everywhere else."
    >
      <QueryState
        query={activity}
        empty={<p className="soft">No activity yet. Your next sign-in will appear here.</p>}
      >
        {({ data, pagination }) => (
          <>
            {data.map((line) => (
              <div key={line.id} className="spread">
                <div>
                  <strong>{describeActivity(line)}</strong>
                  <div className="soft small">
                    <Ago at={line.at} /> · {describeOrigin(line)}
                  </div>
                </div>
                {line.status >= 400 && <Chip tone="bad">Failed</Chip>}
                {line.is_this && <Chip tone="good">This session</Chip>}
              </div>
            ))}
            {pagination.total_count > perPage && (
              <Pager label="Pages of activity" page={page} pagination={pagination} onChange={setPage} />
            )}
          </>
        )}
      </QueryState>
    </Card>
  );
}

const describeActivity = ({ operation, status }: Line): string =>
  (status >= 400 ? refusedWords[operation] : undefined) ?? words[operation];

function describeOrigin({ by_operator, browser, address }: Line): string {
  if (by_operator) return 'the operator, from the command line';
  return address === null ? describeBrowser(browser) : `${describeBrowser(browser)}, ${address}`;
}
