import { type ReactElement, useState } from 'react';
import { FileTrigger } from 'react-aria-components/FileTrigger';
import { formatCount } from '#ast/basics/format-number.ts';
import { Button } from '../design/button.tsx';
import { ColumnChoices } from '../design/column-choices.tsx';
import { TextArea } from '../design/field.tsx';
import { readTextFile } from '../design/files.ts';
import { Message } from '../design/message.tsx';
import { Card } from '../design/page.tsx';
import type { SelectChoice } from '../design/select.tsx';
import { Tabs } from '../design/tabs.tsx';
import type {
  ColumnUse,
  InvitationImportInput,
  InvitationImportPreview,
  InvitationsOverview,
} from './invitations-query.ts';

type MappingProps = {
  preview: InvitationImportPreview;
  questions: InvitationsOverview['questions'];
  onChange: (mapping: ColumnUse[]) => void;
};

/** Lets a person choose what each column of the file becomes, and shows its first values. */
function MappingFields({ preview: { columns, mapping }, questions, onChange }: MappingProps): ReactElement {
  const choose = (index: number, id: string): void =>
    onChange(mapping.map((use, at) => (at === index ? columnUse(id, columns[index]!.title) : use)));
  return (
    <ColumnChoices
      columns={columns}
      choices={choicesOf(questions)}
      chosen={columns.map((_, index) => idOf(mapping[index] ?? { as: 'ignore' }))}
      onChoose={choose}
    />
  );
}

const choicesOf = (questions: MappingProps['questions']): SelectChoice<string>[] => [
  { id: 'email', label: 'Email address' },
  { id: 'name', label: 'Name' },
  { id: 'reference', label: 'Reference data', description: 'Saved with the submission' },
  ...questions.map(({ id, label }) => ({
    id: `prefill ${id}`,
    label: `Answer: ${label}`,
    description: 'Prefills the question',
  })),
  { id: 'ignore', label: 'Not used' },
];

const idOf = (use: ColumnUse): string => (use.as === 'prefill' ? `prefill ${use.name}` : use.as);

function columnUse(id: string, title: string): ColumnUse {
  if (id === 'email' || id === 'name' || id === 'ignore') return { as: id };
  if (id === 'reference') return { as: 'reference', name: title.slice(0, 64) };
  return { as: 'prefill', name: id.slice('prefill '.length) };
}

type Props = {
  source: InvitationImportInput;
  onChange: (source: InvitationImportInput) => void;
  questions: InvitationsOverview['questions'];
  /** What the import would do; undefined until it is known. */
  preview: InvitationImportPreview | undefined;
  problem: string | undefined;
};

/** Lets a member choose who is invited: pasted addresses, or a file with a column mapping. */
export function InviteesCard({ source, onChange, questions, preview, problem }: Props): ReactElement {
  // Keeps what was pasted or chosen in one tab while another tab is open.
  const [others, setOthers] = useState<readonly InvitationImportInput[]>([]);
  const [file, setFile] = useState<ChosenFile>();
  const change = (kind: InvitationImportInput['kind']): void => {
    setOthers([...others.filter((other) => other.kind !== source.kind), source]);
    onChange(others.find((other) => other.kind === kind) ?? { kind, text: '' });
  };
  return (
    <Card title="People">
      <Tabs
        label="How to add people"
        value={source.kind}
        onChange={change}
        tabs={[
          {
            id: 'addresses',
            label: 'Paste addresses',
            content: (
              <TextArea
                label="Email addresses"
                description="One per line, or separated by commas. You can add names: Ada Lovelace <ada@example.org>"
                rows={6}
                value={source.kind === 'addresses' ? source.text : ''}
                onChange={(text) => onChange({ kind: 'addresses', text })}
              />
            ),
          },
          {
            id: 'csv',
            label: 'Import a CSV file',
            content: (
              <FileChoice
                file={file}
                onChoose={(chosen, text) => {
                  setFile(chosen);
                  onChange({ kind: 'csv', text });
                }}
              />
            ),
          },
        ]}
      />
      {problem !== undefined && <Message tone="bad">{problem}</Message>}
      {preview && problem === undefined && (
        <>
          {preview.columns.length > 0 && (
            <MappingFields
              preview={preview}
              questions={questions}
              onChange={(mapping) => onChange({ ...source, mapping })}
            />
          )}
          <Outcome preview={preview} />
        </>
      )}
    </Card>
  );
}

/** The chosen file, and the reason if its text could not be read. */
type ChosenFile = { readonly name: string; readonly problem?: string };

function FileChoice({
  file,
  onChoose,
}: {
  file: ChosenFile | undefined;
  onChoose: (file: ChosenFile, text: string) => void;
}): ReactElement {
  const choose = async (chosen: File | undefined): Promise<void> => {
    if (!chosen) return;
    const { name } = chosen;
    const read = await readTextFile(chosen);
    if ('problem' in read) onChoose({ name, problem: read.problem }, '');
    else onChoose({ name }, read.text);
  };
  return (
    <div className="stack">
      <p className="soft">
        Up to 10,000 people. Names are used in the email. Other columns can be saved with the submissions or
        prefill questions.
      </p>
      <div className="row">
        <FileTrigger
          acceptedFileTypes={['text/csv', '.csv', '.txt', '.tsv']}
          onSelect={(files) => void choose(files?.[0])}
        >
          <Button icon="file">Choose file</Button>
        </FileTrigger>
        {file && <span className="soft cut">{file.name}</span>}
      </div>
      {file?.problem !== undefined && <Message tone="bad">{file.problem}</Message>}
    </div>
  );
}

/** Shows how many people will be invited and which lines will be skipped. */
function Outcome({ preview }: { preview: InvitationImportPreview }): ReactElement {
  const { total, unsubscribed, problem_count: wrong, problems } = preview;
  return (
    <div className="stack" role="status">
      <p>
        <strong>{formatCount(total, 'person', 'people')}</strong> will be invited.
        {unsubscribed > 0 && ` Not emailed because they unsubscribed: ${unsubscribed.toLocaleString()}.`}
      </p>
      {wrong > 0 && (
        <Message tone="warn" title={`${formatCount(wrong, 'line is', 'lines are')} skipped`}>
          <ul className="invite-problems" tabIndex={0} aria-label="Skipped lines">
            {problems.map(({ line, message }) => (
              <li key={`${line} ${message}`}>
                Line {line.toLocaleString()}: {message}
              </li>
            ))}
          </ul>
          {wrong > problems.length && `And ${(wrong - problems.length).toLocaleString()} more.`}
        </Message>
      )}
    </div>
  );
}
