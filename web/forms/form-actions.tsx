import { useNavigate } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { formatCount } from '#ast/basics/format-number.ts';
import { refetchChangedQueries } from '../api/changes.ts';
import { type ChangePrecondition, callOperation, download } from '../api/operations.ts';
import { useAction } from '../design/action.tsx';
import { IconButton } from '../design/button.tsx';
import { Menu, type MenuAction } from '../design/menu.tsx';
import { toastDone } from '../design/toast.tsx';
import type { ToastAction } from '../design/toast-list.ts';
import type { WorkspaceDetail } from '../settings/workspace.ts';
import { mayEdit } from '../shell/session.ts';
import type { FormActivityRow } from './forms-query.ts';

/** The actions for a form as a whole. */
export function FormActions({
  workspace,
  form,
  onLabel,
}: {
  workspace: WorkspaceDetail;
  form: FormActivityRow;
  onLabel: () => void;
}): ReactElement {
  const navigate = useNavigate();
  const params = { id: form.id };
  const count = form.submission_count;
  const moveTo = (verb: Verb, seen: ChangePrecondition) =>
    callOperation(workspace.id, `${verb}Form`, { params }, { seen });
  const describeMove = (verb: Verb, moved: ChangePrecondition): { text: string; action?: ToastAction } => ({
    text:
      verb === 'archive'
        ? `${form.name} was archived. It no longer accepts submissions.`
        : `${form.name} is a draft again.`,
    // Not for a published form: it is restored as a draft, so undo could not publish it again.
    ...(form.status !== 'published' && {
      action: {
        label: 'Undo',
        async run() {
          const back = verb === 'archive' ? 'restore' : 'archive';
          const { text, action } = describeMove(back, await moveTo(back, moved));
          await refetchChangedQueries();
          toastDone(text, action);
        },
      },
    }),
  });
  const move = useAction({
    run: (verb: Verb) => moveTo(verb, form),
    again: (verb) => ({ title: `${verbs[verb]} ${form.name} anyway?`, label: verbs[verb] }),
    done: (moved, verb) => describeMove(verb, moved),
  });
  const duplicate = useAction({
    run: () => callOperation(workspace.id, 'duplicateForm', { params }),
    done: ({ id }) => ({
      text: `${form.name} was duplicated.`,
      action: { label: 'Open copy', run: () => navigate({ to: '/forms/$form', params: { form: id } }) },
    }),
    problem: 'toast',
  });
  const save = useAction({
    run: (operation: 'exportForm' | 'packForm') => download(workspace.id, operation, { params }),
    problem: 'toast',
  });
  const remove = useAction({
    run: () => callOperation(workspace.id, 'deleteForm', { params }, { seen: form }),
    confirm: {
      title: 'Delete this form permanently?',
      label: 'Delete form',
      typed: form.name,
      text: (
        <>
          <p>
            {count === 0 ? (
              'It has no submissions. Its webhooks and their delivery log are deleted too. This cannot be undone.'
            ) : (
              <>
                Its <strong>{formatCount(count, 'submission')}</strong>, their files and its webhooks are
                deleted too. This cannot be undone.
              </>
            )}
          </p>
          {form.status !== 'archived' && count > 0 && (
            <p className="soft">To keep the submissions, archive the form instead.</p>
          )}
        </>
      ),
    },
    done: `${form.name} was deleted.`,
  });
  const changes: MenuAction[] = [
    { id: 'label', label: 'Label…', icon: 'edit', onAction: onLabel },
    { id: 'duplicate', label: 'Duplicate', icon: 'copy', onAction: () => duplicate.start() },
    form.status === 'archived'
      ? { id: 'restore', label: verbs.restore, icon: 'undo', onAction: () => move.start('restore') }
      : { id: 'archive', label: verbs.archive, icon: 'archive', onAction: () => move.start('archive') },
    { id: 'before-delete', separator: true },
    { id: 'delete', label: 'Delete…', icon: 'remove', isDanger: true, onAction: () => remove.start() },
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
            onAction: () => save.start('exportForm'),
          },
          { id: 'pack', label: 'Export form package', icon: 'file', onAction: () => save.start('packForm') },
          ...(mayEdit(workspace.role) ? changes : []),
        ]}
      >
        <IconButton icon="more" label={`Actions for ${form.name}`} size="small" />
      </Menu>
      {move.dialog}
      {remove.dialog}
    </>
  );
}

const verbs = { archive: 'Archive', restore: 'Restore' } as const;
type Verb = keyof typeof verbs;
