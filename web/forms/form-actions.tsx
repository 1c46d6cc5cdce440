import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import { call, download, type Seen } from '../api/operations.ts';
import type { WorkspaceDetail } from '../settings/workspace.ts';
import { queryClient } from '../api/query-client.ts';
import { AskAgain, toastUnlessAsked } from '../design/ask-again.tsx';
import { IconButton } from '../design/button.tsx';
import { Menu, type MenuAction } from '../design/menu.tsx';
import { toastDone, toastProblem } from '../design/toast.tsx';
import { refreshForm } from '../shell/form-place.ts';
import { mayEdit } from '../shell/session.ts';
import type { FormLine } from './forms-query.ts';
import { ConfirmChange } from '../design/dialog.tsx';
import { sayCount } from '#ast/say-count.ts';

type Props = { form: FormLine; isOpen: boolean; onClose: () => void };

/** Asks for the form's name, and says how many submissions go with it. */
function DeleteFormDialog({ form, isOpen, onClose }: Props): ReactElement {
  const erase = useMutation({
    mutationFn: () => call(form.workspace_id, 'deleteForm', { params: { id: form.id } }, { seen: form }),
    async onSuccess() {
      toastDone(`${form.name} was deleted.`);
      onClose();
      await queryClient.invalidateQueries({ queryKey: ['forms'] });
    },
  });
  const count = form.submission_count;
  return (
    <ConfirmChange
      title="Delete this form for good?"
      isOpen={isOpen}
      onClose={onClose}
      confirmLabel="Delete form"
      change={erase}
      typed={form.name}
    >
      <p>
        {count === 0 ? (
          'It has no submissions. Its webhooks and their log go with it.'
        ) : (
          <>
            Its <strong>{sayCount(count, 'submission')}</strong>, their files and its webhooks are deleted
            too. This cannot be undone.
          </>
        )}
      </p>
      {form.status !== 'archived' && count > 0 && (
        <p className="soft">To keep them and only stop taking answers, archive it instead.</p>
      )}
    </ConfirmChange>
  );
}

/** What can be done to a form as a whole. */
export function FormActions({
  workspace,
  form,
}: {
  workspace: WorkspaceDetail;
  form: FormLine;
}): ReactElement {
  const [isDeleting, setDeleting] = useState(false);
  const navigate = useNavigate();
  const params = { id: form.id };
  const moveTo = async (verb: 'archive' | 'restore', seen: Seen): Promise<void> => {
    const changed = await call(workspace.id, `${verb}Form`, { params }, { seen });
    await refreshForm(form.id);
    const back = verb === 'archive' ? 'restore' : 'archive';
    toastDone(
      verb === 'archive'
        ? `${form.name} was archived. It takes no submissions.`
        : `${form.name} is a draft again.`,
      // A form that was published comes back as a draft: undoing its archiving would not publish it.
      form.status === 'published' ? undefined : { label: 'Undo', run: () => moveTo(back, changed) },
    );
  };
  const move = useMutation({
    mutationFn: ({ verb, seen = form }: { verb: 'archive' | 'restore'; seen?: Seen }) => moveTo(verb, seen),
    onError: toastUnlessAsked,
  });
  const duplicate = useMutation({
    mutationFn: () => call(workspace.id, 'duplicateForm', { params }),
    async onSuccess({ id }) {
      await queryClient.invalidateQueries({ queryKey: ['forms'] });
      toastDone(`${form.name} was duplicated.`, {
        label: 'Open the copy',
        run: () => navigate({ to: '/forms/$form', params: { form: id } }),
      });
    },
    onError: toastProblem,
  });
  const changes: MenuAction[] = [
    { id: 'duplicate', label: 'Duplicate', icon: 'copy', onAction: () => duplicate.mutate() },
    form.status === 'archived'
      ? {
          id: 'restore',
          label: 'Restore',
          icon: 'undo',
          onAction: () => move.mutate({ verb: 'restore' }),
        }
      : {
          id: 'archive',
          label: 'Archive',
          icon: 'archive',
          onAction: () => move.mutate({ verb: 'archive' }),
        },
    { id: 'before-delete', separator: true },
    { id: 'delete', label: 'Delete …', icon: 'remove', isDanger: true, onAction: () => setDeleting(true) },
  ];
  return (
    <>
      <Menu
        items={[
          { id: 'open', label: 'Open', icon: 'edit', href: `/forms/${form.id}` },
          { id: 'submissions', label: 'Submissions', icon: 'table', href: `/forms/${form.id}/submissions` },
          ...(form.status === 'published'
            ? [
                {
                  id: 'visit',
                  label: 'Visit public page',
                  icon: 'external',
                  onAction: () => window.open(`/f/${form.id}`, '_blank', 'noopener'),
                } as const,
              ]
            : []),
          {
            id: 'export',
            label: 'Export as JSON',
            icon: 'download',
            onAction: () => void download(workspace.id, 'exportForm', { params }).catch(toastProblem),
          },
          {
            id: 'pack',
            label: 'Export as a file',
            icon: 'file',
            onAction: () => void download(workspace.id, 'packForm', { params }).catch(toastProblem),
          },
          ...(mayEdit(workspace.role) ? changes : []),
        ]}
      >
        <IconButton icon="more" label={`Actions for ${form.name}`} size="small" />
      </Menu>
      <AskAgain
        change={move}
        sayTitle={({ verb }) => `${sayVerb(verb)} ${form.name} all the same?`}
        sayAgain={({ verb }) => sayVerb(verb)}
        onAgain={({ verb }) => move.mutate({ verb })}
      />
      <DeleteFormDialog form={form} isOpen={isDeleting} onClose={() => setDeleting(false)} />
    </>
  );
}

const sayVerb = (verb: 'archive' | 'restore'): string => (verb === 'archive' ? 'Archive' : 'Restore');
