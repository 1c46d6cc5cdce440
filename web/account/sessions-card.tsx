import { queryOptions, useMutation, useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
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
  const done = async (said: string): Promise<void> => {
    await queryClient.invalidateQueries(sessionsQuery);
    toastDone(said);
  };
  const end = useMutation({
    mutationFn: (id: string) => callOwn('endSession', { params: { id } }),
    onSuccess: () => done('It is signed out.'),
  });
  const endOthers = useMutation({
    mutationFn: () => callOwn('endOtherSessions', {}),
    onSuccess: () => done('You are signed out everywhere else.'),
  });
  const problem = end.error ?? endOthers.error;
  const others = (sessions.data ?? []).filter(({ is_this }) => !is_this);
  return (
    <Card
      title="Where you are signed in"
      lead="A session ends after a week without use, and after 30 days in any case."
      actions={
        others.length > 1 && (
          <Button isPending={endOthers.isPending} onPress={() => endOthers.mutate()}>
            Sign out everywhere else
          </Button>
        )
      }
    >
      {sessions.isPending && <Loading lines={2} />}
      {sessions.error && <ErrorState error={sessions.error} onRetry={() => void sessions.refetch()} />}
      {problem && <Message tone="bad">{problem.message}</Message>}
      {sessions.data?.map(({ id, browser, signed_in_at, is_halfway, is_this }) => (
        <div key={id} className="stack-tight">
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
              <Button isPending={end.isPending && end.variables === id} onPress={() => end.mutate(id)}>
                Sign out {nameBrowser(browser)}
              </Button>
            )}
          </div>
          {is_halfway && (
            <Message tone="warn">Waits for the second step: somebody knows your password.</Message>
          )}
        </div>
      ))}
    </Card>
  );
}
