import { queryOptions, useMutation, useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { callOwn } from '../api/operations.ts';
import { Button } from '../design/button.tsx';
import { RadioGroup } from '../design/checkbox.tsx';
import { Card, Page } from '../design/page.tsx';
import { toastDone, toastProblem } from '../design/toast.tsx';
import { refreshSession, useSession } from '../shell/session.ts';
import { setTheme, themes, useTheme } from '../shell/theme.ts';
import { ActivityCard } from './activity-card.tsx';
import { PasswordForm } from './password-form.tsx';
import { SecondFactorCard } from './second-factor/second-factor-card.tsx';
import { secondFactorsQuery } from './second-factor/second-factors.ts';
import { ApiProblem, unlocatedProblem } from '../api/client.ts';
import { CardForm } from '../design/card-form.tsx';
import { TextField } from '../design/field.tsx';
import { Message } from '../design/message.tsx';
import { Ago, sayMoment } from '../design/time.tsx';
import { useRouter } from '@tanstack/react-router';
import { queryClient } from '../api/query-client.ts';
import { PasswordDialog } from './second-factor/password-dialog.tsx';
import { Chip } from '../design/chip.tsx';
import { ErrorState, Loading } from '../design/states.tsx';
import { nameBrowser } from './browser-name.ts';

type Session = Awaited<ReturnType<typeof callOwn<'listSessions'>>>['data'][number];

const sessionsQuery = queryOptions({
  queryKey: ['own-sessions'],
  queryFn: () => callOwn('listSessions', {}),
  select: ({ data }) => data,
  // They begin and end elsewhere.
  staleTime: 0,
});

/** Where the person is signed in, and the ends of it. */
function SessionsCard(): ReactElement {
  const sessions = useQuery(sessionsQuery);
  const [ending, setEnding] = useState<Session | 'others'>();
  const others = (sessions.data ?? []).filter(({ is_this }) => !is_this);
  return (
    <Card
      title="Where you are signed in"
      lead="A session ends after a week without use, and after 30 days in any case."
      actions={
        others.length > 1 && <Button onPress={() => setEnding('others')}>Sign out everywhere else</Button>
      }
    >
      {sessions.isPending && <Loading lines={2} />}
      {sessions.error && <ErrorState error={sessions.error} onRetry={() => void sessions.refetch()} />}
      {ending && <EndDialog ending={ending} onClose={() => setEnding(undefined)} />}
      {sessions.data?.map((session) => (
        <SessionRow key={session.id} session={session} onEnd={() => setEnding(session)} />
      ))}
    </Card>
  );
}

/** Asks for the password: a browser that was left open signs nobody out elsewhere. */
function EndDialog({ ending, onClose }: { ending: Session | 'others'; onClose: () => void }): ReactElement {
  const end = useMutation({
    mutationFn: (password: string) =>
      ending === 'others'
        ? callOwn('endOtherSessions', { body: { password } })
        : callOwn('endSession', { params: { id: ending.id }, body: { password } }),
    async onSuccess() {
      await queryClient.invalidateQueries(sessionsQuery);
      onClose();
      toastDone(ending === 'others' ? 'You are signed out everywhere else.' : 'It is signed out.');
    },
  });
  const where = ending === 'others' ? 'everywhere else' : nameBrowser(ending.browser);
  return (
    <PasswordDialog
      title={`Sign out ${where}?`}
      description="Nothing of your account is open there any more."
      submitLabel="Sign out"
      asked={end}
      onClose={onClose}
    />
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
  const [isAsking, setAsking] = useState(false);
  const router = useRouter();
  const remove = useMutation({
    mutationFn: (password: string) => callOwn('deleteAccount', { body: { password } }),
    async onSuccess() {
      queryClient.clear();
      await router.navigate({ to: '/sign-in' });
      toastDone('Your account is gone in 7 days. Sign in until then to come back.');
    },
  });
  const close = (): void => {
    setAsking(false);
    remove.reset();
  };
  return (
    <Card
      title="Delete your account"
      lead="You are signed out everywhere, and in 7 days the account is gone. Forms and submissions belong to their workspaces and stay; the API keys that you made end with it."
    >
      <div className="row">
        <Button variant="danger" onPress={() => setAsking(true)}>
          Delete account
        </Button>
      </div>
      {isAsking && (
        <PasswordDialog
          title="Delete your account?"
          description="Signing in within 7 days brings it back. A workspace that you alone own has to be handed over or deleted first."
          submitLabel="Delete my account"
          isDanger
          asked={remove}
          onClose={close}
        />
      )}
    </Card>
  );
}

/** Workspaces of the person that are being deleted, with the way back for their owners; nothing where there are none. */
function EndingWorkspacesCard(): ReactElement | null {
  const { ending_workspaces: ending } = useSession();
  const bringBack = useMutation({
    mutationFn: (id: string) => callOwn('bringBackWorkspace', { params: { id } }),
    async onSuccess() {
      await refreshSession();
      toastDone('The workspace is open again.');
    },
  });
  if (ending.length === 0) return null;
  return (
    <Card title="Being deleted" lead="Closed for everybody, and gone for good when their time comes.">
      {bringBack.error && <Message tone="bad">{bringBack.error.message}</Message>}
      {ending.map(({ id, name, role, ends_at }) => (
        <div key={id} className="spread">
          <div>
            <strong>{name}</strong>
            <div className="soft small">Gone on {sayMoment(ends_at)}</div>
          </div>
          {role === 'owner' ? (
            <Button
              isPending={bringBack.isPending && bringBack.variables === id}
              onPress={() => bringBack.mutate(id)}
            >
              Bring back {name}
            </Button>
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
  const [text, setText] = useState(name);
  const save = useMutation({
    mutationFn: () => callOwn('renamePerson', { body: { name: text } }),
    async onSuccess() {
      await refreshSession();
      toastDone('Your name was changed.');
    },
  });
  const problem = save.error instanceof ApiProblem ? save.error.of('name') : undefined;
  return (
    <CardForm
      label="Save name"
      isPending={save.isPending}
      error={unlocatedProblem(save.error)}
      onSubmit={() => save.mutate()}
    >
      <TextField
        label="Name"
        autoComplete="name"
        value={text}
        onChange={setText}
        error={problem}
        description="Other members see it."
      />
    </CardForm>
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
