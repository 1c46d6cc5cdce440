import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactElement, useEffect } from 'react';
import { FileTrigger } from 'react-aria-components/FileTrigger';
import type { ReplyOf } from '#app/operations.ts';
import { call } from '../../api/operations.ts';
import { queryClient } from '../../api/query-client.ts';
import { Button } from '../../design/button.tsx';
import { Message } from '../../design/message.tsx';
import { FileDrop } from './file-drop.tsx';

export type Unpacked = ReplyOf<'unpackForm'>;

/** Makes a form of a file that “Export as a file” made, here or elsewhere. What of it was not taken over is for `onLeftOut` to say. */
export function PackagePanel({
  workspaceId,
  onLeftOut,
}: {
  workspaceId: string;
  onLeftOut: (made: Unpacked) => void;
}): ReactElement {
  const open = useOpen();
  const unpack = useMutation({
    // Browsers have several names for what it is.
    mutationFn: (file: File) =>
      call(workspaceId, 'unpackForm', { body: new Blob([file], { type: 'application/gzip' }) }),
    onSuccess: (form) => (form.left_out.length === 0 ? open(form) : onLeftOut(form)),
  });
  return (
    <FileDrop onFile={unpack.mutate}>
      {unpack.error && <Message tone="bad">{unpack.error.message}</Message>}
      <p>
        A form with its versions, images and webhooks, as “Export as a file” made it here or at another
        service. It becomes a draft. Drop the file here, or choose it.
      </p>
      <div>
        <FileTrigger
          acceptedFileTypes={['application/gzip', '.gz']}
          onSelect={(files) => files?.[0] && unpack.mutate(files[0])}
        >
          <Button icon="file" isPending={unpack.isPending}>
            Choose a file
          </Button>
        </FileTrigger>
      </div>
    </FileDrop>
  );
}

/** What of a file was not taken over: it stays until the form is opened. */
export function LeftOut({ made }: { made: Unpacked }): ReactElement {
  const open = useOpen();
  // When this was read: where there was no form before, the list takes its place.
  useEffect(() => () => void queryClient.invalidateQueries({ queryKey: ['forms'] }), []);
  return (
    <div className="file-drop">
      <Message
        tone="warn"
        title={`“${made.name}” is here as a draft, without some of what the file speaks of`}
      >
        <ul role="list">
          {made.left_out.map(({ what, why }, index) => (
            <li key={index}>
              <code>{what}</code>: {why}
            </li>
          ))}
        </ul>
      </Message>
      <div>
        <Button variant="primary" autoFocus onPress={() => void open(made)}>
          Open the form
        </Button>
      </div>
    </div>
  );
}

function useOpen(): (made: Unpacked) => Promise<void> {
  const navigate = useNavigate();
  return ({ id }) => navigate({ to: '/forms/$form', params: { form: id } });
}
