import './foreign-form-panel.css';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactElement, type ReactNode, useRef, useState } from 'react';
import { FileTrigger } from 'react-aria-components/FileTrigger';
import type { InputOf, ReplyOf } from '#app/operations/operations.ts';
import { formatCount, pluralize } from '#ast/basics/format-number.ts';
import { callWorkspaceOperation } from '../../api/operations.ts';
import { useAction } from '../../design/action.tsx';
import { Button } from '../../design/button.tsx';
import { TextArea } from '../../design/field.tsx';
import { Message } from '../../design/message.tsx';
import type { TextRange } from './json-positions.ts';
import { type PastedProblem, readPastedForm } from './read-pasted-form.ts';

/** An area that accepts a dropped file. */
export function FileDrop({
  onFile,
  children,
}: {
  onFile: (file: File) => void;
  children: ReactNode;
}): ReactElement {
  const [isOver, setOver] = useState(false);
  return (
    <div
      className="file-drop"
      data-over={isOver || undefined}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        setOver(false);
        const [file] = event.dataTransfer.files;
        if (!file) return;
        event.preventDefault();
        onFile(file);
      }}
    >
      {children}
    </div>
  );
}

type Converted = ReplyOf<'convertForm'>;

type Line = Converted['report'][number];

type Document = Readonly<Record<string, unknown>>;

const sources: Readonly<Record<Converted['source'], string>> = {
  typeform: 'a Typeform form',
  formbricks: 'a Formbricks survey',
  tally: 'a Tally form',
  google_forms: 'a form from Google Forms',
  surveyjs: 'a SurveyJS survey',
};

/** The possible outcomes with their headings, worst first. */
const outcomes = [
  ['left_out', 'Not imported'],
  ['changed', 'Changed'],
  ['mapped', 'Imported'],
] as const satisfies readonly (readonly [Line['outcome'], string])[];

/** Shows how each part of a form from another service will be imported, before it is created. */
function ForeignFormPanel({
  workspaceId,
  document,
  onBack,
}: {
  workspaceId: string;
  document: Document;
  onBack: () => void;
}): ReactElement {
  const navigate = useNavigate();
  const looked = useQuery({
    queryKey: ['foreign form', workspaceId, document],
    queryFn: () => callWorkspaceOperation(workspaceId, 'convertForm', { body: { document } }),
    gcTime: 0,
    retry: false,
  });
  const create = useAction({
    run: () => callWorkspaceOperation(workspaceId, 'importForm', { body: { document } }),
    onLeave: ({ id }) => navigate({ to: '/forms/$form', params: { form: id } }),
  });
  const found = looked.data;
  const problem = looked.error ?? create.error;
  return (
    <div className="foreign-form">
      {problem && <Message tone="bad">{problem.message}</Message>}
      {looked.isPending && <p role="status">Reading the form…</p>}
      {found && <Report found={found} />}
      <div className="spread">
        <Button onPress={onBack}>Back to JSON</Button>
        {found && (
          <Button variant="primary" autoFocus {...create.press()}>
            Create form
          </Button>
        )}
      </div>
    </div>
  );
}

function Report({ found }: { found: Converted }): ReactElement {
  const { source, report, report_count, problems } = found;
  return (
    <>
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
    </>
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
              {part !== undefined && <strong>{part}</strong>} <code className="small">{path || 'Form'}</code>
            </span>
            <span>{message}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}

/**
 * Reads a form from pasted, dropped or chosen JSON. Shows where it is invalid, and recognizes exports of
 * other services.
 */
export function PastedFormPanel({
  workspaceId,
  text,
  onChange,
  onCreate,
  isPending,
}: {
  workspaceId: string;
  text: string;
  onChange: (text: string) => void;
  onCreate: (form: InputOf<'createForm'>['body']) => void;
  isPending: boolean;
}): ReactElement {
  const [problems, setProblems] = useState<readonly PastedProblem[]>([]);
  const [foreign, setForeign] = useState<Readonly<Record<string, unknown>>>();
  const area = useRef<HTMLTextAreaElement>(null);
  const change = (next: string): void => {
    onChange(next);
    setProblems([]);
  };
  const create = (): void => {
    const read = readPastedForm(text);
    if (!read.ok) setProblems(read.problems);
    else if ('document' in read) setForeign(read.document);
    else onCreate({ structure: read.structure, settings: read.settings });
  };
  const takeFile = async (file: File | undefined): Promise<void> => {
    if (file) change(await file.text());
  };
  if (foreign)
    return (
      <ForeignFormPanel workspaceId={workspaceId} document={foreign} onBack={() => setForeign(undefined)} />
    );
  return (
    <FileDrop onFile={(file) => void takeFile(file)}>
      <TextArea
        label="Form as JSON"
        description="A form from the API or “Export as JSON”, or an export from Typeform, Formbricks, Tally, Google Forms or SurveyJS. Paste it, drop a file here, or choose a file."
        value={text}
        onChange={change}
        rows={14}
        inputRef={area}
        spellCheck="false"
      />
      {problems.length > 0 && <Problems problems={problems} onGo={(place) => select(area.current, place)} />}
      <div className="spread">
        <FileTrigger
          acceptedFileTypes={['application/json', '.json']}
          onSelect={(files) => void takeFile(files?.[0])}
        >
          <Button icon="file">Choose a file</Button>
        </FileTrigger>
        <Button variant="primary" onPress={create} isPending={isPending}>
          Create form
        </Button>
      </div>
    </FileDrop>
  );
}

function Problems({
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

/** Selects a range in the text and scrolls to it. */
function select(area: HTMLTextAreaElement | null, { start, end, line }: TextRange): void {
  if (!area) return;
  area.focus();
  area.setSelectionRange(start, end);
  const lineHeight = area.scrollHeight / Math.max(1, area.value.split('\n').length);
  area.scrollTop = Math.max(0, (line - 3) * lineHeight);
}
