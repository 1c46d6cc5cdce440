import './import-screen.css';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactElement, useEffect, useState } from 'react';
import { FileTrigger } from 'react-aria-components/FileTrigger';
import type { Answers } from '#ast/answers/check-answers.ts';
import { formatCount, pluralize } from '#ast/basics/format-number.ts';
import { refetchChangedQueries } from '../../api/changes.ts';
import { callOperation } from '../../api/operations.ts';
import { useAction } from '../../design/action.tsx';
import { Button } from '../../design/button.tsx';
import { readTextFile } from '../../design/files.ts';
import { Message } from '../../design/message.tsx';
import { Card, Page } from '../../design/page.tsx';
import { TaskProgress } from '../../design/task-progress.tsx';
import { useCurrentForm } from '../../shell/session.ts';
import { formatAnswer } from '../answer-text.tsx';
import { type FormLocation, formatSubmissionCount } from '../queries.ts';
import {
  ImportColumns,
  type ImportProgress,
  importsQuery,
  type SubmissionImportInput,
  type SubmissionImportPreview,
  submissionImportPreviewQuery,
} from './import-columns.tsx';

/** Shows how many submissions will be created, the first of them, and problems by line and column. */
function ImportOutcome({ preview }: { preview: SubmissionImportPreview }): ReactElement {
  const { total, entries, questions, problems, doubts, problem_count: wrong } = preview;
  const shown = questions.filter(({ id }) => entries.some(({ answers }) => Object.hasOwn(answers, id)));
  return (
    <>
      <p role="status">
        <strong>{formatSubmissionCount(total)}</strong> will be created as completed.
      </p>
      {shown.length > 0 && (
        <div className="import-sample" tabIndex={0} role="region" aria-label="First submissions">
          <table>
            <thead>
              <tr>
                <th scope="col">Line</th>
                <th scope="col">Submitted at</th>
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
                    <td key={id}>{id in answers && formatAnswer((answers as Answers)[id]!)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {doubts.length > 0 && (
        <Message tone="warn" title="Check these values">
          <ul className="import-problems" tabIndex={0} aria-label="Ambiguous values">
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
        <Message
          tone="warn"
          title={`There ${pluralize(wrong, 'is', 'are')} ${formatCount(wrong, 'problem')}`}
        >
          <ul className="import-problems" tabIndex={0} aria-label="Problems in the file">
            {problems.map(({ line, column, message, is_left_out: isLeftOut }, index) => (
              <li key={index}>
                Line {line.toLocaleString()}
                {column !== null && !message.startsWith(column) && `, ${column}`}: {message}{' '}
                {isLeftOut ? 'This line will be skipped.' : ''}
              </li>
            ))}
          </ul>
          {wrong > problems.length && `And ${(wrong - problems.length).toLocaleString()} more.`}
        </Message>
      )}
    </>
  );
}

/** Shows the progress of the last import, and the lines that it skipped. */
function ImportsUnderWay({ form }: { form: FormLocation }): ReactElement | null {
  const [last] = useQuery(importsQuery(form)).data ?? [];
  const isDone = last !== undefined && last.finished_at !== null;
  useEffect(() => {
    if (isDone) void refetchChangedQueries('changeSubmission');
  }, [isDone]);
  if (!last) return null;
  if (!isDone)
    return (
      <TaskProgress
        label="Importing"
        task={{ ...last, done: last.created + last.refused }}
        unit="lines"
        note="You can leave this page."
        advice="You can import the file again. No line is imported twice."
      />
    );
  return (
    <Message
      tone={last.refused > 0 ? 'warn' : 'good'}
      title={`The last import created ${formatSubmissionCount(last.created)}`}
    >
      {last.refused > 0 && <Refused last={last} />}
    </Message>
  );
}

const Refused = ({ last: { refused, problems } }: { last: ImportProgress }): ReactElement => (
  <>
    <p>{formatCount(refused, 'line was', 'lines were')} skipped.</p>
    <ul className="import-problems" tabIndex={0} aria-label="Skipped lines">
      {problems.map(({ line, message }, index) => (
        <li key={index}>
          Line {line.toLocaleString()}: {message}
        </li>
      ))}
    </ul>
  </>
);

/** The largest workbook that the service accepts, in bytes. */
const mostBytes = 4_000_000;

/** Reads a file for the API: a workbook if its name says so, otherwise CSV text. */
async function readSource(file: File): Promise<{ source: SubmissionImportInput } | { problem: string }> {
  if (!/\.xlsx$/i.test(file.name)) {
    const read = await readTextFile(file);
    return 'problem' in read ? read : { source: { kind: 'csv', text: read.text } };
  }
  if (file.size > mostBytes)
    return { problem: `${file.name} is larger than 4 MB. Import it in parts, or as CSV.` };
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = '';
  // In chunks, because a function call accepts a limited number of arguments.
  for (let at = 0; at < bytes.length; at += 32_768)
    binary += String.fromCharCode(...bytes.subarray(at, at + 32_768));
  return { source: { kind: 'xlsx', data: btoa(binary) } };
}

/** Creates submissions from a file, after a preview of its columns and problems. */
export function ImportScreen(): ReactElement {
  const form = useCurrentForm();
  return (
    <Page
      title="Import submissions"
      width="narrow"
      lead={
        <Link to="/forms/$form/submissions" params={{ form: form.id }}>
          Back to submissions
        </Link>
      }
    >
      <ImportsUnderWay form={form} />
      <ImportForm form={form} />
    </Page>
  );
}

function ImportForm({ form }: { form: FormLocation }): ReactElement {
  const [source, setSource] = useState<SubmissionImportInput>();
  const [name, setName] = useState<string>();
  const [unread, setUnread] = useState<string>();
  const preview = useQuery(submissionImportPreviewQuery(form, source));
  const start = useAction({
    run: (body: SubmissionImportInput) =>
      callOperation(form.workspace_id, 'startSubmissionImport', { params: { id: form.id }, body }),
    onLeave() {
      setSource(undefined);
      setName(undefined);
    },
  });
  const choose = async (file: File | undefined): Promise<void> => {
    if (!file) return;
    setName(file.name);
    start.reset();
    const read = await readSource(file);
    setUnread('problem' in read ? read.problem : undefined);
    setSource('problem' in read ? undefined : read.source);
  };
  const found = source && !preview.error ? preview.data : undefined;
  const isCurrent = found !== undefined && !preview.isFetching;
  const problem = unread ?? preview.error?.message ?? start.error?.message;
  return (
    <>
      <Card title="File">
        <p className="soft">
          A CSV file or an Excel workbook with column names in the first line, exported from Formloom or
          another service. Up to 10,000 lines. Imports do not trigger webhooks or emails.
        </p>
        <div className="row">
          <FileTrigger
            acceptedFileTypes={['text/csv', '.csv', '.tsv', '.txt', '.xlsx']}
            onSelect={(files) => void choose(files?.[0])}
          >
            <Button icon="file">Choose file</Button>
          </FileTrigger>
          {name !== undefined && <span className="soft cut">{name}</span>}
        </div>
        {problem !== undefined && <Message tone="bad">{problem}</Message>}
      </Card>
      {source && found && (
        <>
          <Card title="Columns">
            <ImportColumns preview={found} onChange={(how) => setSource({ ...source, ...how })} />
          </Card>
          <Card title="Preview">
            <ImportOutcome preview={found} />
          </Card>
          <div className="row">
            <Button
              variant="primary"
              isDisabled={!isCurrent || found.total === 0}
              isPending={start.isPending}
              onPress={() => start.mutate({ ...source, mapping: found.mapping })}
            >
              {found.total === 0 ? 'Import' : `Import ${formatSubmissionCount(found.total)}`}
            </Button>
          </div>
        </>
      )}
    </>
  );
}
