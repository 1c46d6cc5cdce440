import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { formatCount } from '#ast/basics/format-number.ts';
import type { Analytics } from '#submissions/analytics.ts';
import { fillLabels } from '../../conditions/condition-tree.ts';
import { Card } from '../../design/page.tsx';
import { useCurrentForm } from '../../shell/session.ts';
import { analyticsQuery } from '../queries.ts';
import { ChartDataTable, countWithShare, HorizontalBars, percent } from './charts.tsx';

/** Shows visit statistics if there are any. If they fail to load, the answers below are not affected. */
export function VisitsCard({
  days,
}: {
  days: { from: string | undefined; to: string | undefined };
}): ReactElement | null {
  const form = useCurrentForm();
  const { data } = useQuery(analyticsQuery(form, days));
  if (!data) return null;
  if (data.views + data.starts + data.completions === 0)
    return data.is_counting ? null : (
      <p className="soft small">Visits are not counted. You can change this in the form’s settings.</p>
    );
  return (
    <Card title="Visits" lead={<Known analytics={data} />}>
      <div className="visits">
        <Funnel analytics={data} />
        {data.steps.length > 1 && <Steps analytics={data} />}
        <LastQuestions analytics={data} />
      </div>
    </Card>
  );
}

/** Shows the median completion time, and the limitations of these statistics. */
function Known({
  analytics: { median_seconds: median, script_share: share, starts },
}: {
  analytics: Analytics;
}): ReactElement {
  return (
    <>
      {median !== null && `Median completion time: ${formatDuration(median)}. `}
      Visitors who ask not to be tracked are not counted.
      {starts > 0 &&
        share !== null &&
        share < 1 &&
        ` For ${percent.format(1 - share)} of the starts, scripts did not run, so only submitted data is known.`}
    </>
  );
}

function formatDuration(seconds: number): string {
  if (seconds < 100) return formatCount(seconds, 'second');
  if (seconds < 6_000) return formatCount(Math.round(seconds / 60), 'minute');
  if (seconds < 172_800) return formatCount(Math.round(seconds / 3_600), 'hour');
  return formatCount(Math.round(seconds / 86_400), 'day');
}

function Funnel({ analytics: { views, starts, completions } }: { analytics: Analytics }): ReactElement {
  const most = Math.max(views, starts, completions);
  return (
    <section className="visits-part">
      <h3>From view to submission</h3>
      <HorizontalBars
        label="From view to submission"
        bars={[
          { label: 'Viewed', ...countWithShare(views, most) },
          { label: 'Started', ...countWithShare(starts, most) },
          { label: 'Submitted', ...countWithShare(completions, most) },
        ]}
      />
    </section>
  );
}

const titleOf = ({ title, number, is_review }: Analytics['steps'][number]): string =>
  title ?? (is_review ? 'Check your answers' : `Step ${number}`);

function Steps({ analytics: { steps, questions } }: { analytics: Analytics }): ReactElement {
  const nodes = questions.map(({ type, ...attrs }) => ({ type, attrs }));
  const find = (id: string) => nodes.find(({ attrs }) => attrs.id === id);
  const most = Math.max(1, ...steps.map(({ reached }) => reached));
  return (
    <section className="visits-part">
      <h3>Drop-off by step</h3>
      <HorizontalBars
        label="Drop-off by step"
        bars={steps.map((step) => ({
          label: `${step.number}. ${fillLabels(titleOf(step), find)}`,
          bar: (step.reached - step.left) / most,
          paler: step.reached / most,
          text: `${step.reached.toLocaleString()} reached`,
          beside: `${step.left.toLocaleString()} dropped off, ${percent.format(step.drop_off ?? 0)}`,
        }))}
      />
    </section>
  );
}

/** The maximum number of questions in the chart; the table lists all of them. */
const mostQuestions = 8;

function LastQuestions({ analytics: { questions } }: { analytics: Analytics }): ReactElement | null {
  const stopped = questions.filter(({ left }) => left > 0).sort((one, other) => other.left - one.left);
  const total = stopped.reduce((sum, { left }) => sum + left, 0);
  if (total === 0) return null;
  return (
    <section className="visits-part">
      <h3>Where visitors stopped</h3>
      <p className="soft small">
        The last question that visitors interacted with before leaving without submitting.
      </p>
      <HorizontalBars
        label="Where visitors stopped"
        bars={stopped
          .slice(0, mostQuestions)
          .map(({ label, left }) => ({ label, ...countWithShare(left, total) }))}
      />
      <ChartDataTable
        caption="Where visitors stopped"
        heads={['Question', 'Stopped here']}
        rows={questions.map(({ label, left }, index) => [`${index + 1}. ${label}`, left])}
      />
    </section>
  );
}
