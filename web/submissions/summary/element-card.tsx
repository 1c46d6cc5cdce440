import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import type { ElementSummary } from '#console/submissions/shapes.ts';
import { useForm } from '../../shell/form-place.ts';
import { LyingBars, StandingBars } from './bars.tsx';
import { DataDetails } from './data-details.tsx';

/** What one question was answered, in the picture that fits it. */
export function ElementCard({
  element,
  sampled,
}: {
  element: ElementSummary;
  sampled: number;
}): ReactElement {
  const { label, answered, group, is_retired } = element;
  return (
    <section className="card element-card" aria-label={label}>
      <header>
        <h2 className="element-title">{label}</h2>
        <p className="soft small">
          {answered.toLocaleString()} {answered === 1 ? 'answer' : 'answers'}
          {group === null ? ` from ${sampled.toLocaleString()} submissions` : ` in the rows of ${group}`}
          {is_retired && ', no longer asked'}
        </p>
      </header>
      <Picture element={element} />
    </section>
  );
}

const scales = { histogram: 'Number', months: 'Month', hours: 'Hour', options: 'Answer' } as const;

function Picture({ element }: { element: ElementSummary }): ReactElement | null {
  const { chart, bars, texts, answered, label } = element;
  if (chart === 'count') return null;
  if (chart === 'texts') return texts.length > 0 ? <LatestTexts element={element} /> : null;
  if (bars.length === 0 || answered === 0) return <p className="soft small">Nothing to draw yet.</p>;
  return (
    <>
      {chart === 'histogram' && <Numbers element={element} />}
      {chart === 'options' ? <LyingBars bars={bars} answered={answered} /> : <StandingBars bars={bars} />}
      <DataDetails
        caption={label}
        heads={[scales[chart], 'Answers']}
        rows={bars.map((bar) => [bar.label, bar.count])}
      />
    </>
  );
}

function Numbers({ element: { numbers } }: { element: ElementSummary }): ReactElement | null {
  if (!numbers) return null;
  const say = (number: number): string => number.toLocaleString(undefined, { maximumFractionDigits: 2 });
  return (
    <p className="small numeric">
      Mean <strong>{say(numbers.mean)}</strong>, from {say(numbers.min)} to {say(numbers.max)}
    </p>
  );
}

function LatestTexts({ element: { texts } }: { element: ElementSummary }): ReactElement {
  const form = useForm();
  return (
    <ul className="latest" aria-label="Latest answers">
      {texts.map(({ submission_id, text }, index) => (
        <li key={`${submission_id} ${index}`}>
          <Link
            to="/forms/$form/submissions"
            params={{ form: form.id }}
            search={{ open: submission_id }}
            className="latest-text"
          >
            {text}
          </Link>
        </li>
      ))}
    </ul>
  );
}
