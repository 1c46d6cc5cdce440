import { Link } from '@tanstack/react-router';
import type { ReactElement, ReactNode } from 'react';
import type { ElementType } from '#ast/form/elements.ts';
import type { SummaryBar } from '#search/filter/summary-bar.ts';
import type { Bar, ElementSummary } from '#submissions/shapes.ts';
import { useCurrentForm } from '../../shell/session.ts';
import { type FilterCondition, kindOfColumn } from '../filter/conditions.ts';
import { useViewState, type ViewState } from '../view-state.ts';

/** The filter that a link applies to the table. */
export type LinkFilter = Partial<Pick<ViewState, 'status' | 'from' | 'to' | 'where' | 'open'>>;

/** A link from a number in the summary to the submissions that it counts, with the filters of the summary. */
export function SubmissionsLink({
  narrowed,
  className,
  isDoubled = false,
  children,
}: {
  narrowed: LinkFilter;
  className?: string;
  /** Whether the table below has this link too. If so, Tab skips this one. */
  isDoubled?: boolean;
  children: ReactNode;
}): ReactElement {
  const form = useCurrentForm();
  const [{ from, to, status, where }] = useViewState();
  const all = [...where, ...(narrowed.where ?? [])];
  // The table can select only one bar that no other condition expresses.
  if (all.filter(({ on }) => on === 'counted').length > 1)
    return <span className={className}>{children}</span>;
  const search = {
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(status !== undefined && { status }),
    ...narrowed,
    ...(all.length > 0 && { where: all }),
  };
  return (
    <Link
      to="/forms/$form/submissions"
      params={{ form: form.id }}
      search={search}
      {...(className !== undefined && { className })}
      {...(isDoubled && { tabIndex: -1 })}
    >
      {children}
    </Link>
  );
}

const counted = (value: SummaryBar): FilterCondition => ({ on: 'counted', op: 'equals', value });

/** Returns the condition that a question was answered, in any row. */
export const answeredCondition = ({ id, group }: Pick<ElementSummary, 'id' | 'group'>): FilterCondition =>
  group === null ? { on: 'answer', name: id, op: 'filled' } : counted({ element: id, by: 'answered' });

/**
 * Returns the condition that finds the submissions that a bar counts, or undefined if it counts none.
 * @param row for a matrix, the row that the bars belong to.
 */
export function barCondition(
  { id, group, chart, type }: Pick<ElementSummary, 'id' | 'group' | 'chart' | 'type'>,
  bar: Bar,
  row?: string,
): FilterCondition | undefined {
  if (bar.count === 0) return undefined;
  const answer = { on: 'answer', name: id } as const;
  const option = bar.option ?? bar.label;
  switch (chart) {
    case 'options': {
      const kind = kindOfColumn({ type: type as ElementType });
      if (group !== null)
        return counted({ element: id, by: 'option', value: kind === 'yes_no' ? option === 'Yes' : option });
      if (kind === 'yes_no') return { ...answer, op: 'equals', value: option === 'Yes' };
      if (kind === 'text') return { ...answer, op: 'equals', value: option };
      return kind === 'choice' || kind === 'choices' ? { ...answer, op: 'any', values: [option] } : undefined;
    }
    case 'grid':
      return row === undefined ? undefined : { ...answer, row, op: 'any', values: [option] };
    case 'texts':
      if (group !== null) return counted({ element: id, by: 'text', value: bar.label });
      return { ...answer, op: 'equals', value: bar.label };
    case 'given':
      return answeredCondition({ id, group });
    case 'histogram':
    case 'levels':
    case 'recommendation':
      if (group !== null) return spanOf(id, bar);
      return typeof bar.from === 'number' && typeof bar.to === 'number'
        ? { ...answer, op: 'number', from: bar.from, to: bar.to }
        : undefined;
    case 'months':
    case 'hours':
      if (group !== null) return spanOf(id, bar);
      return typeof bar.from === 'string' && typeof bar.to === 'string'
        ? { ...answer, op: 'time', from: bar.from, to: bar.to }
        : undefined;
    case 'ranking':
      return counted({ element: id, by: 'first', value: option });
    case 'files':
      return counted({ element: id, by: 'file', value: bar.label });
    case 'rows':
      return typeof bar.from === 'number' && typeof bar.to === 'number'
        ? counted({ element: id, by: 'rows', from: bar.from, to: bar.to })
        : undefined;
    case 'count':
      return undefined;
    default:
      return chart satisfies never;
  }
}

const spanOf = (element: string, { from, to }: Bar): FilterCondition | undefined =>
  from === undefined || to === undefined ? undefined : counted({ element, by: 'span', from, to });
