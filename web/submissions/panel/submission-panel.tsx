import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useEffect, useRef, useState } from 'react';
import { listQuestions } from '#ast/form/tree.ts';
import { shortReference } from '#ast/short-reference.ts';
import { getSubmissionTitle } from '#ast/submission-title.ts';
import type { Column, SubmissionDetail } from '#submissions/shapes.ts';
import { ApiProblem } from '../../api/client.ts';
import { call } from '../../api/operations.ts';
import { queryClient } from '../../api/query-client.ts';
import { receivedAt } from '../../api/received-at.ts';
import { useAction } from '../../design/action.tsx';
import { Button, IconButton } from '../../design/button.tsx';
import { StatusChip } from '../../design/chip.tsx';
import { CopyButton } from '../../design/copy-button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { ErrorState, Loading } from '../../design/states.tsx';
import { Ago, formatDateTime } from '../../design/time.tsx';
import { useFocusHandover } from '../../design/use-focus-handover.ts';
import type { LocatedForm } from '../../shell/current-form.ts';
import { mayEdit } from '../../shell/session.ts';
import { columnsQuery, detailQuery, type FormLocation } from '../queries.ts';
import { firstAnswers } from '../selection/selectable-cell.tsx';
import type { ViewState } from '../view-state.ts';
import { AnswersView } from './answers-view.tsx';
import { AnswersForm } from './edit/answers-form.tsx';
import { ReferenceForm } from './edit/reference-form.tsx';
import { useChange } from './edit/use-change.tsx';
import { NotesSection, ReferenceView, TagsSection } from './sections.tsx';
import { Timeline } from './timeline.tsx';

/** Marks a submission as completed or incomplete. If it cannot be completed, lists the reasons. */
function StatusSwitch({
  form,
  submission,
}: {
  form: FormLocation;
  submission: SubmissionDetail;
}): ReactElement {
  const [isExplaining, setExplaining] = useState(false);
  const change = useChange(form, submission, {
    sayDone: ({ status }) => `Marked as ${status}.`,
    takeBack:
      ({ on, made }) =>
      (_, since) => {
        if (since.some(({ status }) => status !== made.status))
          throw new Error('The status has been changed since.');
        return { status: on.status };
      },
  });
  const isCompleted = submission.status === 'completed';
  const next = isCompleted ? 'incomplete' : 'completed';
  const errors = change.error instanceof ApiProblem ? change.error.errors : [];
  return (
    <>
      <Button
        size="small"
        icon={isCompleted ? 'undo' : 'check'}
        isPending={change.isPending}
        onPress={() => change.mutate({ status: next }, { onError: () => setExplaining(true) })}
      >
        {isCompleted ? 'Mark as incomplete' : 'Mark as completed'}
      </Button>
      <Dialog
        title="The status was not changed"
        role="alertdialog"
        isOpen={isExplaining}
        onClose={() => setExplaining(false)}
        done="Close"
      >
        <p>{change.error?.message}</p>
        {errors.length > 0 && (
          <ul>
            {errors.map(({ field, message }) => (
              <li key={`${field} ${message}`}>{message}</li>
            ))}
          </ul>
        )}
      </Dialog>
    </>
  );
}

/** Moves a submission to the trash, after asking. */
function DeleteButton({
  form,
  submission,
  onDeleted,
}: {
  form: FormLocation;
  submission: SubmissionDetail;
  onDeleted: () => void;
}): ReactElement {
  const place = { params: { id: submission.id } };
  const remove = useAction({
    run: () => call(form.workspace_id, 'deleteSubmission', place, { seen: submission }),
    confirm: {
      title: 'Delete this submission?',
      label: 'Delete submission',
      text: `The submission from ${formatDateTime(receivedAt(submission))} will be moved to the trash. You can restore it for 30 days. Then it is permanently deleted with its files.`,
    },
    onLeave() {
      onDeleted();
      queryClient.removeQueries({ queryKey: ['viewSubmission', form.workspace_id, place] });
    },
    done: {
      text: 'The submission was moved to the trash.',
      action: { label: 'Undo', run: () => call(form.workspace_id, 'restoreSubmission', place) },
    },
  });
  return (
    <>
      <Button size="small" variant="quiet" icon="remove" {...remove.press()}>
        Delete
      </Button>
      {remove.dialog}
    </>
  );
}

/** Elements that handle these keys themselves: fields, menus, lists and confirmation dialogs. */
const others =
  'input:not([type="checkbox"], [type="radio"]), textarea, select, [contenteditable], [role="menu"], [role="listbox"], [role="alertdialog"], [role="grid"]';

type Keys = { onNext: (() => void) | undefined; onPrevious: (() => void) | undefined; onClose: () => void };

/**
 * Handles the keys of the panel: J and ↓ open the next submission, K and ↑ open the previous one, Escape
 * closes the panel.
 */
function usePanelKeys({ onNext, onPrevious, onClose }: Keys, isActive: boolean): void {
  useEffect(() => {
    if (!isActive) return undefined;
    const actions: Readonly<Record<string, (() => void) | undefined>> = {
      j: onNext,
      ArrowDown: onNext,
      k: onPrevious,
      ArrowUp: onPrevious,
      Escape: onClose,
    };
    const listen = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
      if (event.target instanceof Element && event.target.closest(others)) return;
      if (document.querySelector('.dialog-veil, [role="menu"]')) return;
      const action = actions[event.key];
      if (!action) return;
      event.preventDefault();
      action();
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  });
}

