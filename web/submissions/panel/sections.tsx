import { useQuery } from '@tanstack/react-query';
import { Fragment, type ReactElement, useState } from 'react';
import { isPassed, scoreAnswers } from '#ast/answers/quiz.ts';
import { getProperty } from '#ast/basics/json.ts';
import { assignmentColumns } from '#rules/columns.ts';
import type { SubmissionDetail } from '#submissions/shapes.ts';
import { ApiProblem } from '../../api/client.ts';
import { callOperation, download } from '../../api/operations.ts';
import { queryClient } from '../../api/query-client.ts';
import { useAction } from '../../design/action.tsx';
import { Button, IconButton } from '../../design/button.tsx';
import { StageChip } from '../../design/chip.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { TextArea } from '../../design/field.tsx';
import { Form } from '../../design/form.tsx';
import { HighlightedText } from '../../design/highlighted-text.tsx';
import { Select } from '../../design/select.tsx';
import { TagChips, TagField, tagsIn } from '../../design/tags.tsx';
import { Ago, formatDateTime, receivedAt } from '../../design/time.tsx';
import {
  describeAssignment,
  type FormLocation,
  notesQuery,
  readerLanguage,
  settingsQuery,
  tagsQuery,
  useTeam,
} from '../queries.ts';
import { UnsavedGuard, useSubmissionChange } from './edit/use-change.tsx';

type NotesProps = { form: FormLocation; id: string; mayEdit: boolean };

/** The members' notes about a submission, newest first. */
export function NotesSection({ form, id, mayEdit }: NotesProps): ReactElement | null {
  const { data: notes = [], error } = useQuery(notesQuery(form, id));
  const [text, setText] = useState('');
  const add = useAction({
    run: (sent: string) =>
      callOperation(form.workspace_id, 'addNote', { params: { id }, body: { text: sent } }),
    // Keeps text that was typed while the note was being added.
    onLeave: (_, sent) => setText((now) => (now === sent ? '' : now)),
  });
  const remove = useAction({
    run: (note: string) => callOperation(form.workspace_id, 'deleteNote', { params: { id, note } }),
    problem: 'toast',
  });
  if (notes.length === 0 && !mayEdit && !error) return null;
  return (
    <section className="panel-section" aria-labelledby="notes-title">
      <h3 id="notes-title">Notes</h3>
      {error && <p className="soft small">Could not load the notes: {error.message}</p>}
      {mayEdit && (
        <Form
          className="stack"
          validationBehavior="native"
          isPending={add.isPending}
          onSubmit={() => text.trim() !== '' && add.mutate(text)}
        >
          <TextArea
            label="Write a note"
            description="Visible only to members of this workspace."
            value={text}
            onChange={setText}
            rows={2}
            error={add.error?.message}
          />
          <UnsavedGuard isDirty={text.trim() !== ''} what="Your note has not been added." />
          <div className="row">
            <Button type="submit" size="small" isPending={add.isPending}>
              Add note
            </Button>
          </div>
        </Form>
      )}
      {notes.map((note) => (
        <article key={note.id} className="note">
          <div className="spread">
            <span className="soft small">
              {note.author ?? 'A deleted account'}, <Ago at={note.created_at} />
            </span>
            {mayEdit && (
              <IconButton
                icon="remove"
                size="small"
                label="Delete note"
                isDisabled={remove.isPending}
                onPress={() => remove.start(note.id)}
              />
            )}
          </div>
          <p className="note-text">{note.text}</p>
        </article>
      ))}
    </section>
  );
}

type PdfButtonsProps = { form: FormLocation; submission: SubmissionDetail };

