import { type ReactElement, useRef } from 'react';
import type { Column } from '#submissions/shapes.ts';
import { Button } from '../../design/button.tsx';
import { Select } from '../../design/select.tsx';
import { useFocusHandover } from '../../design/use-focus-handover.ts';
import type { ComparedAnswers } from '../view-state.ts';
import { listAnswers, listComparable } from './compared-groups.ts';

/** Chooses the question and the two answers by which submissions are compared. */
export function CompareBar({
  columns,
  compare,
  onChange,
}: {
  columns: readonly Column[];
  /** Undefined without a comparison. */
  compare: ComparedAnswers | undefined;
  onChange: (compare: ComparedAnswers | undefined) => void;
}): ReactElement | null {
  const bar = useRef<HTMLDivElement>(null);
  const handOver = useFocusHandover();
  const questions = listComparable(columns);
  if (questions.length === 0) return null;
  const begin = (column: Column): void => {
    const [first, other] = listAnswers(column);
    onChange({ name: column.id, values: [first!.value, other!.value] });
  };
  const focusOn = (selector: string): void =>
    handOver(() => bar.current?.querySelector<HTMLElement>(selector));
  const chosen = questions.find(({ id }) => id === compare?.name);
  const answers = chosen && listAnswers(chosen);
  return (
    <div ref={bar} className="compare-bar" role="group" aria-label="Compare two groups">
      {compare && chosen && answers ? (
        <>
          <Select
            label="Compare by"
            choices={questions.map(({ id, label }) => ({ id, label }))}
            value={chosen.id}
            onChange={(id) => begin(questions.find((question) => question.id === id)!)}
          />
          {(['Group A', 'Group B'] as const).map((label, index) => (
            <Select
              key={label}
              label={label}
              // Options are selected by position, because any text can be an option.
              choices={answers.map((answer, place) => ({ id: String(place), label: answer.label }))}
              value={String(answers.findIndex(({ value }) => value === compare.values[index]))}
              onChange={(place) => {
                const values = [...compare.values] as [string, string];
                const { value } = answers[Number(place)]!;
                // The answer of the other group swaps the groups.
                if (values.includes(value)) values[1 - index] = values[index]!;
                values[index] = value;
                onChange({ ...compare, values });
              }}
            />
          ))}
          <Button
            variant="quiet"
            icon="close"
            onPress={() => {
              focusOn(':scope > button:only-child');
              onChange(undefined);
            }}
          >
            Stop comparing
          </Button>
        </>
      ) : (
        <Button
          size="small"
          icon="columns"
          onPress={() => {
            focusOn('.field button');
            begin(questions[0]!);
          }}
        >
          Compare two groups
        </Button>
      )}
    </div>
  );
}
