import './comparison.css';
import { Fragment, type ReactElement, type ReactNode, useRef } from 'react';
import { formatCount } from '#ast/basics/format-number.ts';
import { getProperty } from '#ast/basics/json.ts';
import type { Bar, Column, ElementSummary } from '#submissions/shapes.ts';
import { PipedText } from '../../design/author-text.tsx';
import { Button } from '../../design/button.tsx';
import { Select } from '../../design/select.tsx';
import { formatMonth } from '../../design/time.tsx';
import { useFocusHandover } from '../../design/use-focus-handover.ts';
import { type FilterCondition, kindOfColumn, toApiParameters } from '../filter/conditions.ts';
import type { ComparedAnswers } from '../view-state.ts';
import { barCondition, SubmissionsLink } from './bar-links.tsx';
import {
  BarFrame,
  ChartDataTable,
  countFirst,
  Figure,
  FigureNote,
  fewBars,
  groupPromoters,
  heightOf,
  LongList,
  percent,
  promotersLabel,
} from './charts.tsx';

/** One of two groups of submissions: those that gave this answer. */
type ComparedGroup = { letter: 'A' | 'B'; label: string; condition: FilterCondition };
type Comparison = readonly [ComparedGroup, ComparedGroup];

/** The answers to a question that can define a group; empty if it has no fixed answers. */
function listAnswers(column: Column): { value: string; label: string }[] {
  const kind = kindOfColumn(column);
  if (kind === 'yes_no') return ['Yes', 'No'].map((value) => ({ value, label: value }));
  if (kind !== 'choice' && kind !== 'choices' && kind !== 'number') return [];
  return column.options.map((value) => ({ value, label: getProperty(column.option_labels, value) ?? value }));
}

/** Returns the questions by whose answers submissions can be compared. */
const listComparable = (columns: readonly Column[]): Column[] =>
  columns.filter((column) => listAnswers(column).length > 1);

function conditionOf(column: Column, value: string): FilterCondition {
  const answer = { on: 'answer', name: column.id } as const;
  const kind = kindOfColumn(column);
  if (kind === 'yes_no') return { ...answer, op: 'equals', value: value === 'Yes' };
  if (kind === 'number') return { ...answer, op: 'number', from: Number(value), to: Number(value) };
  return { ...answer, op: 'any', values: [value] };
}

/** Returns the compared groups; undefined if the question no longer has these answers. */
export function findComparison(
  compare: ComparedAnswers | undefined,
  columns: readonly Column[],
): Comparison | undefined {
  const column = compare && columns.find(({ id }) => id === compare.name);
  if (!column) return undefined;
  const answers = listAnswers(column);
  const [first, other] = compare.values.map((value) => answers.find((answer) => answer.value === value));
  return first && other
    ? [
        { letter: 'A', label: first.label, condition: conditionOf(column, first.value) },
        { letter: 'B', label: other.label, condition: conditionOf(column, other.value) },
      ]
    : undefined;
}

/** Returns the parameter `compare` of the API. */
export const toCompareParameter = (comparison: Comparison): string =>
  `[${comparison.map(({ condition }) => toApiParameters([condition]).where).join()}]`;

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
                if (values[1 - index] === value) values[1 - index] = values[index]!;
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

/** Two groups, and how many of their submissions the charts cover. */
export type ComparedSample = { comparison: Comparison; sampled: readonly [number, number] };

/** The letter of a group, in its color and pattern, with its name for screen readers. */
export const GroupMark = ({ group: { letter, label } }: { group: ComparedGroup }): ReactElement => (
  <>
    <span className={`group-mark group-${letter}`} aria-hidden="true">
      {letter}
    </span>
    <span className="unseen">
      <bdi>{label}</bdi>:{' '}
    </span>
  </>
);

/** Shows how many answers each group has. */
export const GroupAnswers = ({
  element: { groups },
  comparison,
}: {
  element: ElementSummary;
  comparison: Comparison;
}): ReactNode =>
  comparison.map((group, index) => (
    <Fragment key={group.letter}>
      {index > 0 && ', '}
      <GroupMark group={group} /> {formatCount(groups?.[index]?.answered ?? 0, 'answer')}
    </Fragment>
  ));

/** The number and share of a group in one bar. */
type Share = { group: ComparedGroup; count: number; share: number; content: ReactNode };
type ComparedBar = { label: string; shares: readonly Share[] };

/** Returns the bars with the share of each group, of `totals`. @param row the row of a matrix. */
function compareBars(
  element: ElementSummary,
  bars: readonly Bar[],
  { comparison, totals, row }: { comparison: Comparison; totals: readonly number[]; row?: string },
): ComparedBar[] {
  return bars.map((bar) => ({
    label: element.chart === 'months' ? formatMonth(bar.label) : bar.label,
    shares: comparison.map((group, index) => {
      const count = bar.groups?.[index] ?? 0;
      const share = count === 0 ? 0 : count / (totals[index] ?? count);
      const condition = barCondition(element, { ...bar, count }, row);
      const text = count.toLocaleString();
      const where = condition && [group.condition, condition];
      const content = where ? <SubmissionsLink narrowed={{ where }}>{text}</SubmissionsLink> : text;
      return { group, count, share, content };
    }),
  }));
}

