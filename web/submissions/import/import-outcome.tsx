import type { ReactElement } from 'react';
import { Message } from '../../design/message.tsx';
import { saySubmissions } from '../say-submissions.ts';
import type { ImportPreview } from './import-query.ts';
import { sayCount, wordFor } from '#ast/say-count.ts';

/** How many submissions there will be, the first of them, and what is wrong in which cell. */
export function ImportOutcome({ preview }: { preview: ImportPreview }): ReactElement {
  const { total, entries, questions, problems, doubts, problem_count: wrong } = preview;
  const shown = questions.filter(({ id }) => entries.some(({ answers }) => Object.hasOwn(answers, id)));
  return (
    <>
      <p role="status">
        <strong>{saySubmissions(total)}</strong> will be made, as completed ones.
      </p>
      {shown.length > 0 && (
        <div className="import-sample" tabIndex={0} role="region" aria-label="The first submissions">
          <table>
            <thead>
              <tr>
                <th scope="col">Line</th>
                <th scope="col">Moment</th>
                {shown.map(({ id, label }) => (
                  <th key={id} scope="col">
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {entries.map(({ line, answers, submitted_at }) => (
                <tr key={line}>
                  <th scope="row" className="numeric">
                    {line.toLocaleString()}
                  </th>
                  <td>{submitted_at === null ? 'Now' : new Date(submitted_at).toLocaleString()}</td>
                  {shown.map(({ id }) => (
                    <td key={id}>{say((answers as Record<string, unknown>)[id])}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {doubts.length > 0 && (
        <Message tone="warn" title="Check how these are read">
          <ul className="import-problems" tabIndex={0} aria-label="What could be read in another way">
            {doubts.map(({ line, column, message }, index) => (
              <li key={index}>
                Line {line.toLocaleString()}
                {column !== null && `, ${column}`}: {message}
              </li>
            ))}
          </ul>
        </Message>
      )}
      {wrong > 0 && (
        <Message tone="warn" title={`There ${wordFor(wrong, 'is', 'are')} ${sayCount(wrong, 'problem')}`}>
          <ul className="import-problems" tabIndex={0} aria-label="Problems of the file">
            {problems.map(({ line, column, message, is_left_out: isLeftOut }, index) => (
              <li key={index}>
                Line {line.toLocaleString()}
                {column !== null && !message.startsWith(column) && `, ${column}`}: {message}{' '}
                {isLeftOut ? 'The line is left out.' : ''}
              </li>
            ))}
          </ul>
          {wrong > problems.length && `And ${(wrong - problems.length).toLocaleString()} more.`}
        </Message>
      )}
    </>
  );
}

function say(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (Array.isArray(value)) return value.map(say).join('; ');
  if (typeof value === 'object' && value !== null)
    return Object.entries(value)
      .map(([row, answer]) => `${row}: ${say(answer)}`)
      .join('; ');
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
