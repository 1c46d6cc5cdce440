import './summary-screen.css';
import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import type { Summary, SummarySample } from '#submissions/shapes.ts';
import { Button } from '../../design/button.tsx';
import { CopyField } from '../../design/copy-button.tsx';
import { Card, Page } from '../../design/page.tsx';
import { EmptyState, QueryState, SlowNote } from '../../design/states.tsx';
import { formatDate } from '../../design/time.tsx';
import { useCurrentForm } from '../../shell/current-form.ts';
import { summaryQuery } from '../queries.ts';
import { type LinkFilter, SubmissionsLink } from '../summary/bar-links.tsx';
import { DaysChart, describePeak } from '../summary/charts.tsx';
import { ElementCard } from '../summary/element-card.tsx';
import { VisitsCard } from '../summary/visits-card.tsx';
import { useViewState } from '../view-state.ts';
import { DateFilter, formatPeriod } from './toolbar.tsx';

/** Operation that summarizes a form's submissions. */
export function SummaryScreen(): ReactElement {
  const form = useCurrentForm();
  const [view, changeView] = useViewState();
  const days = { from: view.from, to: view.to };
  /** The form and days for which all submissions were requested. Others start with the newest again. */
  const span = `${form.id} ${days.from} ${days.to}`;
  const [whole, setWhole] = useState<string>();
  const sample = whole === span ? 'all' : 'newest';
  const query = useQuery(summaryQuery(form, days, sample));
  const { isPlaceholderData } = query;
  return (
    <Page
      title="Summary"
      lead={
        <span className="on-paper">{`${form.name}. ${formatPeriod(days)}. Printed on ${formatDate(new Date().toISOString())}.`}</span>
      }
      actions={
        <>
          <DateFilter {...days} onChange={changeView} />
          <Button icon="file" isDisabled={!query.data} onPress={() => print()}>
            Print
          </Button>
        </>
      }
    >
      <QueryState query={query} lines={4} label="Loading summary…">
        {(data) =>
          data.completed + data.incomplete === 0 ? (
            <div className="stack">
              <VisitsCard days={days} />
              <EmptyState
                icon="summary"
                title={days.from || days.to ? 'No submissions in this period' : 'No answers yet'}
                action={
                  form.status === 'published' && <CopyField label="Public link" text={form.public_url} />
                }
              >
                <p>When people submit this form, their answers are summarized here by question.</p>
              </EmptyState>
            </div>
          ) : (
            <div className="stack summary" aria-busy={isPlaceholderData}>
              <SlowNote isWaiting={isPlaceholderData} />
              <Totals summary={data} />
              <VisitsCard days={days} />
              <Card title="Submissions over time" lead={describePeak(data.days)}>
                <DaysChart days={data.days} />
              </Card>
              <Sampled
                summary={data}
                sample={sample}
                isAdding={isPlaceholderData}
                onAddAll={() => setWhole(span)}
              />
              {data.elements
                .filter(({ chart }) => chart !== 'count')
                .map((element) => (
                  <ElementCard key={element.id} element={element} sampled={data.sampled} />
                ))}
              <LeftOut elements={data.elements.filter(({ chart }) => chart === 'count')} />
            </div>
          )
        }
      </QueryState>
    </Page>
  );
}

/** Says how many submissions the charts cover, with a button to include all of them. */
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
        The charts below are based on the newest {sampled.toLocaleString()} of {all.toLocaleString()}{' '}
        submissions. Links in the charts search all submissions.
      </p>
      {(sample === 'newest' || isAdding) && (
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

function Totals({ summary: { completed, incomplete, completion_rate } }: { summary: Summary }): ReactElement {
  const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });
  const figures: readonly (readonly [label: string, figure: string, narrowed?: LinkFilter])[] = [
    ['Submissions', (completed + incomplete).toLocaleString(), {}],
    ['Completed', completed.toLocaleString(), { status: 'completed' }],
    ['Incomplete', incomplete.toLocaleString(), { status: 'incomplete' }],
    ['Completion rate', percent.format(completion_rate ?? 0)],
  ];
  return (
    <dl className="figures">
      {figures.map(([label, figure, narrowed]) => (
        <div key={label} className="figure">
          <dt>{label}</dt>
          <dd className="numeric">
            {narrowed ? <SubmissionsLink narrowed={narrowed}>{figure}</SubmissionsLink> : figure}
          </dd>
        </div>
      ))}
    </dl>
  );
}
