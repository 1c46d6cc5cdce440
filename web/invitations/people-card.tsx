import { type ReactElement, useState } from 'react';
import { FileTrigger } from 'react-aria-components/FileTrigger';
import type { ImportPreview, ImportSource, InvitationsOverview } from '#console/invitations/shapes.ts';
import { Button } from '../design/button.tsx';
import { TextArea } from '../design/field.tsx';
import { Message } from '../design/message.tsx';
import { Card } from '../design/page.tsx';
import { Tabs } from '../design/tabs.tsx';
import { MappingFields } from './mapping-fields.tsx';
import { readTextFile } from './read-text-file.ts';

type Props = {
  source: ImportSource;
  onChange: (source: ImportSource) => void;
  questions: InvitationsOverview['questions'];
  /** What the import would do; undefined while that is not known. */
  preview: ImportPreview | undefined;
  problem: string | undefined;
};

/** Who is invited: pasted addresses, or a file with what its columns become. */
export function PeopleCard({ source, onChange, questions, preview, problem }: Props): ReactElement {
  return (
    <Card title="People">
      <Tabs
        label="Where the people come from"
        value={source.kind}
        onChange={(kind) => onChange({ kind, text: '' })}
        tabs={[
          {
            id: 'addresses',
            label: 'Paste addresses',
            content: (
              <TextArea
                label="Email addresses"
                description="One on a line, or between commas. Names may stand before: Ada Lovelace <ada@example.org>"
                rows={6}
                value={source.kind === 'addresses' ? source.text : ''}
                onChange={(text) => onChange({ kind: 'addresses', text })}
              />
            ),
          },
          { id: 'csv', label: 'Import a CSV file', content: <FileChoice onChange={onChange} /> },
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

function FileChoice({ onChange }: { onChange: Props['onChange'] }): ReactElement {
  const [name, setName] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const choose = async (file: File | undefined): Promise<void> => {
    if (!file) return;
    const read = await readTextFile(file);
    setName(file.name);
    setProblem('problem' in read ? read.problem : undefined);
    onChange({ kind: 'csv', text: 'text' in read ? read.text : '' });
  };
  return (
    <div className="stack">
      <p className="soft">
        Up to 10,000 people. A column of names is used in the mail; other columns can travel with the answers,
        or fill in questions beforehand.
      </p>
      <div className="row">
        <FileTrigger
          acceptedFileTypes={['text/csv', '.csv', '.txt', '.tsv']}
          onSelect={(files) => void choose(files?.[0])}
        >
          <Button icon="file">Choose a file</Button>
        </FileTrigger>
        {name !== undefined && <span className="soft cut">{name}</span>}
      </div>
      {problem !== undefined && <Message tone="bad">{problem}</Message>}
    </div>
  );
}

/** How many will be invited, and which lines will not. */
function Outcome({ preview }: { preview: ImportPreview }): ReactElement {
  const { total, unsubscribed, problem_count: wrong, problems } = preview;
  return (
    <div className="stack" role="status">
      <p>
        <strong>{total === 1 ? '1 person' : `${total.toLocaleString()} people`}</strong> will be invited.
        {unsubscribed > 0 &&
          ` ${unsubscribed.toLocaleString()} of them asked for no mails, and will get none.`}
      </p>
      {wrong > 0 && (
        <Message
          tone="warn"
          title={wrong === 1 ? '1 line is left out' : `${wrong.toLocaleString()} lines are left out`}
        >
          <ul className="invite-problems" tabIndex={0} aria-label="Lines that are left out">
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
