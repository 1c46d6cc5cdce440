import { queryOptions, useMutation, useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { callOwn } from '../api/operations.ts';
import { queryClient } from '../api/query-client.ts';
import { Button } from '../design/button.tsx';
import { Chip } from '../design/chip.tsx';
import { Message } from '../design/message.tsx';
import { Card } from '../design/page.tsx';
import { ErrorState, Loading } from '../design/states.tsx';
import { Ago } from '../design/time.tsx';
import { toastDone } from '../design/toast.tsx';
import { nameBrowser } from './browser-name.ts';
import { PasswordDialog } from './second-factor/password-dialog.tsx';

type Session = Awaited<ReturnType<typeof callOwn<'listSessions'>>>['data'][number];

const sessionsQuery = queryOptions({
  queryKey: ['own-sessions'],
  queryFn: () => callOwn('listSessions', {}),
  select: ({ data }) => data,
  // They begin and end elsewhere.
  staleTime: 0,
});

/** Where the person is signed in, and the ends of it. */
export function SessionsCard(): ReactElement {
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