/** Downloads the submission as a PDF, and the certificate of a quiz that was passed. */
export function PdfButtons({ form, submission }: PdfButtonsProps): ReactElement {
  const { id, status, structure, answers } = submission;
  const { certificate_name_element: name = '' } = useQuery(settingsQuery(form)).data ?? {};
  const save = useAction({
    run: (certificate: boolean) =>
      download(form.workspace_id, 'getSubmissionPdf', {
        params: { id },
        query: { ...readerLanguage(), ...(certificate && { certificate }) },
      }),
    problem: 'toast',
  });
  // Hidden scores have no stored points.
  const scores = scoreAnswers(
    structure,
    answers,
    ({ type, attrs }) => type !== 'score' || attrs.id in answers,
  );
  return (
    <>
      <Button size="small" variant="quiet" icon="download" {...save.press(false)}>
        <span className="unseen">Download </span>PDF
      </Button>
      {status === 'completed' && getProperty(answers, name) !== undefined && isPassed(scores) && (
        <Button size="small" variant="quiet" icon="download" {...save.press(true)}>
          <span className="unseen">Download </span>Certificate
        </Button>
      )}
    </>
  );
}

type SectionProps = { form: FormLocation; submission: SubmissionDetail; mayEdit: boolean };

/** Shows the tags of a submission. Each can be removed, and new ones can be typed. */
export function TagsSection({ form, submission, mayEdit }: SectionProps): ReactElement | null {
  const { tags } = submission;
  const [text, setText] = useState('');
  const change = useSubmissionChange(form, submission, {
    revert:
      ({ on, after }) =>
      (now, since) => {
        // Leaves out tags that were added or removed again since this change.
        const isLeft = (tag: string): boolean =>
          on.tags.includes(tag) !== after.tags.includes(tag) &&
          since.every(({ tags }) => tags.includes(tag) === after.tags.includes(tag));
        const gone = on.tags.filter((tag) => !after.tags.includes(tag) && isLeft(tag));
        return { tags: [...now.tags.filter((tag) => !isLeft(tag)), ...gone] };
      },
  });
  const { data: suggestions = [] } = useQuery({ ...tagsQuery(form), enabled: mayEdit });
  if (tags.length === 0 && !mayEdit) return null;
  return (
    <section className="panel-section" aria-labelledby="tags-title">
      <h3 id="tags-title">Tags</h3>
      <TagChips
        tags={tags}
        {...(mayEdit && {
          onRemove: (tag: string) =>
            change.mutate((now) => ({ tags: now.tags.filter((other) => other !== tag) })),
        })}
      />
      {mayEdit && (
        <Form
          className="tag-add"
          validationBehavior="native"
          isPending={change.isPending}
          onSubmit={() => {
            if (tagsIn(text).length > 0)
              change.mutate((now) => ({ tags: [...now.tags, ...tagsIn(text)] }), {
                onSuccess: () => setText((now) => (now === text ? '' : now)),
              });
          }}
        >
          <TagField label="Add a tag" value={text} suggestions={suggestions} onChange={setText} />
          <UnsavedGuard
            isDirty={text.trim() !== '' && !change.isPending}
            what="Your tag has not been added."
          />
          <Button type="submit" isPending={change.isPending}>
            Add
          </Button>
        </Form>
      )}
      {change.error && <p className="field-error">{change.error.message}</p>}
    </section>
  );
}

/** Shows the person who signed in to respond. */
export function RespondentView({ respondent }: Pick<SubmissionDetail, 'respondent'>): ReactElement | null {
  if (!respondent) return null;
  return (
    <section className="panel-section">
      <h3>Respondent</h3>
      <p>
        {respondent.name}
        <br />
        <span className="soft small">{respondent.email}</span>
      </p>
    </section>
  );
}