/** Shows the answers of both groups to a question side by side, as counts and shares. */
export function ComparedChart({
  element,
  compared: { comparison, sampled },
}: {
  element: ElementSummary;
  compared: ComparedSample;
}): ReactElement {
  const { bars, chart, rows, groups = [], group, label } = element;
  const totals =
    chart === 'files'
      ? comparison.map((_, index) => bars.reduce((sum, bar) => sum + (bar.groups?.[index] ?? 0), 0))
      : chart === 'given' && group === null
        ? sampled
        : groups.map(({ answered }) => answered);
  if (rows)
    return (
      <>
        {rows.map((row) => (
          <section key={row.id} className="compared-row">
            <h3>{row.label}</h3>
            <ComparedBars
              label={`${label}, ${row.label}`}
              bars={compareBars(element, row.bars, { comparison, totals: row.groups ?? [], row: row.id })}
            />
          </section>
        ))}
      </>
    );
  const shown = compareBars(element, bars, { comparison, totals });
  return (
    <>
      {groups.some(({ numbers }) => numbers) && (
        <div>
          <div className="compared-figures">
            {comparison.map((each, index) => (
              <div key={each.letter}>
                <GroupMark group={each} />
                <Figure chart={chart} of={groups[index]!} />
              </div>
            ))}
          </div>
          <FigureNote of={element} />
        </div>
      )}
      {chart === 'recommendation' && (
        <Lines
          label={promotersLabel}
          bars={compareBars(element, groupPromoters(bars), { comparison, totals })}
        />
      )}
      {shown.length === 0 ? (
        <p className="soft small">No answer was given more than once.</p>
      ) : (
        <ComparedBars
          label={label}
          bars={shown}
          first={countFirst(element)}
          isScale={chart in scales}
          isTableOpen={chart !== 'recommendation'}
        />
      )}
    </>
  );
}

/** Charts whose bars are drawn side by side along a scale if there are many. */
const scales = { levels: true, recommendation: true, histogram: true, rows: true, months: true, hours: true };

/** Draws the bars of both groups, with a table of the same numbers. */
function ComparedBars({
  label,
  bars,
  first = bars.length,
  isScale = false,
  isTableOpen = false,
}: {
  label: string;
  bars: readonly ComparedBar[];
  /** The number of bars to show at first. */
  first?: number;
  isScale?: boolean;
  /** Whether the numbers of columns are shown, because nothing else shows them. */
  isTableOpen?: boolean;
}): ReactElement {
  const heads = bars[0]!.shares.flatMap(({ group }) => [
    `${group.letter}: ${group.label}`,
    `Share of ${group.letter}`,
  ]);
  const areColumns = isScale && bars.length > fewBars;
  return (
    <>
      {areColumns ? (
        <Columns bars={bars} />
      ) : (
        <LongList
          label={label}
          items={bars}
          first={first}
          draw={(items) => <Lines label={label} bars={items} />}
        />
      )}
      <ChartDataTable
        caption={label}
        isOpen={areColumns && isTableOpen}
        heads={['Answer', ...heads]}
        rows={bars.map(({ label: name, shares }) => [
          name,
          ...shares.flatMap(({ content, share }) => [content, percent.format(share)]),
        ])}
      />
    </>
  );
}

function Lines({ label, bars }: { label: string; bars: readonly ComparedBar[] }): ReactElement {
  return (
    <ul className="lying-bars" aria-label={label}>
      {bars.map(({ label: name, shares }, index) => (
        // Two options can have the same label.
        <li key={`${index} ${name}`} className="compared-bar">
          <span className="compared-label">
            <PipedText text={name} />
          </span>
          <span className="compared-lines">
            {shares.map(({ group, share, content }) => (
              <span key={group.letter} className="compared-line">
                <GroupMark group={group} />
                <span className="compared-track">
                  <span className={`group-${group.letter}`} style={{ inlineSize: `${share * 100}%` }} />
                </span>
                <span className="numeric small">
                  {content} <span className="soft">{percent.format(share)}</span>
                </span>
              </span>
            ))}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Draws pairs of vertical bars. The height is the share, because the groups differ in size. */
function Columns({ bars }: { bars: readonly ComparedBar[] }): ReactElement {
  const most = Math.max(...bars.flatMap(({ shares }) => shares.map(({ share }) => share))) || 1;
  return (
    <BarFrame top={percent.format(most)} labels={bars.map(({ label }) => label)}>
      {bars.map(({ label, shares }) => {
        const words = shares.map(
          ({ group, count, share }) => `${group.letter} ${count.toLocaleString()} (${percent.format(share)})`,
        );
        return (
          <span key={label} className="compared-column" title={`${label}: ${words.join(', ')}`}>
            {shares.map(({ group, share }) => (
              <span key={group.letter} className={`group-${group.letter}`} style={heightOf(share / most)} />
            ))}
          </span>
        );
      })}
    </BarFrame>
  );
}
