import './filter-chips.css';
import { type ReactElement, useState } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import { getProperty } from '#ast/basics/json.ts';
import type { Column } from '#submissions/shapes.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { CheckboxGroup } from '../../design/checkbox.tsx';
import { TextField } from '../../design/field.tsx';
import { FormDialog } from '../../design/form-dialog.tsx';
import { Select } from '../../design/select.tsx';
import {
  beginDraft,
  type ConditionDraft,
  draftOf,
  kindOfSubject,
  readDraft,
  referenceSubject,
  versionSubject,
} from './condition-draft.ts';
import {
  type Condition,
  describeCondition,
  type Operator,
  operatorLabels,
  operatorsByKind,
} from './conditions.ts';

type Props = {
  columns: readonly Column[];
  /** The condition to edit; undefined for a new one. */
  condition: Exclude<Condition, { on: 'program' | 'counted' }> | undefined;
  onClose: () => void;
  onSave: (condition: Condition) => void;
};

/** Edits one condition: its subject, its operator and its values. */
function ConditionDialog({ columns, condition, onClose, onSave }: Props): ReactElement {
  const [draft, setDraft] = useState<ConditionDraft>(() =>
    condition ? draftOf(condition, columns) : beginDraft(columns[0]?.id ?? referenceSubject, columns),
  );
  const [problem, setProblem] = useState<string>();
  const set = (part: Partial<ConditionDraft>): void => {
    setProblem(undefined);
    setDraft({ ...draft, ...part });
  };
  const kind = kindOfSubject(draft.subject, columns, draft.row);
  const rows = rowsOf(draft, columns);
  const save = (): void => {
    const read = readDraft(draft, columns);
    if (typeof read === 'string') setProblem(read);
    else onSave(read);
  };
  return (
    <FormDialog
      title={condition ? 'Edit filter' : 'Add filter'}
      isOpen
      onClose={onClose}
      onSubmit={save}
      submitLabel="Apply"
      error={problem}
    >
      <Select
        label="Question"
        choices={[
          ...columns.map(({ id, label, is_retired }) => ({
            id,
            label: is_retired ? `${label} (no longer asked)` : label,
          })),
          { id: referenceSubject, label: 'Reference value' },
          { id: versionSubject, label: 'Form version' },
        ]}
        value={draft.subject}
        onChange={(subject) => {
          setProblem(undefined);
          setDraft(beginDraft(subject, columns));
        }}
      />
      {rows.length > 0 && (
        <Select
          label="Row"
          choices={[
            { id: wholeAnswer, label: 'Whole question' },
            ...rows.map(({ label }, index) => ({ id: String(index), label })),
          ]}
          value={draft.row === '' ? wholeAnswer : String(rows.findIndex(({ id }) => id === draft.row))}
          onChange={(place) => {
            setProblem(undefined);
            setDraft(beginDraft(draft.subject, columns, rows[Number(place)]?.id));
          }}
        />
      )}
      {kind === 'reference' && (
        <TextField
          label="Name"
          description="The parameter name in the form link, such as “campaign”."
          value={draft.name}
          onChange={(name) => set({ name })}
          autoComplete="off"
        />
      )}
      {kind !== 'version' && (
        <Select<Operator>
          label="Condition"
          choices={operatorsByKind[kind].map((id) => ({ id, label: operatorLabels[id] }))}
          value={draft.op}
          onChange={(op) => set({ op })}
        />
      )}
      <Values draft={draft} kind={kind} columns={columns} onChange={set} />
    </FormDialog>
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
        choices={all.map((option, index) => ({
          id: String(index),
          label: (column && getProperty(column.option_labels, option)) ?? option,
        }))}
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
      description={kind === 'version' ? undefined : 'Not case-sensitive.'}
      value={draft.text}
      onChange={(text) => onChange({ text })}
      autoComplete="off"
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
      <TextField
        label="To"
        description="Both ends are included. You can leave one empty."
        {...props}
        value={draft.to}
        onChange={(to) => onChange({ to })}
      />
    </>
  );
}

/** More conditions than a person can read. The service accepts 100 comparisons. */
const mostConditions = 20;

/** The conditions of the view, as chips that can be edited and removed. All conditions must be met. */
export function FilterChips({
  columns,
  where,
  onChange,
}: {
  columns: readonly Column[];
  where: readonly Condition[];
  onChange: (where: readonly Condition[]) => void;
}): ReactElement {
  /** The index of the edited condition. For a new one, the index after the last. */
  const [at, setAt] = useState<number>();
  const changed = at === undefined ? undefined : where[at];
  return (
    <div className="filter-chips" role="group" aria-label="Filters">
      {where.map((condition, index) => {
        const words = describeCondition(condition, columns);
        return (
          <span key={`${index} ${words}`} className="filter-chip">
            {condition.on === 'program' || condition.on === 'counted' ? (
              <span className="filter-chip-words cut">{words}</span>
            ) : (
              <AriaButton
                className="filter-chip-words cut"
                aria-label={`Edit filter: ${words}`}
                onPress={() => setAt(index)}
              >
                {words}
              </AriaButton>
            )}
            <IconButton
              icon="close"
              size="small"
              label={`Remove filter: ${words}`}
              onPress={() => onChange(where.filter((_, other) => other !== index))}
            />
          </span>
        );
      })}
      {where.length < mostConditions && (
        <Button size="small" variant="quiet" icon="filter" onPress={() => setAt(where.length)}>
          Add filter
        </Button>
      )}
      {at !== undefined && changed?.on !== 'program' && changed?.on !== 'counted' && (
        <ConditionDialog
          columns={columns}
          condition={changed}
          onClose={() => setAt(undefined)}
          onSave={(condition) => {
            setAt(undefined);
            onChange([...where.slice(0, at), condition, ...where.slice(at + 1)]);
          }}
        />
      )}
    </div>
  );
}
