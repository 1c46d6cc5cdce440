import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { Analytics } from '#submissions/analytics/shapes.ts';
import { Card } from '../../design/page.tsx';
import { useForm } from '../../shell/form-place.ts';
import { analyticsQuery } from '../queries.ts';
import { LyingBars } from './bars.tsx';
import { DataDetails } from './data-details.tsx';
import { percent } from './lying-bar.tsx';
import { StepBars } from './step-bars.tsx';

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
  const [count, unit] =
    seconds < 100
      ? [seconds, 'second']
      : seconds < 6_000
        ? [Math.round(seconds / 60), 'minute']
        : seconds < 172_800
          ? [Math.round(seconds / 3_600), 'hour']
          : [Math.round(seconds / 86_400), 'day'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

function Funnel({ analytics: { views, starts, completions } }: { analytics: Analytics }): ReactElement {
  const bars = [
    { label: 'Saw it', count: views },
    { label: 'Began', count: starts },
    { label: 'Sent it', count: completions },
  ];
  return (
    <section className="visits-part" aria-label="From view to submission">
      <h3>From view to submission</h3>
      <LyingBars bars={bars} answered={Math.max(views, starts, completions)} />
      <DataDetails
        caption="From view to submission"
        heads={['What', 'Visits']}
        rows={bars.map(({ label, count }) => [label, count])}
      />
    </section>
  );
}

const titleOf = ({ title, number, is_review }: Analytics['steps'][number]): string =>
  title ?? (is_review ? 'Check your answers' : `Step ${number}`);

function Steps({ analytics: { steps } }: { analytics: Analytics }): ReactElement {
  const named = steps.map((step) => ({ ...step, label: titleOf(step) }));
  return (
    <section className="visits-part" aria-label="Step by step">
      <h3>Step by step</h3>
      <StepBars steps={named} />
      <DataDetails
        caption="Step by step"
        heads={['Step', 'Came', 'Left here']}
        rows={named.map(({ number, label, reached, left }) => [`${number}. ${label}`, reached, left])}
      />
    </section>
  );
}

/** So many questions are shown; the table has all. */
const mostQuestions = 8;

function LastQuestions({ analytics: { questions } }: { analytics: Analytics }): ReactElement | null {
  const bars = questions
    .filter(({ left }) => left > 0)
    .map(({ label, left }) => ({ label, count: left }))
    .sort((one, other) => other.count - one.count);
  const total = bars.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return null;
  return (
    <section className="visits-part" aria-label="Where they stopped">
      <h3>Where they stopped</h3>
      <p className="soft small">The question that was touched last by those who sent nothing.</p>
      <LyingBars bars={bars.slice(0, mostQuestions)} answered={total} />
      <DataDetails
        caption="Where they stopped"
        heads={['Question', 'Stopped here']}
        rows={questions.map(({ label, left }, index) => [`${index + 1}. ${label}`, left])}
      />
    </section>
  );
}
