import { type ReactElement, useState } from 'react';
import { Button, IconButton } from '../../../design/button.tsx';
import { TextField } from '../../../design/field.tsx';
import { Form } from '../../../design/form.tsx';
import {
  EditErrorMessage,
  type EditProps,
  mergePatchOf,
  UnsavedGuard,
  useFinishEdit,
  useSubmissionChange,
} from './use-change.tsx';

type Line = { key: number; name: string; value: string };

/** Edits the reference data as a list of names and values. */
export function ReferenceDataForm({ form, submission, onDone }: EditProps): ReactElement {
  const [begun, setBegun] = useState(submission);
  const [lines, setLines] = useState<readonly Line[]>(() => linesOf(begun.reference));
  const { noteSent, end } = useFinishEdit(lines, {
    onDone,
    goOn: ({ metadata: { reference } }) => setBegun({ ...begun, reference }),
  });
  const change = useSubmissionChange(form, begun, { onDone: end });
  const names = lines.map(({ name }) => name.trim()).filter((name) => name !== '');
  const isDirty = wordsOf(lines) !== wordsOf(linesOf(begun.reference));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  const edit = (key: number, part: Partial<Line>): void =>
    setLines(lines.map((line) => (line.key === key ? { ...line, ...part } : line)));
  const add = (): void =>
    setLines([...lines, { key: Math.max(0, ...lines.map((line) => line.key)) + 1, name: '', value: '' }]);
  const save = (): void => {
    if (twice !== undefined || lines.some(isNameless)) return;
    const named = lines.filter(({ name }) => name.trim() !== '');
    const values = Object.fromEntries(named.map(({ name, value }) => [name.trim(), value]));
    noteSent();
    change.mutate({ reference: mergePatchOf(begun.reference, values) });
  };
  return (
    <section className="panel-section">
      <h3>Reference data</h3>
      <Form className="stack" validationBehavior="native" isPending={change.isPending} onSubmit={save}>
        {lines.map(({ key, name, value }, index) => (
          <div key={key} className="reference-line" role="group" aria-label={`Entry ${index + 1}`}>
            <TextField
              label="Name"
              value={name}
              onChange={(text) => edit(key, { name: text })}
              autoFocus={index === lines.length - 1}
              error={
                twice !== undefined && name.trim() === twice
                  ? 'This name is used twice.'
                  : isNameless({ name, value })
                    ? 'A value needs a name.'
                    : undefined
              }
            />
            <TextField label="Value" value={value} onChange={(text) => edit(key, { value: text })} />
            <IconButton
              icon="remove"
              label={`Remove entry ${index + 1}`}
              onPress={() => setLines(lines.filter((line) => line.key !== key))}
            />
          </div>
        ))}
        {change.error && <EditErrorMessage error={change.error} onDiscard={onDone} />}
        <UnsavedGuard isDirty={isDirty} />
        <div className="spread">
          <Button size="small" icon="add" onPress={add}>
            Add entry
          </Button>
          <div className="row">
            <Button onPress={onDone}>Cancel</Button>
            <Button type="submit" variant="primary" isPending={change.isPending}>
              Save
            </Button>
          </div>
        </div>
      </Form>
    </section>
  );
}

function linesOf(reference: Readonly<Record<string, string>>): Line[] {
  const lines = Object.entries(reference).map(([name, value], key) => ({ key, name, value }));
  return lines.length > 0 ? lines : [{ key: 0, name: '', value: '' }];
}

const wordsOf = (lines: readonly Line[]): string =>
  JSON.stringify(lines.map(({ name, value }) => [name, value]));

/** Whether a value has no name. A row without a name and value is ignored. */
const isNameless = ({ name, value }: Pick<Line, 'name' | 'value'>): boolean =>
  name.trim() === '' && value.trim() !== '';
