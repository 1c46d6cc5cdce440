import { withPipedLabels } from '#ast/form/piping.ts';
import './timeline.css';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import type { AnswerValue } from '#ast/answers/check-answers.ts';
import { getProperty } from '#ast/basics/json.ts';
import { type Form, listQuestions } from '#ast/form/tree.ts';
import { assignmentColumns } from '#rules/columns.ts';
import { hostOf } from '#rules/url-problem.ts';
import type { Difference, SubmissionDetail, TimelineEntry } from '#submissions/shapes.ts';
import { StatusChip } from '../../design/chip.tsx';
import { Ago } from '../../design/time.tsx';
import { eventLabel } from '../../webhooks/events.ts';
import { formatAnswer, type QuestionDisplay, questionDisplay } from '../answer-text.tsx';
import { describeAssignment, type FormLocation, type Team, timelineQuery, useTeam } from '../queries.ts';

type TimelineProps = { form: FormLocation; submission: SubmissionDetail };

/** The history of a submission, newest first: changes and webhook deliveries. */
export function Timeline({ form, submission }: TimelineProps): ReactElement {
  const { data, error } = useQuery(timelineQuery(form, submission.id));
  const team = useTeam(form);
  return (
    <section className="panel-section" aria-labelledby="timeline-title">
      <h3 id="timeline-title">History</h3>
      {error && <p className="soft small">Could not load the history: {error.message}</p>}
      {data && (
        <ol className="timeline">
          {data.data.map((entry, index) => (
            <li key={`${entry.at} ${index}`} className="timeline-entry">
              <div className="timeline-line">
                <Words form={form} entry={entry} submission={submission} />
                <span className="soft small">
                  <Ago at={entry.at} />
                </span>
              </div>
              {'changes' in entry && (
                <Changes changes={entry.changes} structure={submission.structure} team={team} />
              )}
            </li>
          ))}
        </ol>
      )}
      {data?.is_cut && <p className="soft small">Older changes and deliveries are not shown.</p>}
    </section>
  );
}

const changed = {
  edited: 'Edited',
  trashed: 'Moved to the trash',
  restored: 'Restored',
  note_added: 'Note added',
  note_deleted: 'Note deleted',
} as const;

type WordsProps = { form: FormLocation; entry: TimelineEntry; submission: SubmissionDetail };

function Words({ form, entry, submission }: WordsProps): ReactElement {
  switch (entry.kind) {
    case 'created':
      return <span>{submission.completed_at === entry.at ? 'Received' : 'Started'}</span>;
    case 'completed':
      return <span>Completed</span>;
    case 'edited':
    case 'trashed':
    case 'restored':
    case 'note_added':
    case 'note_deleted':
      return (
        <span>
          {changed[entry.kind]} by {describeActor(entry)}
        </span>
      );
    case 'delivery':
    case 'resend':
      return (
        <span className="row">
          <Link
            to="/forms/$form/webhooks/$webhook"
            params={{ form: form.id, webhook: entry.webhook_id }}
            search={{ delivery: entry.delivery_id }}
          >
            Webhook {entry.kind === 'resend' ? 'resent' : 'sent'} to {hostOf(entry.url)} (
            {eventLabel(entry.event).toLowerCase()})
          </Link>
          <StatusChip status={entry.status} />
        </span>
      );
    default:
      return entry satisfies never;
  }
}

function describeActor({ by, through }: Extract<TimelineEntry, { changes: unknown }>): string {
  if (through === 'link') return 'the visitor';
  if (through === 'cli') return 'the operator';
  if (through === 'waiting_list') return 'the waiting list';
  return by === null ? 'a deleted account' : through === 'api' ? `the API key ${by}` : by;
}

const partNames: Readonly<Record<string, string>> = {
  status: 'Status',
  tags: 'Tags',
  stage: 'Stage',
  assignee: 'Assignee',
};

type ChangesProps = { changes: readonly Difference[]; structure: Form; team: Team };

/** Lists what an edit changed, value by value. */
function Changes({ changes, structure, team }: ChangesProps): ReactElement | null {
  if (changes.length === 0) return null;
  const questions = new Map(
    listQuestions(withPipedLabels(structure)).map((question) => [question.element.attrs.id, question]),
  );
  const formatChange = (value: unknown, { part, name }: Difference): string => {
    if (typeof value === 'string' && (part === 'stage' || part === 'assignee'))
      return describeAssignment(value, assignmentColumns[part], team);
    const question = part === 'answers' ? questions.get(name) : undefined;
    return formatValue(value, question && questionDisplay(question));
  };
  return (
    <ul className="timeline-changes">
      {changes.map((change) => (
        <li key={`${change.part} ${change.name}`}>
          <span className="soft">
            {change.part === 'answers'
              ? (questions.get(change.name)?.element.attrs.label ?? change.name)
              : (getProperty(partNames, change.part) ?? change.name)}
            :{' '}
          </span>
          {change.from !== undefined && <del>{formatChange(change.from, change)}</del>}{' '}
          {change.from !== undefined && change.to !== undefined && <span aria-hidden="true">→ </span>}
          {change.to === undefined ? 'removed' : <ins>{formatChange(change.to, change)}</ins>}
        </li>
      ))}
    </ul>
  );
}

/** The maximum number of characters of a value in the history. */
const longest = 200;

function formatValue(value: unknown, display: QuestionDisplay | undefined): string {
  const text = formatAnswer(value as AnswerValue, display);
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}
