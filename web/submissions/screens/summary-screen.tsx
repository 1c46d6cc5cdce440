import './summary-screen.css';
import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { formatCount } from '#ast/basics/format-number.ts';
import type { Column, ElementSummary, Summary, SummarySample } from '#submissions/shapes.ts';
import { Button } from '../../design/button.tsx';
import { CopyField } from '../../design/copy-button.tsx';
import { Card, Page } from '../../design/page.tsx';
import { EmptyState, QueryState, SlowNote } from '../../design/states.tsx';
import { formatDate } from '../../design/time.tsx';
import { mayEdit, useCurrentForm } from '../../shell/session.ts';
import { describeCondition } from '../filter/conditions.ts';
import { columnsQuery, formatSubmissionCount, summaryQuery } from '../queries.ts';
import { type LinkFilter, SubmissionsLink } from '../summary/bar-links.tsx';
import { VerticalBars } from '../summary/charts.tsx';
import {
  CompareBar,
  type ComparedSample,
  findComparison,
  GroupMark,
  toCompareParameter,
} from '../summary/comparison.tsx';
import { ElementCard } from '../summary/element-card.tsx';
import { ShareResults } from '../summary/share-results.tsx';
import { VisitsCard } from '../summary/visits-card.tsx';
import {
  dateDaysAgo,
  isViewFiltered,
  statusLabels,
  toFilterParameters,
  unfilteredView,
  useViewState,
  type ViewState,
} from '../view-state.ts';
import { formatPeriod, ViewFilters } from './toolbar.tsx';

/** The summary of a form's submissions: totals, visits, days, and a chart for each question. */
export function SummaryScreen(): ReactElement {
  const form = useCurrentForm();
  const [found, changeView] = useViewState();
  // The summary has no search.
  const view = { ...found, q: undefined };
  const { data: columns, isPending: areColumnsPending } = useQuery(columnsQuery(form));
  const comparison = findComparison(view.compare, columns ?? []);
  const compare = comparison && toCompareParameter(comparison);
  /** The form and filters for which all submissions were requested. Others start with the newest again. */
  const span = JSON.stringify([form.id, toFilterParameters(view)]);
  const [whole, setWhole] = useState<string>();
  const sample = whole === span ? 'all' : 'newest';
  const query = useQuery({
    ...summaryQuery(form, view, { sample, compare }),
    // The columns say what is compared.
    enabled: view.compare === undefined || !areColumnsPending,
  });
  const isFiltered = isViewFiltered(view);
  const areAnswersFiltered = view.where.length > 0 || view.status !== undefined;
  const { data, isPlaceholderData } = query;
  const hasSubmissions = data !== undefined && data.completed + data.incomplete + data.waiting > 0;
  return (
    <Page
      title="Summary"
      lead={<span className="on-paper">{describePrint(form.name, view, columns ?? [])}</span>}
      actions={
        <>
          <Button icon="file" isDisabled={!data} onPress={() => print()}>
            Print
          </Button>
          {mayEdit(form.role) && <ShareResults form={form} />}
        </>
      }
    >
      {columns && (hasSubmissions || isFiltered) && (
        <div className="summary-filters stack-tight">
          <div className="submissions-filters" role="search" aria-label="Filter the summary">
            <ViewFilters form={form} view={view} columns={columns} onChange={changeView} />
          </div>
          <CompareBar
            columns={columns}
            compare={view.compare}
            onChange={(chosen) => changeView({ compare: chosen })}
          />
        </div>
      )}
      <QueryState query={query} lines={4} label="Loading summary…">
        {(summary) =>
          hasSubmissions ? (
            <div className="stack summary" aria-busy={isPlaceholderData}>
              <SlowNote isWaiting={isPlaceholderData} />
              <Totals summary={summary} areAllStatuses={view.status === undefined} />
              {!areAnswersFiltered && <VisitsCard days={view} />}
              <Card title="Submissions over time" lead={describePeak(summary.days)}>
                <DaysChart days={summary.days} />
              </Card>
              <Sampled
                summary={summary}
                sample={sample}
                isAdding={isPlaceholderData}
                onAddAll={() => setWhole(span)}
              />
              <Answers
                summary={summary}
                compared={comparison && summary.groups ? { comparison, sampled: summary.groups } : undefined}
              />
            </div>
          ) : (
            <div className="stack">
              {!areAnswersFiltered && <VisitsCard days={view} />}
              <EmptyState
                icon="summary"
                title={isFiltered ? 'No submissions match these filters' : 'No answers yet'}
                action={
                  isFiltered ? (
                    <Button onPress={() => changeView(unfilteredView)}>Clear filters</Button>
                  ) : (
                    form.status === 'published' && <CopyField label="Public link" text={form.public_url} />
                  )
                }
              >
                <p>
                  {isFiltered
                    ? 'Change or clear the filters to see a summary.'
                    : 'When people submit this form, their answers are summarized here by question.'}
                </p>
              </EmptyState>
            </div>
          )
        }
      </QueryState>
    </Page>
  );
}

