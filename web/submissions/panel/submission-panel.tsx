import { useQuery } from '@tanstack/react-query';
import { Link, useRouter } from '@tanstack/react-router';
import { type ReactElement, useEffect, useRef, useState } from 'react';
import { listQuestions } from '#ast/form/tree.ts';
import { formatSubmissionReference } from '#ast/short-reference.ts';
import { getSubmissionTitle } from '#ast/submission-title.ts';
import { imageAddress } from '#page/theme/image-address.ts';
import type { Column, SubmissionDetail } from '#submissions/shapes.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { StatusChip } from '../../design/chip.tsx';
import { CopyButton } from '../../design/copy-button.tsx';
import { Icon } from '../../design/icon.tsx';
import { useTitle } from '../../design/page.tsx';
import { ErrorState, Loading } from '../../design/states.tsx';
import { Ago, formatDateTime, receivedAt } from '../../design/time.tsx';
import { useFocusHandover } from '../../design/use-focus-handover.ts';
import { type LocatedForm, mayEdit } from '../../shell/session.ts';
import { columnsQuery, detailQuery, type FormLocation, settingsQuery } from '../queries.ts';
import { firstAnswers } from '../selection/selectable-cell.tsx';
import { searchOf, type ViewState } from '../view-state.ts';
import { AnswersView } from './answers-view.tsx';
import { AnswersForm } from './edit/answers-form.tsx';
import { ReferenceDataForm } from './edit/reference-form.tsx';
import {
  DeleteButton,
  NotesSection,
  PdfButtons,
  ReferenceDataView,
  RespondentView,
  StageAndAssignee,
  StatusSwitch,
  TagsSection,
} from './sections.tsx';
import { Timeline } from './timeline.tsx';

/** Elements that handle these keys themselves: fields, menus, lists and confirmation dialogs. */
const others =
  'input:not([type="checkbox"], [type="radio"]), textarea, select, [contenteditable], [aria-haspopup="listbox"], [role="menu"], [role="listbox"], [role="alertdialog"], [role="grid"]';

type Keys = {
  onNext: (() => void) | undefined;
  onPrevious: (() => void) | undefined;
  /** Undefined on a page of its own, which the arrows scroll. */
  onClose: (() => void) | undefined;
};

/**
 * Handles the keys: J opens the next submission, K the previous one. In the panel, ↓ and ↑ do it too, and
 * Escape closes it.
 */
function usePanelKeys({ onNext, onPrevious, onClose }: Keys, isActive: boolean): void {
  useEffect(() => {
    if (!isActive) return undefined;
    const actions: Readonly<Record<string, (() => void) | undefined>> = {
      j: onNext,
      k: onPrevious,
      ...(onClose && { ArrowDown: onNext, ArrowUp: onPrevious, Escape: onClose }),
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
  /** Whether it has a page of its own instead of the panel beside the table. */
  isPage?: boolean;
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

type PrintHeaderProps = { form: FormLocation; submission: SubmissionDetail; title: string };

/** The head of a printed submission: the logo and name of the form, who answered, and when. */
function PrintHeader({ form, submission, title }: PrintHeaderProps): ReactElement {
  const logo = useQuery(settingsQuery(form)).data?.theme?.logo;
  const at = formatDateTime(receivedAt(submission));
  return (
    <header className="print-only print-header">
      {logo && <img src={imageAddress(form.id, logo)} alt="" />}
      <p className="print-form">{submission.form_name}</p>
      {title !== at && <p className="print-title">{title}</p>}
      <p>{submission.completed_at ? `Received ${at}` : `Incomplete, last saved ${at}`}</p>
    </header>
  );
}

/** Shows one submission with all its actions. */
export function SubmissionPanel({ form, id, view, isPage = false, onGo, onClose }: Props): ReactElement {
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
  usePanelKeys(
    { onNext: next, onPrevious: previous, onClose: isPage ? undefined : onClose },
    doing === 'reading',
  );
  const isReading = doing === 'reading';
  const page = {
    to: '/forms/$form/submissions/$submission',
    params: { form: form.id, submission: id },
  } as const;
  const router = useRouter();
  const address = new URL(router.buildLocation(page).publicHref, location.href).href;
  const Title = isPage ? 'h1' : 'h2';
  const title = data ? titleOf(data, columns.data) : 'Submission';
  useTitle(isPage ? `${title} · ${form.name}` : `Submissions · ${form.name}`);
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
        {isPage && (
          <Link
            to="/forms/$form/submissions"
            params={{ form: form.id }}
            search={(before: Record<string, unknown>) => searchOf(before, {})}
            className="button button-icon button-quiet"
          >
            <Icon name="back" />
            <span className="unseen">Back to the table</span>
          </Link>
        )}
        <Title ref={heading} tabIndex={-1} className="panel-title">
          {title}
        </Title>
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
        {!isPage && (
          <>
            <Link
              {...page}
              search={(before: Record<string, unknown>) => searchOf(before, { open: undefined })}
              className="button button-icon button-quiet"
              title="Open as a page"
            >
              <Icon name="external" />
              <span className="unseen">Open as a page</span>
            </Link>
            <IconButton icon="close" label="Close (Escape)" onPress={onClose} />
          </>
        )}
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
          <PrintHeader form={form} submission={data} title={title} />
          <div className="row panel-status">
            <StatusChip status={data.status} />
            {data.position !== undefined && <span className="soft small">Position {data.position}</span>}
            <span className="soft small">
              {data.completed_at ? '' : 'Last saved '}
              <Ago at={receivedAt(data)} /> · {formatDateTime(receivedAt(data))}
            </span>
            {!data.is_live_version && <span className="soft small">Answered version {data.version}</span>}
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
          {isReading && <StageAndAssignee form={form} submission={data} mayEdit={mayEdit(form.role)} />}
          {doing === 'answers' && <AnswersForm form={form} submission={data} onDone={done} />}
          <div className={doing === 'answers' ? 'print-only' : 'panel-answers'}>
            <AnswersView submission={data} />
          </div>
          {doing !== 'answers' && (
            <div className="panel-side">
              {isPage && <h2 className="unseen">Details</h2>}
              <RespondentView respondent={data.respondent} />
              {doing === 'reference' ? (
                <ReferenceDataForm form={form} submission={data} onDone={done} />
              ) : (
                <ReferenceDataView
                  submission={data}
                  {...(mayEdit(form.role) && { onEdit: () => edit('reference') })}
                />
              )}
              {isReading && (
                <>
                  <TagsSection form={form} submission={data} mayEdit={mayEdit(form.role)} />
                  <NotesSection form={form} id={id} mayEdit={mayEdit(form.role)} />
                  <Timeline form={form} submission={data} />
                </>
              )}
            </div>
          )}
          <footer className="panel-footer">
            <span className="soft small numeric">{formatSubmissionReference(data.id)}</span>
            <CopyButton
              text={formatSubmissionReference(data.id)}
              label="Copy code"
              variant="quiet"
              size="small"
            />
            <CopyButton text={address} label="Copy link" variant="quiet" size="small" />
            <Button size="small" variant="quiet" icon="file" onPress={() => print()}>
              Print
            </Button>
            <PdfButtons form={form} submission={data} />
          </footer>
        </div>
      )}
    </>
  );
}