type Props = {
  form: LocatedForm;
  id: string;
  view: ViewState;
  onGo: (id: string) => void;
  onClose: () => void;
};

/** What the panel shows or edits. */
type Doing = 'reading' | 'answers' | 'reference';

/** Returns the title of a submission: the person or subject, else its first answers, else its time. */
const titleOf = (submission: SubmissionDetail, columns: readonly Column[] | undefined): string =>
  getSubmissionTitle(
    listQuestions(submission.structure).map(({ element: { type, attrs } }) => ({ type, ...attrs })),
    submission.answers,
  ) ??
  (firstAnswers(submission.answers, columns).slice(0, 2).join(' · ') ||
    formatDateTime(receivedAt(submission)));

/** Shows one submission with all its actions. */
export function SubmissionPanel({ form, id, view, onGo, onClose }: Props): ReactElement {
  const { data, error, refetch } = useQuery(detailQuery(form, id, view));
  const columns = useQuery(columnsQuery(form));
  const [doing, setDoing] = useState<Doing>('reading');
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    setDoing('reading');
    heading.current?.focus();
  }, [id]);
  const previous = data?.previous_id ? () => onGo(data.previous_id!) : undefined;
  const next = data?.next_id ? () => onGo(data.next_id!) : undefined;
  usePanelKeys({ onNext: next, onPrevious: previous, onClose }, doing === 'reading');
  const isReading = doing === 'reading';
  const body = useRef<HTMLDivElement>(null);
  const handOver = useFocusHandover();
  const find = (selector: string) => () => body.current?.querySelector<HTMLElement>(selector);
  const edit = (part: 'answers' | 'reference'): void => {
    if (part === 'answers')
      handOver(find('.answers-form :is(input, textarea, button):not([tabindex="-1"], [hidden])'));
    setDoing(part);
  };
  const done = (): void => {
    if (!isReading) handOver(find(`[data-edit="${doing}"]`));
    setDoing('reading');
  };
  return (
    <>
      <header className="panel-header">
        <h2 ref={heading} tabIndex={-1} className="panel-title">
          {data ? titleOf(data, columns.data) : 'Submission'}
        </h2>
        <IconButton
          icon="chevron-up"
          label="Previous submission (K)"
          isDisabled={!previous || !isReading}
          onPress={() => previous?.()}
        />
        <IconButton
          icon="chevron-down"
          label="Next submission (J)"
          isDisabled={!next || !isReading}
          onPress={() => next?.()}
        />
        <IconButton icon="close" label="Close (Escape)" onPress={onClose} />
      </header>
      {!data ? (
        error ? (
          <ErrorState error={error} onRetry={() => void refetch()} />
        ) : (
          <div className="panel-body">
            <Loading lines={5} label="Loading the submission…" />
          </div>
        )
      ) : (
        <div className="panel-body" key={id} ref={body}>
          {/* Keeps earlier data visible, so that an edit in progress is not lost. */}
          {error && <ErrorState error={error} onRetry={() => void refetch()} />}
          <div className="row">
            <StatusChip status={data.status} />
            <span className="soft small">
              {data.completed_at ? 'completed ' : 'last saved '}
              <Ago at={receivedAt(data)} /> · {formatDateTime(receivedAt(data))}
            </span>
            {!data.is_live_version && <span className="soft small">answered version {data.version}</span>}
          </div>
          {mayEdit(form.role) && isReading && (
            <div className="row panel-actions">
              <Button size="small" icon="edit" data-edit="answers" onPress={() => edit('answers')}>
                Edit answers
              </Button>
              <StatusSwitch form={form} submission={data} />
              <DeleteButton
                form={form}
                submission={data}
                onDeleted={() => (data.next_id ? onGo(data.next_id) : onClose())}
              />
            </div>
          )}
          {doing === 'answers' ? (
            <AnswersForm form={form} submission={data} onDone={done} />
          ) : (
            <AnswersView submission={data} />
          )}
          {doing === 'reference' ? (
            <ReferenceForm form={form} submission={data} onDone={done} />
          ) : (
            doing !== 'answers' && (
              <ReferenceView
                submission={data}
                {...(mayEdit(form.role) && { onEdit: () => edit('reference') })}
              />
            )
          )}
          {isReading && (
            <>
              <TagsSection form={form} submission={data} mayEdit={mayEdit(form.role)} />
              <NotesSection form={form} id={id} mayEdit={mayEdit(form.role)} />
              <Timeline form={form} submission={data} />
            </>
          )}
          <footer className="panel-footer">
            <span className="soft small numeric">{shortReference(data.id)}</span>
            <CopyButton text={data.id} label="Copy receipt" variant="quiet" size="small" />
            <CopyButton text={location.href} label="Copy link" variant="quiet" size="small" />
            <Button size="small" variant="quiet" icon="file" onPress={() => print()}>
              Print
            </Button>
          </footer>
        </div>
      )}
    </>
  );
}
