import './create-form-dialog.css';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { lazy, type ReactElement, Suspense, useEffect, useRef, useState } from 'react';
import { ApiProblem } from '../../api/client.ts';
import { call } from '../../api/operations.ts';
import { queryClient } from '../../api/query-client.ts';
import { Dialog } from '../../design/dialog.tsx';
import { Message } from '../../design/message.tsx';
import { Loading } from '../../design/states.tsx';
import { Tabs } from '../../design/tabs.tsx';
import type { NewForm } from './new-form-settings.ts';
import { LeftOut, PackagePanel, type Unpacked } from './package-panel.tsx';
import { PastedFormPanel } from './pasted-form-panel.tsx';

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
  const create = useMutation({
    async mutationFn(form: NewForm | (() => Promise<NewForm>)) {
      const { signal } = (making.current = new AbortController());
      const body = typeof form === 'function' ? await form() : form;
      signal.throwIfAborted();
      return { signal, ...(await call(workspaceId, 'createForm', { body })) };
    },
    async onSuccess({ id, signal }) {
      // First: where there was none before, the list with the new form takes the place of this.
      if (!signal.aborted) await navigate({ to: '/forms/$form', params: { form: id } });
      await queryClient.invalidateQueries({ queryKey: ['forms'] });
    },
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
