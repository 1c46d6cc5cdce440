import './summary-screen.css';
import { useQuery } from '@tanstack/react-query';
import { CatchBoundary } from '@tanstack/react-router';
import { lazy, type ReactElement, Suspense, useState } from 'react';
import type { Summary, SummarySample } from '#submissions/shapes.ts';
import { Button } from '../design/button.tsx';
import { CopyField } from '../design/copy-button.tsx';
import { Card, Page } from '../design/page.tsx';
import { EmptyState, ErrorState, Loading, Skeleton } from '../design/states.tsx';
import { sayDay } from '../design/time.tsx';
import { useForm } from '../shell/form-place.ts';
import { DateFilter } from './date-filter.tsx';
import { summaryQuery } from './queries.ts';
import { DataDetails } from './summary/data-details.tsx';
import { ElementCard } from './summary/element-card.tsx';
import { VisitsCard } from './summary/visits-card.tsx';
import { dayBefore, useViewState } from './view-state.ts';

/** The library that draws curves is large, and only this screen needs it. */
const DaysChart = lazy(() =>
  import('./summary/days-chart.tsx').then(({ DaysChart }) => ({ default: DaysChart })),
);

/** What a form's submissions say together. */
export function SummaryScreen(): ReactElement {
  const form = useForm();
  const [view, changeView] = useViewState();
  const days = { from: view.from, to: view.to };
  /** The form and the days for which somebody asked for all: others begin with the newest again. */
  const span = `${form.id} ${days.from} ${days.to}`;
  const [whole, setWhole] = useState<string>();
  const sample = whole === span ? 'all' : 'newest';
  const { data, error, refetch, isPlaceholderData } = useQuery(summaryQuery(form, days, sample));
  return (
    <Page title="Summary" actions={<DateFilter {...days} onChange={changeView} />}>
      {error && !data ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : !data ? (
        <Loading lines={4} label="Adding up the answers …" />
      ) : data.completed + data.incomplete === 0 ? (
        <div className="stack">
          <VisitsCard days={days} />
          <EmptyState
            icon="summary"
            title={days.from || days.to ? 'No submissions in this time' : 'Nothing to add up yet'}
            action={form.status === 'published' && <CopyField label="Public link" text={form.public_url} />}
          >
            <p>Once people fill in this form, their answers are added up here, question by question.</p>
          </EmptyState>
        </div>
      ) : (
        <div className="stack summary" aria-busy={isPlaceholderData}>
          <Totals summary={data} />
          <VisitsCard days={days} />
          <Card title="Submissions over time">
            <CatchBoundary getResetKey={() => form.id} errorComponent={ChartFailed}>
              <Suspense fallback={<Skeleton blockSize="17rem" />}>
                <DaysChart days={data.days} until={days.to ?? dayBefore(0)} />
              </Suspense>
            </CatchBoundary>
            <DataDetails
              caption="Submissions per day"
              heads={['Day', 'Completed', 'Incomplete']}
              rows={data.days
                .toReversed()
                .map(({ day, completed, incomplete }) => [sayDay(`${day}T12:00`), completed, incomplete])}
            />
          </Card>
          <Sampled
            summary={data}
            sample={sample}
            isAdding={isPlaceholderData}
            onAddAll={() => setWhole(span)}
          />
          <div className="element-cards">
            {data.elements.map((element) => (
              <ElementCard key={element.id} element={element} sampled={data.sampled} />
            ))}
          </div>
        </div>
      )}
    </Page>
  );
}

/** From how many submissions the questions are added up, where that is not all of them, and the way to all. */
function Sampled({
  summary: { sampled, completed, incomplete },
  sample,
  isAdding,
  onAddAll,
}: {
  summary: Summary;
  sample: SummarySample;
  isAdding: boolean;
  onAddAll: () => void;
}): ReactElement | null {
  const all = completed + incomplete;
  if (sampled >= all) return null;
  return (
    <div className="row">
      <p className="soft small">
        The questions below are added up from the newest {sampled.toLocaleString()} of {all.toLocaleString()}{' '}
        submissions.
      </p>
      {(sample === 'newest' || isAdding) && (
        <Button size="small" isPending={isAdding} onPress={onAddAll}>
          Add up all
        </Button>
      )}
    </div>
  );
}

/** The numbers are there as a table all the same. */
function ChartFailed(): ReactElement {
  return <p className="soft">The curve cannot be drawn in this browser.</p>;
}

function Totals({ summary: { completed, incomplete, completion_rate } }: { summary: Summary }): ReactElement {
  const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });
  const figures = [
    ['Submissions', (completed + incomplete).toLocaleString()],
    ['Completed', completed.toLocaleString()],
    ['Incomplete', incomplete.toLocaleString()],
    ['Completion rate', percent.format(completion_rate ?? 0)],
  ] as const;
  return (
    <dl className="figures">
      {figures.map(([label, figure]) => (
        <div key={label} className="figure">
          <dt>{label}</dt>
          <dd className="numeric">{figure}</dd>
        </div>
      ))}
    </dl>
  );
}