/** Describes what a printed summary covers. */
function describePrint(name: string, view: ViewState, columns: readonly Column[]): string {
  const filters = view.where.map((condition) => `${describeCondition(condition, columns)}. `).join('');
  const status = view.status === undefined ? '' : `${statusLabels[view.status]} only. `;
  const today = formatDate(new Date().toISOString());
  return `${name}. ${formatPeriod(view)}. ${status}${filters}Printed on ${today}.`;
}

/** The cards of the questions. Those without answers are folded. */
function Answers({
  summary: { elements, sampled },
  compared,
}: {
  summary: Summary;
  compared: ComparedSample | undefined;
}): ReactElement {
  const charted = elements.filter(({ chart }) => chart !== 'count');
  const hasAnswers = ({ answered, groups }: ElementSummary): boolean =>
    compared ? (groups ?? []).some((group) => group.answered > 0) : answered > 0;
  return (
    <>
      {compared && (
        <p className="compare-groups" role="status">
          {compared.comparison.map((group, index) => (
            <span key={group.letter}>
              <GroupMark group={group} />{' '}
              <span aria-hidden="true">
                <bdi>{group.label}</bdi>:{' '}
              </span>
              {formatSubmissionCount(compared.sampled[index]!)}
            </span>
          ))}
        </p>
      )}
      <div className="element-cards">
        {charted.filter(hasAnswers).map((element) => (
          <ElementCard key={element.id} element={element} sampled={sampled} compared={compared} />
        ))}
      </div>
      <Unanswered elements={charted.filter((element) => !hasAnswers(element))} />
      <LeftOut elements={elements.filter(({ chart }) => chart === 'count')} />
    </>
  );
}

