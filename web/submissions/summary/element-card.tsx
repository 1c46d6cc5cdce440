import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import type { Bar, ElementSummary } from '#submissions/shapes.ts';
import { useForm } from '../../shell/form-place.ts';
import { LyingBars, StandingBars } from './bars.tsx';
import { DataDetails } from './data-details.tsx';
import { percent } from './lying-bar.tsx';

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

const scales = {
  histogram: 'Number',
  rows: 'Rows',
  months: 'Month',
  hours: 'Hour',
  options: 'Answer',
  levels: 'Level',
  recommendation: 'Level',
  ranking: 'Option',
  files: 'Kind of file',
} as const;

/** What is counted: of a group and of files, not the answers. */
const counted = {
  histogram: 'Answers',
  rows: 'Submissions',
  months: 'Answers',
  hours: 'Answers',
  options: 'Answers',
  levels: 'Answers',
  recommendation: 'Answers',
  ranking: 'Put first',
  files: 'Files',
} as const;

function Picture({ element }: { element: ElementSummary }): ReactElement | null {
  const { chart, bars, numbers, texts, answered, label } = element;
  const total = bars.reduce((sum, bar) => sum + bar.count, 0);
  if (chart === 'count') return null;
  if (chart === 'texts' && texts.length > 0) return <LatestTexts element={element} />;
  if (chart === 'grid' && answered > 0) return <Grid element={element} />;
  if (chart === 'texts' || chart === 'grid' || bars.length === 0 || answered === 0)
    return <p className="soft small">Nothing to draw yet.</p>;
  return (
    <>
      {chart === 'recommendation' && <Recommendation element={element} />}
      {numbers && <Numbers element={element} />}
      {chart === 'options' || chart === 'ranking' || chart === 'files' ? (
        <LyingBars bars={bars.map(withPlace)} answered={chart === 'files' ? total : answered} />
      ) : (
        <StandingBars bars={bars} />
      )}
      <DataDetails
        caption={label}
        heads={[scales[chart], counted[chart]]}
        rows={bars.map(withPlace).map((bar) => [bar.label, bar.count])}
      />
    </>
  );
}

/** The options of each row of a matrix: the more chose one, the darker it is. */
function Grid({ element: { rows = [], label } }: { element: ElementSummary }): ReactElement {
  // Of former options a row has those alone that were chosen in it.
  const heads = [...new Set(rows.flatMap(({ bars }) => bars.map((bar) => bar.label)))];
  return (
    <div className="data-table" role="region" aria-label={`Counts of ${label}`} tabIndex={0}>
      <table className="summary-grid">
        <thead>
          <tr>
            <td />
            {heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.label}>
              <th scope="row">{row.label}</th>
              {heads.map((head) => {
                const count = row.bars.find((bar) => bar.label === head)?.count ?? 0;
                const share = row.answered === 0 ? 0 : count / row.answered;
                const tint = `color-mix(in oklab, var(--accent) ${Math.round(share * 36)}%, transparent)`;
                return (
                  <td key={head} style={{ background: tint }}>
                    {count.toLocaleString()} <span className="small">({percent.format(share)})</span>
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Who recommends, who does not mind, and who advises against, as shares of all, and the score that they come to. */
function Recommendation({ element: { bars, score } }: { element: ElementSummary }): ReactElement {
  const countOf = (from: number, to: number): number =>
    bars.slice(from, to + 1).reduce((sum, { count }) => sum + count, 0);
  const groups = [
    { label: 'Promoters (9 and 10)', count: countOf(9, 10) },
    { label: 'Passives (7 and 8)', count: countOf(7, 8) },
    { label: 'Detractors (0 to 6)', count: countOf(0, 6) },
  ];
  return (
    <>
      <p className="small numeric">
        Net promoter score <strong>{score?.toLocaleString(undefined, { signDisplay: 'exceptZero' })}</strong>
      </p>
      <LyingBars bars={groups} answered={countOf(0, 10)} />
      <DataDetails
        caption="Who recommends"
        heads={['Group', 'Answers']}
        rows={groups.map((group) => [group.label, group.count])}
      />
    </>
  );
}

const say = (mean: number): string => mean.toLocaleString(undefined, { maximumFractionDigits: 2 });

/** A ranked option says its mean place behind its name. */
function withPlace({ label, count, mean, places }: Bar): Bar {
  if (mean !== undefined) return { label: `${label} (mean place ${say(mean)})`, count };
  if (!places) return { label, count };
  const { capacity, left } = places;
  return { label: `${label} (${say(capacity - left)} of ${say(capacity)} places taken)`, count };
}

function Numbers({ element: { numbers, chart } }: { element: ElementSummary }): ReactElement | null {
  if (!numbers) return null;
  return (
    <p className="small numeric">
      {chart === 'rows' ? 'Mean number of rows' : 'Mean'} <strong>{say(numbers.mean)}</strong>, from{' '}
      {say(numbers.min)} to {say(numbers.max)}
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
