import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useEffect } from 'react';
import { Message } from '../../design/message.tsx';
import { type FormPlace, refreshSubmissions } from '../queries.ts';
import { saySubmissions } from '../say-submissions.ts';
import { type ImportProgress, importsQuery } from './import-query.ts';
import { sayCount } from '#ast/say-count.ts';

/** How far the last import is, and what of it was left out. */
export function ImportsUnderWay({ form }: { form: FormPlace }): ReactElement | null {
  const [last] = useQuery(importsQuery(form)).data ?? [];
  const isDone = last !== undefined && last.finished_at !== null;
  useEffect(() => {
    if (isDone) void refreshSubmissions(form);
  }, [isDone, form]);
  if (!last) return null;
  const done = last.created + last.refused;
  if (last.failed_reason !== null)
    return (
      <Message tone="bad" title="The import stopped">
        {last.failed_reason} {done.toLocaleString()} of {last.total.toLocaleString()} lines are done. You can
        import the file again: a line is imported once.
      </Message>
    );
  if (!isDone)
    return (
      <Message>
        <label className="import-progress">
          <span>
            Importing: {done.toLocaleString()} of {last.total.toLocaleString()}. You can leave this page.
          </span>
          <progress max={last.total} value={done} />
        </label>
      </Message>
    );
  return (
    <Message
      tone={last.refused > 0 ? 'warn' : 'good'}
      title={`The last import made ${saySubmissions(last.created)}`}
    >
      {last.refused > 0 && <Refused last={last} />}
    </Message>
  );
}

const Refused = ({ last: { refused, problems } }: { last: ImportProgress }): ReactElement => (
  <>
    <p>{sayCount(refused, 'line was', 'lines were')} left out.</p>
    <ul className="import-problems" tabIndex={0} aria-label="Lines that were left out">
      {problems.map(({ line, message }, index) => (
        <li key={index}>
          Line {line.toLocaleString()}: {message}
        </li>
      ))}
    </ul>
  </>
);