/** Lists the questions without answers, on request. */
function Unanswered({ elements }: { elements: readonly ElementSummary[] }): ReactElement | null {
  if (elements.length === 0) return null;
  return (
    <details className="card unanswered">
      <summary>{formatCount(elements.length, 'question')} without answers</summary>
      <p className="on-paper">Questions without answers:</p>
      <ul>
        {elements.map(({ id, label, group }) => (
          <li key={id}>
            {label}
            {group !== null && <span className="soft small"> in the rows of {group}</span>}
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Says how many submissions the charts cover, with a button to include all of them. */
function Sampled({
  summary: { sampled, completed, incomplete, waiting },
  sample,
  isAdding,
  onAddAll,
}: {
  summary: Summary;
  sample: SummarySample;
  isAdding: boolean;
  onAddAll: () => void;
}): ReactElement | null {
  const all = completed + incomplete + waiting;
  if (sampled >= all) return null;
  const isNewest = sample === 'newest' || isAdding;
  return (
    <div className="row">
      <p className="soft small">
        The charts below are based on {isNewest ? 'the newest' : 'a random'} {sampled.toLocaleString()} of{' '}
        {all.toLocaleString()} submissions. Links in the charts search all submissions.
      </p>
      {isNewest && (
        <Button size="small" isPending={isAdding} onPress={onAddAll}>
          Include all
        </Button>
      )}
    </div>
  );
}

/** Lists questions that have no chart because their answers identify people. */
function LeftOut({ elements }: { elements: Summary['elements'] }): ReactElement | null {
  if (elements.length === 0) return null;
  return (
    <p className="soft small">
      Hidden because they contain personal data: {elements.map(({ label }) => label).join(', ')}.
    </p>
  );
}

function Totals({
  summary: { completed, incomplete, waiting },
  areAllStatuses,
}: {
  summary: Summary;
  areAllStatuses: boolean;
}): ReactElement {
  const figures: readonly (readonly [label: string, count: number, narrowed: LinkFilter])[] = [
    ['Submissions', completed + incomplete + waiting, {}],
    ...(areAllStatuses
      ? ([
          ['Completed', completed, { status: 'completed' }],
          ['Incomplete', incomplete, { status: 'incomplete' }],
        ] as const)
      : []),
    ...(areAllStatuses && waiting > 0 ? ([['Waiting', waiting, { status: 'waiting' }]] as const) : []),
  ];
  return (
    <dl className="figures">
      {figures.map(([label, count, narrowed]) => (
        <div key={label} className="figure">
          <dt>{label}</dt>
          <dd className="numeric">
            <SubmissionsLink narrowed={narrowed}>{count.toLocaleString()}</SubmissionsLink>
          </dd>
        </div>
      ))}
    </dl>
  );
}

type Days = Summary['days'];
type Unit = 'day' | 'week' | 'month';

/** With fewer days, the bars would be too wide. */
const leastDays = 14;
/** The most bars that can be told apart. For longer periods each bar is a week or a month. */
const mostBars = 62;

/** Shows submissions per day, week or month as bars that link to the submissions. */
function DaysChart({ days }: { days: Days }): ReactElement {
  const [{ from = '', to }] = useViewState();
  const until = to ?? dateDaysAgo(0);
  const [unit, bars] = barsOfPeriod(days, until);
  return (
    <VerticalBars
      label={`Submissions per ${unit}`}
      heads={[
        heads[unit],
        'Completed',
        days.some(({ waiting }) => waiting) ? 'Incomplete or waiting' : 'Incomplete',
      ]}
      bars={bars.map(({ first, last, ...counts }) => ({
        ...counts,
        label: unitFormats[unit](first),
        narrowed: { from: first < from ? from : first, to: to !== undefined && to < last ? to : last },
      }))}
    />
  );
}

const heads = { day: 'Day', week: 'Week of', month: 'Month' } as const satisfies Record<Unit, string>;
const month = new Intl.DateTimeFormat(undefined, { month: 'short', year: 'numeric', timeZone: 'UTC' });
const formatFirstDay = (first: string): string => formatDate(`${first}T12:00`);
const unitFormats: Record<Unit, (first: string) => string> = {
  day: formatFirstDay,
  week: formatFirstDay,
  month: (first) => month.format(new Date(first)),
};

/** Returns the day with the most submissions, and their number. */
function describePeak(days: Days): string {
  const count = ({ completed, incomplete, waiting = 0 }: Days[number]): number =>
    completed + incomplete + waiting;
  const most = days.reduce((best, day) => (count(day) > count(best) ? day : best));
  return `Peak: ${count(most).toLocaleString()} on ${formatFirstDay(most.day)}.`;
}

const dayMs = 86_400_000;
/** Days are handled as UTC timestamps, so that no time zone shifts them. */
const plus = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10);

const firstOf: Record<Unit, (day: string) => string> = {
  day: (day) => day,
  week: (day) => plus(day, -((new Date(day).getUTCDay() + 6) % 7)),
  month: (day) => `${day.slice(0, 7)}-01`,
};
const nextOf: Record<Unit, (first: string) => string> = {
  day: (first) => plus(first, 1),
  week: (first) => plus(first, 7),
  month: (first) => firstOf.month(plus(first, 31)),
};

/**
 * Returns a bar for every day, week or month of the period. A bar without submissions is zero rather than
 * missing.
 */
function barsOfPeriod(days: Days, until: string) {
  const last = [days.at(-1)!.day, until].toSorted()[1]!;
  const start = [days[0]!.day, plus(last, 1 - leastDays)].toSorted()[0]!;
  const length = (Date.parse(last) - Date.parse(start)) / dayMs + 1;
  const unit = length <= mostBars ? 'day' : length <= mostBars * 7 ? 'week' : 'month';
  const counted = Map.groupBy(days, ({ day }) => firstOf[unit](day));
  const bars = [];
  for (let first = firstOf[unit](start); first <= last; first = nextOf[unit](first)) {
    const within = counted.get(first) ?? [];
    const sum = (count: (day: Days[number]) => number) =>
      within.reduce((total, day) => total + count(day), 0);
    bars.push({
      first,
      last: plus(nextOf[unit](first), -1),
      count: sum(({ completed }) => completed),
      paler: sum(({ incomplete, waiting = 0 }) => incomplete + waiting),
    });
  }
  return [unit, bars] as const;
}
