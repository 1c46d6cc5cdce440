import './filter-chips.css';
import { type ReactElement, useState } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import type { Column } from '#submissions/shapes.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { ConditionDialog } from './condition-dialog.tsx';
import { type Condition, sayCondition } from './conditions.ts';

/** More than a person reads; the service takes 100 comparisons. */
const mostConditions = 20;

/** The conditions of the view as chips: pressed to change, crossed out to remove. All of them hold. */
export function FilterChips({
  columns,
  where,
  onChange,
}: {
  columns: readonly Column[];
  where: readonly Condition[];
  onChange: (where: readonly Condition[]) => void;
}): ReactElement {
  /** The place of the condition that is being written; behind the last for a new one. */
  const [at, setAt] = useState<number>();
  const changed = at === undefined ? undefined : where[at];
  return (
    <div className="filter-chips" role="group" aria-label="Filters">
      {where.map((condition, index) => {
        const words = sayCondition(condition, columns);
        return (
          <span key={`${index} ${words}`} className="filter-chip">
            {condition.on === 'program' || condition.on === 'counted' ? (
              <span className="filter-chip-words cut">{words}</span>
            ) : (
              <AriaButton
                className="filter-chip-words cut"
                aria-label={`Change filter: ${words}`}
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
