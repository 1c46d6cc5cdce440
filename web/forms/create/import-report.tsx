import './import-report.css';
import type { ReactElement } from 'react';
import type { ReplyOf } from '#app/operations/operations.ts';
import { formatCount, pluralize } from '#ast/basics/format-number.ts';
import { Message } from '../../design/message.tsx';
import type { TextRange } from './json-positions.ts';
import type { PastedProblem } from './read-pasted-form.ts';

export type ConvertedForm = ReplyOf<'convertForm'>;

type Line = ConvertedForm['report'][number];

const sources: Readonly<Record<ConvertedForm['source'], string>> = {
  typeform: 'a Typeform form',
  formbricks: 'a Formbricks survey',
  tally: 'a Tally form',
  google_forms: 'a form from Google Forms',
  surveyjs: 'a SurveyJS survey',
  plain_text: 'plain text',
  csv: 'a table (CSV)',
};

/** The possible outcomes with their headings, worst first. */
const outcomes = [
  ['left_out', 'Not imported'],
  ['changed', 'Changed'],
  ['mapped', 'Imported'],
] as const satisfies readonly (readonly [Line['outcome'], string])[];

/** Says what the source is, and shows how each of its parts will be imported. */
export function ImportReport({ found }: { found: ConvertedForm }): ReactElement {
  const { source, report, report_count, problems } = found;
  return (
    <div className="foreign-form">
      <p role="status">This is {sources[source]}. It will become a draft. Check how each part is imported:</p>
      {problems.length > 0 && (
        <Message tone="warn" title="Fix these problems in the builder before you publish">
          <ul role="list">
            {problems.map(({ message }, index) => (
              <li key={index}>{message}</li>
            ))}
          </ul>
        </Message>
      )}
      {outcomes.map(([outcome, title]) => (
        <Lines
          key={outcome}
          title={title}
          lines={report.filter((line) => line.outcome === outcome)}
          isOpen={outcome !== 'mapped'}
        />
      ))}
      {report_count > report.length && (
        <p className="soft">And {(report_count - report.length).toLocaleString()} more parts.</p>
      )}
    </div>
  );
}

function Lines({
  title,
  lines,
  isOpen,
}: {
  title: string;
  lines: readonly Line[];
  isOpen: boolean;
}): ReactElement | null {
  if (lines.length === 0) return null;
  return (
    <details open={isOpen}>
      <summary>
        {title} <span className="soft numeric">{lines.length.toLocaleString()}</span>
      </summary>
      <ul role="list" className="foreign-lines" tabIndex={0} aria-label={title}>
        {lines.map(({ path, title: part, message }, index) => (
          <li key={index}>
            <span className="foreign-part">
              {part !== undefined && <strong>{part}</strong>}{' '}
              <code className="small">{formatPart(path)}</code>
            </span>
            <span>{message}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Names a part of a text as its author sees it, and a part of a document by its path. */
function formatPart(path: string): string {
  const [, list, index] = /^(lines|columns)\[(\d+)\]/.exec(path) ?? [];
  if (list !== undefined) return `${list === 'lines' ? 'Line' : 'Column'} ${Number(index) + 1}`;
  return path === 'rows' ? 'Lines below the headings' : path || 'Form';
}

/** Lists why a pasted text cannot be read. A problem with a position leads there. */
export function PastedProblems({
  problems,
  onGo,
}: {
  problems: readonly PastedProblem[];
  onGo: (place: TextRange) => void;
}): ReactElement {
  return (
    <Message
      tone="bad"
      title={`${pluralize(problems.length, 'There is', 'There are')} ${formatCount(problems.length, 'problem')}`}
    >
      <ul role="list" className="pasted-problems">
        {problems.map(({ message, where, place }, index) => (
          <li key={index}>
            <button type="button" className="pasted-problem" onClick={() => place && onGo(place)}>
              <span className="soft small numeric">
                {where}
                {place && `, line ${place.line}`}
              </span>
              <span>{message}</span>
            </button>
          </li>
        ))}
      </ul>
    </Message>
  );
}
