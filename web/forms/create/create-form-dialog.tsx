import './create-form-dialog.css';
import { useNavigate } from '@tanstack/react-router';
import { lazy, type ReactElement, Suspense, useEffect, useRef, useState } from 'react';
import { FileTrigger } from 'react-aria-components/FileTrigger';
import type { ReplyOf } from '#app/operations/operations.ts';
import { refreshChanged } from '../../api/changes.ts';
import { ApiProblem } from '../../api/client.ts';
import { call } from '../../api/operations.ts';
import { useAction } from '../../design/action.tsx';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Message } from '../../design/message.tsx';
import { Loading } from '../../design/states.tsx';
import { Tabs } from '../../design/tabs.tsx';
import type { NewForm } from './new-form-settings.ts';
import { FileDrop, PastedFormPanel } from './pasted-form-panel.tsx';

type Unpacked = ReplyOf<'unpackForm'>;

/** Makes a form of a file that “Export as a file” made, here or elsewhere. What of it was not taken over is for `onLeftOut` to say. */
function PackagePanel({
  workspaceId,
  onLeftOut,
}: {
  workspaceId: string;
  onLeftOut: (made: Unpacked) => void;
}): ReactElement {
  const open = useOpen();
  const unpack = useAction({
    // Browsers have several names for what it is.
    run: (file: File) =>
      call(workspaceId, 'unpackForm', { body: new Blob([file], { type: 'application/gzip' }) }),
    onDone: (form) => (form.left_out.length === 0 ? open(form) : onLeftOut(form)),
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
function LeftOut({ made }: { made: Unpacked }): ReactElement {
  const open = useOpen();
  // When this was read: where there was no form before, the list takes its place.
  useEffect(() => () => void refreshChanged('createForm'), []);
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

/** With the templates: nobody waits for them who makes no form. */
const TemplateGallery = lazy(async () => ({
  default: (await import('./template-gallery.tsx')).TemplateGallery,
}));

type Way = 'templates' | 'json' | 'file';

/** Makes a form, empty, from a template, from JSON or from a file, and opens it in the builder. */
export function CreateForm({
  workspaceId,
  onLeftOut,
}: {
  workspaceId: string;
  /** From now on it says what a file had and the form has not, until the form is opened. */
  onLeftOut?: () => void;
}): ReactElement {
  const [made, setMade] = useState<Unpacked>();
  const [way, setWay] = useState<Way>('templates');
  // Outlives a look at the templates.
  const [pasted, setPasted] = useState('');
  const navigate = useNavigate();
  const making = useRef<AbortController>(undefined);
  // Who goes on with something else meanwhile is not called away from it.
  useEffect(() => () => making.current?.abort(), []);
  const create = useAction({
    async run(form: NewForm | (() => Promise<NewForm>)) {
      const { signal } = (making.current = new AbortController());
      const body = typeof form === 'function' ? await form() : form;
      signal.throwIfAborted();
      return { signal, ...(await call(workspaceId, 'createForm', { body })) };
    },
    // Before the list is fetched again: in a workspace without forms, the list takes the place of this.
    onLeave: ({ id, signal }) =>
      signal.aborted ? undefined : navigate({ to: '/forms/$form', params: { form: id } }),
  });
  if (made) return <LeftOut made={made} />;
  return (
    <>
      {create.error && <Message tone="bad">{describe(create.error)}</Message>}
      <Tabs
        label="How to begin"
        value={way}
        onChange={setWay}
        tabs={[
          {
            id: 'templates',
            label: 'Templates',
            content: (
              <Suspense fallback={<Loading lines={5} />}>
                <TemplateGallery
                  workspaceId={workspaceId}
                  onCreate={create.mutate}
                  isPending={create.isPending}
                />
              </Suspense>
            ),
          },
          {
            id: 'json',
            label: 'From JSON',
            content: (
              <PastedFormPanel
                workspaceId={workspaceId}
                text={pasted}
                onChange={setPasted}
                onCreate={create.mutate}
                isPending={create.isPending}
              />
            ),
          },
          {
            id: 'file',
            label: 'File',
            content: (
              <PackagePanel
                workspaceId={workspaceId}
                onLeftOut={(form) => {
                  setMade(form);
                  onLeftOut?.();
                }}
              />
            ),
          },
        ]}
      />
    </>
  );
}

/** The same over a list of forms. */
export function CreateFormDialog({
  workspaceId,
  isOpen,
  onClose,
}: {
  workspaceId: string;
  isOpen: boolean;
  onClose: () => void;
}): ReactElement {
  const [isTelling, setTelling] = useState(false);
  return (
    <Dialog title="Create form" size="large" isOpen={isOpen} onClose={onClose} isDismissable={!isTelling}>
      <CreateForm workspaceId={workspaceId} onLeftOut={() => setTelling(true)} />
    </Dialog>
  );
}

const describe = (error: Error): string =>
  error instanceof ApiProblem && error.errors.length > 0
    ? error.errors.map(({ message }) => message).join(' ')
    : error.message;