/** Shows the reference data of a submission. */
export function ReferenceDataView({
  submission,
  onEdit,
}: {
  submission: Pick<SubmissionDetail, 'reference' | 'hits'>;
  onEdit?: () => void;
}): ReactElement | null {
  const entries = Object.entries(submission.reference);
  if (entries.length === 0 && !onEdit) return null;
  return (
    <section className="panel-section">
      <div className="spread">
        <h3>Reference data</h3>
        {onEdit && (
          <Button size="small" variant="quiet" icon="edit" data-edit="reference" onPress={onEdit}>
            {entries.length === 0 ? 'Add' : 'Edit'}
            <span className="unseen"> reference data</span>
          </Button>
        )}
      </div>
      {entries.length === 0 ? (
        <p className="soft small">
          None yet. Parameters in the form link appear here, such as <code>campaign=spring</code>.
        </p>
      ) : (
        <dl className="reference">
          {entries.map(([name, value]) => (
            <div key={name}>
              <dt>
                {name.split(/(?<=_)/).map((word, index) => (
                  <Fragment key={index}>
                    {index > 0 && <wbr />}
                    {word}
                  </Fragment>
                ))}
              </dt>
              <dd>
                <HighlightedText text={value} hits={submission.hits} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}

/** Marks a submission as completed or incomplete. If it cannot be completed, lists the reasons. */
export function StatusSwitch({ form, submission }: Omit<SectionProps, 'mayEdit'>): ReactElement {
  const [isExplaining, setExplaining] = useState(false);
  const change = useSubmissionChange(form, submission, {
    describeDone: ({ status }) => `Marked as ${status}.`,
    revert:
      ({ on, after }) =>
      (_, since) => {
        if (since.some(({ status }) => status !== after.status))
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
        {isCompleted
          ? 'Mark as incomplete'
          : submission.status === 'waiting'
            ? 'Give a place'
            : 'Mark as completed'}
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
export function DeleteButton({
  form,
  submission,
  onDeleted,
}: Omit<SectionProps, 'mayEdit'> & { onDeleted: () => void }): ReactElement {
  const place = { params: { id: submission.id } };
  const remove = useAction({
    run: () => callOperation(form.workspace_id, 'deleteSubmission', place, { seen: submission }),
    confirm: {
      title: 'Delete this submission?',
      label: 'Delete submission',
      text: `The submission from ${formatDateTime(receivedAt(submission))} will be moved to the trash, where you can restore it. Later it is permanently deleted with its files, and subscribed webhooks are notified.`,
    },
    onLeave() {
      onDeleted();
      queryClient.removeQueries({ queryKey: ['viewSubmission', form.workspace_id, place] });
    },
    done: {
      text: 'The submission was moved to the trash.',
      action: {
        label: 'Undo',
        run: () => callOperation(form.workspace_id, 'restoreSubmission', place),
      },
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

/** The choice of no one. Members have UUIDs. */
const noOne = 'none';

/** Shows the stage and the assignee of a submission. People who may edit change them here at once. */
export function StageAndAssignee({ form, submission, mayEdit }: SectionProps): ReactElement {
  const team = useTeam(form);
  const { stage_id, assignee_id } = submission;
  const change = useSubmissionChange(form, submission, {
    revert:
      ({ on, after }) =>
      (_, since) => {
        const parts = (['stage_id', 'assignee_id'] as const).filter((part) => on[part] !== after[part]);
        if (since.some((state) => parts.some((part) => state[part] !== after[part])))
          throw new Error('It has been changed since.');
        return Object.fromEntries(parts.map((part) => [part, on[part]]));
      },
  });
  const problem = change.error ?? team.error;
  const assignee =
    assignee_id === null ? 'No one' : describeAssignment(assignee_id, assignmentColumns.assignee, team);
  if (!mayEdit)
    return (
      <div className="row panel-assignment">
        <StageChip stage={team.stages.find(({ id }) => id === stage_id)} />
        <span className="soft small">Assignee: {assignee}</span>
      </div>
    );
  return (
    <div className="row panel-assignment">
      <Select
        label="Stage"
        size="small"
        choices={team.stages.map(({ id, name }) => ({ id, label: name }))}
        value={stage_id}
        onChange={(id) => id !== stage_id && change.mutate({ stage_id: id })}
      />
      <Select
        label="Assignee"
        size="small"
        choices={[{ id: noOne, label: 'No one' }, ...team.members]}
        value={assignee_id ?? noOne}
        onChange={(id) =>
          id !== (assignee_id ?? noOne) && change.mutate({ assignee_id: id === noOne ? null : id })
        }
      />
      {problem && (
        <p className="field-error" role="alert">
          {problem.message}
        </p>
      )}
    </div>
  );
}
