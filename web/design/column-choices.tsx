import './column-choices.css';
import type { ReactElement } from 'react';
import { Select, type SelectChoice } from './select.tsx';

/**
 * Lets a person choose what each column of a file becomes, and shows its first values. `chosen` has the IDs
 * of the choices in column order.
 */
export function ColumnChoices({
  columns,
  choices,
  chosen,
  onChoose,
}: {
  columns: readonly { readonly title: string; readonly samples: readonly string[] }[];
  choices: readonly SelectChoice<string>[];
  chosen: readonly string[];
  onChoose: (index: number, id: string) => void;
}): ReactElement {
  return (
    <div className="column-choices" role="group" aria-label="Column mapping">
      {columns.map(({ title, samples }, index) => (
        <div key={index} className="column-choice">
          <span className="column-choice-words">
            <strong className="cut">{title}</strong>
            <span className="soft small cut">{samples.filter(Boolean).join(' · ') || 'Empty'}</span>
          </span>
          <Select
            label={`Column “${title}”`}
            isLabelHidden
            choices={choices}
            value={chosen[index]!}
            onChange={(id) => onChoose(index, id)}
          />
        </div>
      ))}
    </div>
  );
}
