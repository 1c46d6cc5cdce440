import type { ReactElement } from 'react';
import { ColumnChoices } from '../design/column-choices.tsx';
import type { Choice } from '../design/select.tsx';
import type { ColumnUse, ImportPreview, InvitationsOverview } from './invitations-query.ts';

type Props = {
  preview: ImportPreview;
  questions: InvitationsOverview['questions'];
  onChange: (mapping: ColumnUse[]) => void;
};

/** What each column of the file becomes, beside its first values. */
export function MappingFields({ preview: { columns, mapping }, questions, onChange }: Props): ReactElement {
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

const choicesOf = (questions: Props['questions']): Choice<string>[] => [
  { id: 'email', label: 'Email address' },
  { id: 'name', label: 'Name' },
  { id: 'reference', label: 'Reference data', description: 'Travels with the answers' },
  ...questions.map(({ id, label }) => ({
    id: `prefill ${id}`,
    label: `Answer: ${label}`,
    description: 'Fills in the question',
  })),
  { id: 'ignore', label: 'Not used' },
];

const idOf = (use: ColumnUse): string => (use.as === 'prefill' ? `prefill ${use.name}` : use.as);

function columnUse(id: string, title: string): ColumnUse {
  if (id === 'email' || id === 'name' || id === 'ignore') return { as: id };
  if (id === 'reference') return { as: 'reference', name: title.slice(0, 64) };
  return { as: 'prefill', name: id.slice('prefill '.length) };
}
