import { type ReactElement, useLayoutEffect, useRef, useState } from 'react';
import type { Column } from '#submissions/shapes.ts';
import { Button } from '../../design/button.tsx';
import { CheckboxGroup } from '../../design/checkbox.tsx';
import { afterFocusReturned } from '../../design/dialog.tsx';
import { TextField } from '../../design/field.tsx';
import { Form } from '../../design/form.tsx';
import { Select } from '../../design/select.tsx';
import {
  beginDraft,
  type ConditionDraft,
  conditionOfDraft,
  type EditableCondition,
  kindOfSubject,
  subjectsOf,
} from './condition-draft.ts';
import { type FilterOperator, labelOfOperator, labelOfOption, operatorsByKind } from './conditions.ts';

type Props = {
  label: string;
  columns: readonly Column[];
  begin: ConditionDraft;
  /** Whether the question is chosen, so that the value comes next. */
  isQuestionChosen: boolean;
  onClose: () => void;
  onSave: (condition: EditableCondition) => void;
};

/** Edits one condition below the chips: its subject, its operator and its values. */
export function FilterEditor({
  label,
  columns,
  begin,
  isQuestionChosen,
  onClose,
  onSave,
}: Props): ReactElement {
  const [draft, setDraft] = useState(begin);
  const [problem, setProblem] = useState<string>();
  const form = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const focus = (): void => {
      const find = (selector: string) => form.current?.querySelector<HTMLElement>(selector);
      if (form.current?.contains(document.activeElement)) return;
      const value = find('.filter-values input') ?? find('.filter-test button');
      (isQuestionChosen ? value : find('button'))?.focus();
    };
    focus();
    // A closing menu takes the focus back to its button.
    afterFocusReturned(focus);
  }, [isQuestionChosen]);
  const change = (next: ConditionDraft): void => {
    setProblem(undefined);
    setDraft(next);
  };
  const set = (part: Partial<ConditionDraft>): void => change({ ...draft, ...part });
  const kind = kindOfSubject(draft.subject, columns, draft.row);
  const rows = rowsOf(draft, columns);
  const save = (): void => {
    const read = conditionOfDraft(draft, columns);
    if (typeof read === 'string') setProblem(read);
    else onSave(read);
  };
  return (
    <div
      ref={form}
      role="group"
      aria-label={label}
      className="filter-editor"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.defaultPrevented) return;
        event.stopPropagation();
        onClose();
      }}
    >
      <Form isPending={false} onSubmit={save} className="filter-editor-fields">
        <Select
          label="Question"
          choices={subjectsOf(columns)}
          value={draft.subject}
          onChange={(subject) => change(beginDraft(subject, columns))}
        />
        {rows.length > 0 && (
          <Select
            label="Row"
            choices={[
              { id: wholeAnswer, label: 'Whole question' },
              ...rows.map((row, index) => ({ id: String(index), label: row.label })),
            ]}
            value={draft.row === '' ? wholeAnswer : String(rows.findIndex(({ id }) => id === draft.row))}
            onChange={(place) => change(beginDraft(draft.subject, columns, rows[Number(place)]?.id))}
          />
        )}
        {kind === 'reference' && (
          <div className="filter-values">
            <TextField
              label="Name"
              placeholder="campaign"
              value={draft.name}
              onChange={(name) => set({ name })}
            />
          </div>
        )}
        {kind !== 'version' && (
          <Select<FilterOperator>
            label="Condition"
            className="filter-test"
            choices={operatorsByKind[kind].map((id) => ({ id, label: labelOfOperator(id, draft.subject) }))}
            value={draft.op}
            onChange={(op) => set({ op })}
          />
        )}
        <div className="filter-values">
          <Values draft={draft} kind={kind} columns={columns} onChange={set} />
        </div>
        <div className="filter-editor-actions">
          <Button type="submit" variant="primary">
            Apply
          </Button>
          <Button variant="quiet" onPress={onClose}>
            Cancel
          </Button>
        </div>
      </Form>
      <p className="field-error" role="alert">
        {problem}
      </p>
    </div>
  );
}

/** Rows are selected by position, because any text can be a row's ID. */
const wholeAnswer = 'whole';

/** Returns the rows of a matrix, plus a removed row that the condition still uses. */
function rowsOf({ subject, row }: ConditionDraft, columns: readonly Column[]): Column['rows'] {
  const column = columns.find(({ id }) => id === subject);
  if (column?.type !== 'matrix') return [];
  const isKnown = row === '' || column.rows.some(({ id }) => id === row);
  return isKnown ? column.rows : [...column.rows, { id: row, label: row }];
}

function Values({
  draft,
  kind,
  columns,
  onChange,
}: {
  draft: ConditionDraft;
  kind: ReturnType<typeof kindOfSubject>;
  columns: readonly Column[];
  onChange: (part: Partial<ConditionDraft>) => void;
}): ReactElement | null {
  const column = columns.find(({ id }) => id === draft.subject);
  if (draft.op === 'between') return <Range draft={draft} type={column?.type} onChange={onChange} />;
  if (draft.op === 'any' || draft.op === 'all') {
    const options = column?.options ?? [];
    // Options are selected by position, because any text can be an option. Options of older versions stay in
    // the list while they are selected.
    const all = [...options, ...draft.values.filter((value) => !options.includes(value))];
    return (
      <CheckboxGroup
        label="Options"
        choices={all.map((option, index) => ({ id: String(index), label: labelOfOption(column, option) }))}
        value={all.flatMap((option, index) => (draft.values.includes(option) ? [String(index)] : []))}
        onChange={(ids) => onChange({ values: all.filter((_, index) => ids.includes(String(index))) })}
      />
    );
  }
  if (draft.op !== 'contains' && draft.op !== 'equals') return null;
  return (
    <TextField
      label={kind === 'version' ? 'Version' : 'Text'}
      {...(kind === 'version' && { inputMode: 'numeric' as const })}
      value={draft.text}
      onChange={(text) => onChange({ text })}
    />
  );
}

const inputTypes: Readonly<Record<string, string>> = {
  date: 'date',
  time: 'time',
  datetime: 'datetime-local',
};

function Range({
  draft,
  type,
  onChange,
}: {
  draft: ConditionDraft;
  type: string | undefined;
  onChange: (part: Partial<ConditionDraft>) => void;
}): ReactElement {
  const input = inputTypes[type ?? ''];
  const props = input ? { type: input } : { inputMode: 'decimal' as const };
  return (
    <>
      <TextField label="From" {...props} value={draft.from} onChange={(from) => onChange({ from })} />
      <TextField label="To" {...props} value={draft.to} onChange={(to) => onChange({ to })} />
    </>
  );
}
