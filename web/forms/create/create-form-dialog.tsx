import './create-form-dialog.css';
import { useNavigate } from '@tanstack/react-router';
import { lazy, type ReactElement, Suspense, useEffect, useRef, useState } from 'react';
import type { ReplyOf } from '#app/operations/operations.ts';
import { refetchChangedQueries } from '../../api/changes.ts';
import { ApiProblem } from '../../api/client.ts';
import { callOperation } from '../../api/operations.ts';
import { useAction } from '../../design/action.tsx';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Message } from '../../design/message.tsx';
import { Loading } from '../../design/states.tsx';
import { Tabs } from '../../design/tabs.tsx';
import { type NewForm, useOpenForm } from './new-form-settings.ts';

type Unpacked = ReplyOf<'unpackForm'>;

/** Lists the parts of a file that were not imported, until the form is opened. */
function LeftOut({ imported }: { imported: Unpacked }): ReactElement {
  const open = useOpenForm();
  // Refreshes the list only after this was read, because in an empty workspace the list replaces it.
  useEffect(() => () => void refetchChangedQueries('createForm'), []);
  return (
    <div className="file-drop">
      <Message
        tone="warn"
        title={`“${imported.name}” was imported as a draft, but some parts of the file were not`}
      >
        <ul role="list">
          {imported.left_out.map(({ what, why }, index) => (
            <li key={index}>
              <code>{what}</code>: {why}
            </li>
          ))}
        </ul>
      </Message>
      <div>
        <Button variant="primary" autoFocus onPress={() => void open(imported)}>
          Open the form
        </Button>
      </div>
    </div>
  );
}

/** Loaded with the templates when needed, because most visits create no form. */
const TemplateGallery = lazy(async () => ({
  default: (await import('./template-gallery.tsx')).TemplateGallery,
}));

/** Loaded when needed too, with the page renderer that draws the preview. */
const ImportPanel = lazy(async () => ({ default: (await import('./import-panel.tsx')).ImportPanel }));

type Way = 'templates' | 'import';

/** Creates a form: blank, from a template, or from anything that is pasted or a file. Opens it in the builder. */
export function CreateForm({
  workspaceId,
  onLeftOut,
}: {
  workspaceId: string;
  /**
   * Called if a file was only partly imported. The list of missing parts is then shown until the form is
   * opened.
   */
  onLeftOut?: () => void;
}): ReactElement {
  const [imported, setImported] = useState<Unpacked>();
  const [way, setWay] = useState<Way>('templates');
  // Kept while another tab is open.
  const [pasted, setPasted] = useState('');
  const navigate = useNavigate();
  const making = useRef<AbortController>(undefined);
  // Cancels creation if the user leaves, so that they are not taken to the builder later.
  useEffect(() => () => making.current?.abort(), []);
  const create = useAction({
    async run(form: NewForm | (() => Promise<NewForm>)) {
      const { signal } = (making.current = new AbortController());
      const body = typeof form === 'function' ? await form() : form;
      signal.throwIfAborted();
      return { signal, ...(await callOperation(workspaceId, 'createForm', { body })) };
    },
    // Runs before the list refreshes, because in an empty workspace the list replaces this component.
    onLeave: ({ id, signal }) =>
      signal.aborted ? undefined : navigate({ to: '/forms/$form', params: { form: id } }),
  });
  if (imported) return <LeftOut imported={imported} />;
  return (
    <>
      {create.error && <Message tone="bad">{describe(create.error)}</Message>}
      <Tabs
        label="Ways to create a form"
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
            id: 'import',
            label: 'Import',
            content: (
              <Suspense fallback={<Loading lines={5} />}>
                <ImportPanel
                  workspaceId={workspaceId}
                  text={pasted}
                  onChange={setPasted}
                  onCreate={create.mutate}
                  isPending={create.isPending}
                  onLeftOut={(form) => {
                    setImported(form);
                    onLeftOut?.();
                  }}
                />
              </Suspense>
            ),
          },
        ]}
      />
    </>
  );
}

/** The dialog for creating a form, shown over the list of forms. */
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
