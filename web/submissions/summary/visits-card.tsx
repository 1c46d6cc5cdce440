import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { sayCount } from '#ast/basics/say-count.ts';
import type { Analytics } from '#submissions/analytics.ts';
import { Card } from '../../design/page.tsx';
import { useForm } from '../../shell/form-place.ts';
import { analyticsQuery } from '../queries.ts';
import { counted, DataDetails, LyingBars, percent } from './charts.tsx';

/** How the visits of the form went, where any are known. Whatever fails here leaves the answers below as they are. */
export function VisitsCard({
  days,
}: {
  days: { from: string | undefined; to: string | undefined };
}): ReactElement | null {
  const form = useForm();
  const { data } = useQuery(analyticsQuery(form, days));
  if (!data) return null;
  if (data.views + data.starts + data.completions === 0)
    return data.is_counting ? null : (
      <p className="soft small">Visits of this form are not counted, as its settings say.</p>
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

/** How long it takes, and how much of all this is known. */
function Known({
  analytics: { median_seconds: median, script_share: share, starts },
}: {
  analytics: Analytics;
}): ReactElement {
  return (
    <>
      {median !== null && `Half of those who send it need less than ${sayTime(median)}. `}
      Who asks not to be tracked is not counted.
      {starts > 0 &&
        share !== null &&
        share < 1 &&
        ` For ${percent.format(1 - share)} of the starts only what was posted is known, since no script ran.`}
    </>
  );
}

function sayTime(seconds: number): string {
  if (seconds < 100) return sayCount(seconds, 'second');
  if (seconds < 6_000) return sayCount(Math.round(seconds / 60), 'minute');
  if (seconds < 172_800) return sayCount(Math.round(seconds / 3_600), 'hour');
  return sayCount(Math.round(seconds / 86_400), 'day');
}

function Funnel({ analytics: { views, starts, completions } }: { analytics: Analytics }): ReactElement {
  const most = Math.max(views, starts, completions);
  return (
    <section className="visits-part">
      <h3>From view to submission</h3>
      <LyingBars
        label="From view to submission"
        bars={[
          { label: 'Saw it', ...counted(views, most) },
          { label: 'Began', ...counted(starts, most) },
          { label: 'Sent it', ...counted(completions, most) },
        ]}
      />
    </section>
  );
}

const titleOf = ({ title, number, is_review }: Analytics['steps'][number]): string =>
  title ?? (is_review ? 'Check your answers' : `Step ${number}`);

function Steps({ analytics: { steps } }: { analytics: Analytics }): ReactElement {
  const most = Math.max(1, ...steps.map(({ reached }) => reached));
  return (
    <section className="visits-part">
      <h3>Step by step</h3>
      <LyingBars
        label="Step by step"
        bars={steps.map((step) => ({
          label: `${step.number}. ${titleOf(step)}`,
          bar: (step.reached - step.left) / most,
          paler: step.reached / most,
          said: `${step.reached.toLocaleString()} came`,
          beside: `${step.left.toLocaleString()} left, ${percent.format(step.drop_off ?? 0)}`,
        }))}
      />
    </section>
  );
}

/** So many questions are shown; the table has all. */
const mostQuestions = 8;

function LastQuestions({ analytics: { questions } }: { analytics: Analytics }): ReactElement | null {
  const stopped = questions.filter(({ left }) => left > 0).sort((one, other) => other.left - one.left);
  const total = stopped.reduce((sum, { left }) => sum + left, 0);
  if (total === 0) return null;
  return (
    <section className="visits-part">
      <h3>Where they stopped</h3>
      <p className="soft small">The question that was touched last by those who sent nothing.</p>
      <LyingBars
        label="Where they stopped"
        bars={stopped.slice(0, mostQuestions).map(({ label, left }) => ({ label, ...counted(left, total) }))}
      />
      <DataDetails
        caption="Where they stopped"
        heads={['Question', 'Stopped here']}
        rows={questions.map(({ label, left }, index) => [`${index + 1}. ${label}`, left])}
      />
    </section>
  );
}
