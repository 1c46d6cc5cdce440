import './package-cards.css';
import { useMutation, useQuery } from '@tanstack/react-query';
import { type ReactElement, useEffect, useState } from 'react';
import { FileTrigger } from 'react-aria-components/FileTrigger';
import { call, download } from '../../api/operations.ts';
import { queryClient } from '../../api/query-client.ts';
import { Button } from '../../design/button.tsx';
import { Message } from '../../design/message.tsx';
import { Card } from '../../design/page.tsx';
import { toastProblem } from '../../design/toast.tsx';
import { sendPackage, type WorkspaceImport } from './send-package.ts';
import { sayCount } from '../../design/say-count.ts';

const importsKey = (workspaceId: string) => ['workspace imports', workspaceId];

/** A workspace out as one file, and such a file in, for whoever administers it. */
export function PackageCards({ workspaceId }: { workspaceId: string }): ReactElement {
  const save = useMutation({
    mutationFn: () => download(workspaceId, 'packWorkspace', {}),
    onError: toastProblem,
  });
  return (
    <>
      <Card
        title="Everything in one file"
        lead="All forms with their versions, submissions, files, notes, views, invitations and webhooks, to keep or to bring into another workspace. Members, keys and secrets are not in it."
      >
        <div>
          <Button icon="download" isPending={save.isPending} onPress={() => save.mutate()}>
            Download everything
          </Button>
        </div>
      </Card>
      <Card
        title="Bring a workspace"
        lead="A file that “Everything in one file” made, here or on another server. It comes beside what is here, all of it or nothing, and nobody is told of it."
      >
        <BringWorkspace workspaceId={workspaceId} />
      </Card>
    </>
  );
}

function BringWorkspace({ workspaceId }: { workspaceId: string }): ReactElement {
  const queryKey = importsKey(workspaceId);
  const [last] =
    useQuery({
      queryKey,
      queryFn: async () => (await call(workspaceId, 'listWorkspaceImports', {})).data,
      refetchInterval: ({ state }) => (state.data?.[0]?.state === 'running' ? 1_000 : false),
    }).data ?? [];
  const [sent, setSent] = useState(0);
  const send = useMutation({
    mutationFn: (file: File) => {
      setSent(0);
      return sendPackage(workspaceId, file, setSent);
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey }),
  });
  const isDone = last?.state === 'done';
  useEffect(() => {
    if (isDone) void queryClient.invalidateQueries({ queryKey: ['forms'] });
  }, [isDone]);
  const isBusy = send.isPending || last?.state === 'running';
  return (
    <>
      {send.error && <Message tone="bad">{send.error.message}</Message>}
      {send.isPending ? (
        <Message>
          <label className="package-progress">
            <span>Sending: {Math.floor(sent * 100)} %. Stay on this page until all of it is sent.</span>
            <progress max={1} value={sent} />
          </label>
        </Message>
      ) : (
        last && <Progress last={last} />
      )}
      <div>
        <FileTrigger
          acceptedFileTypes={['application/gzip', '.gz']}
          onSelect={(files) => files?.[0] && send.mutate(files[0])}
        >
          <Button icon="file" isDisabled={isBusy}>
            Choose a file
          </Button>
        </FileTrigger>
      </div>
    </>
  );
}

const sayMade = ({ forms, submissions, files }: WorkspaceImport['made']): string =>
  [sayCount(forms, 'form'), sayCount(submissions, 'submission'), sayCount(files, 'file')].join(', ');

/** How the last import went, or how far it is. */
function Progress({ last }: { last: WorkspaceImport }): ReactElement | null {
  if (last.state === 'receiving') return null;
  if (last.state === 'running')
    return <Message>Taking it in: {sayMade(last.made)} so far. You can leave this page.</Message>;
  if (last.state === 'failed')
    return (
      <Message tone="bad" title="The last file was not brought, and nothing of it stays">
        {last.problem}
      </Message>
    );
  return (
    <Message
      tone={last.left_out.length > 0 ? 'warn' : 'good'}
      title={`The last file brought ${sayMade(last.made)}`}
    >
      {last.left_out.length > 0 && (
        <ul className="package-left-out" tabIndex={0} aria-label="What was not taken over">
          {last.left_out.map(({ what, why }, index) => (
            <li key={index}>
              {what}: {why}
            </li>
          ))}
        </ul>
      )}
    </Message>
  );
}
