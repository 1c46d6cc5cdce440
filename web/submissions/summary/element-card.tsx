import type { ReactElement } from 'react';
import { formatCount, pluralize } from '#ast/basics/format-number.ts';
import { imageAddress } from '#page/theme/image-address.ts';
import type { Bar, ElementSummary } from '#submissions/shapes.ts';
import { formatMonth } from '../../design/time.tsx';
import { useCurrentForm } from '../../shell/current-form.ts';
import type { FilterCondition } from '../filter/conditions.ts';
import { answeredCondition, barCondition, type LinkFilter, SubmissionsLink } from './bar-links.tsx';
import { countWithShare, type HorizontalBar, HorizontalBars, percent, VerticalBars } from './charts.tsx';

/** Shows how often each option was chosen in each row of a matrix. More answers give a darker cell. */
function MatrixTable({ element }: { element: ElementSummary }): ReactElement {
  const { rows = [], label } = element;
  // A row includes a removed option only if the option was chosen in that row.
  const heads = new Map(rows.flatMap(({ bars }) => bars.map((bar) => [optionOf(bar), bar.label])));
  return (
    <div className="data-table" role="region" aria-label={`Counts of ${label}`} tabIndex={0}>
      <table className="summary-grid">
        <thead>
          <tr>
            <td />
            {[...heads].map(([option, head]) => (
              <th key={option} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              <th scope="row">{row.label}</th>
              {[...heads].map(([option, label]) => {
                const bar = row.bars.find((bar) => optionOf(bar) === option) ?? { label, count: 0 };
                const share = row.answered === 0 ? 0 : bar.count / row.answered;
                const tint = `color-mix(in oklab, var(--accent) ${Math.round(share * 36)}%, transparent)`;
                const condition = barCondition(element, bar, row.id);
                const said = bar.count.toLocaleString();
                return (
                  <td key={option} style={{ background: tint }}>
                    {condition ? (
                      <SubmissionsLink narrowed={{ where: [condition] }}>{said}</SubmissionsLink>
                    ) : (
                      said
                    )}{' '}
                    <span className="small">({percent.format(share)})</span>
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

/** Two options can have the same label. */
const optionOf = ({ option, label }: Bar): string => option ?? label;

/** Shows the answers to one question in a chart that fits its type. */
export function ElementCard({
  element,
  sampled,
}: {
  element: ElementSummary;
  sampled: number;
}): ReactElement {
  const { label, answered, group, is_retired } = element;
  const answers = formatCount(answered, 'answer');
  return (
    <section className="card element-card" aria-label={label}>
      <header>
        <h2 className="element-title">{label}</h2>
        <p className="soft small">
          {answered > 0 ? (
            <SubmissionsLink narrowed={{ where: [answeredCondition(element)] }}>{answers}</SubmissionsLink>
          ) : (
            answers
          )}
          {group === null ? ` from ${formatCount(sampled, 'submission')}` : ` in the rows of ${group}`}
          {is_retired && ', no longer asked'}
        </p>
      </header>
      <Picture element={element} sampled={sampled} />
    </section>
  );
}

/** The scale and the count of vertical bars. For a group, submissions are counted, not answers. */
const heads = {
  histogram: ['Number', 'Answers'],
  rows: ['Rows', 'Submissions'],
  months: ['Month', 'Answers'],
  hours: ['Hour', 'Answers'],
  levels: ['Level', 'Answers'],
  recommendation: ['Level', 'Answers'],
} as const;

function Picture({ element, sampled }: { element: ElementSummary; sampled: number }): ReactElement {
  const { chart, texts, answered, label, group } = element;
  const bars =
    chart === 'months'
      ? element.bars.map((bar) => ({ ...bar, label: formatMonth(bar.label) }))
      : element.bars;
  const { id: form } = useCurrentForm();
  if (answered === 0 && chart !== 'given') return <p className="soft small">No answers yet.</p>;
  const lineOf = (bar: Bar, all: number): HorizontalBar => ({
    label: withQuota(bar),
    ...countWithShare(bar.count, all),
    picture: bar.image && imageAddress(form, bar.image),
    narrowed: narrowedBy(barCondition(element, bar)),
  });
  switch (chart) {
    case 'options':
      return <HorizontalBars label={label} bars={mostFirst(bars).map((bar) => lineOf(bar, answered))} />;
    case 'given':
      // The share of all submissions. For a question in a group, the share of its answers, because the number
      // of rows is unknown.
      return (
        <HorizontalBars
          label={label}
          bars={bars.map((bar) => lineOf(bar, group === null ? sampled : answered))}
        />
      );
    case 'files': {
      const all = bars.reduce((sum, { count }) => sum + count, 0);
      return <HorizontalBars label={label} bars={bars.map((bar) => lineOf(bar, all))} />;
    }
    case 'ranking':
      return (
        <HorizontalBars
          label={label}
          bars={bars.map((bar) => rankingBar(bar, bars.length, barCondition(element, bar)))}
        />
      );
    case 'grid':
      return <MatrixTable element={element} />;
    case 'texts': {
      // Leaves out texts that the bars already show.
      const known = new Set(bars.map((bar) => bar.label.toLowerCase()));
      const others = texts.filter(({ text }) => !known.has(text.trim().toLowerCase()));
      return (
        <>
          {bars.length > 0 && (
            <HorizontalBars label="Repeated answers" bars={bars.map((bar) => lineOf(bar, answered))} />
          )}
          {bars.length > 0 && others.length > 0 && <h3 className="soft small">Other recent answers</h3>}
          {others.length > 0 && <LatestTexts texts={others} />}
        </>
      );
    }
    case 'recommendation':
    case 'levels':
    case 'histogram':
    case 'rows':
    case 'months':
    case 'hours':
      return (
        <>
          <Figure element={element} />
          {chart === 'recommendation' && <Recommendation element={element} />}
          {bars.length <= fewBars ? (
            <HorizontalBars label={label} bars={bars.map((bar) => lineOf(bar, answered))} />
          ) : (
            <VerticalBars
              label={label}
              heads={heads[chart]}
              bars={bars.map((bar) => ({ ...bar, narrowed: narrowedBy(barCondition(element, bar)) }))}
            />
          )}
        </>
      );
    case 'count':
      return <></>;
    default:
      return chart satisfies never;
  }
}

/** Up to this many bars are drawn horizontally, because vertical bars would be too wide. */
const fewBars = 7;

const narrowedBy = (condition: FilterCondition | undefined): LinkFilter | undefined =>
  condition && { where: [condition] };

const mostFirst = (bars: readonly Bar[]): Bar[] => bars.toSorted((a, b) => b.count - a.count);

/** Shows the main number of a scale: the average, or the net promoter score. */
function Figure({ element: { numbers, chart, score } }: { element: ElementSummary }): ReactElement | null {
  if (!numbers) return null;
  const mean = `${chart === 'rows' ? 'Average number of rows' : 'Average'} ${say(numbers.mean)}`;
  const span = `from ${say(numbers.min)} to ${say(numbers.max)}`;
  return (
    <p className="element-figure">
      {score === undefined ? (
        <>
          <strong className="numeric">{say(numbers.mean)}</strong>{' '}
          <span className="soft small">
            {chart === 'rows' && `${pluralize(Number(numbers.mean.toFixed(2)), 'row')} `}on average, {span}
          </span>
        </>
      ) : (
        <>
          <strong className="numeric">
            {score.toLocaleString(undefined, { signDisplay: 'exceptZero' })}
          </strong>{' '}
          <span className="soft small">
            Net promoter score. {mean}, {span}
          </span>
        </>
      )}
    </p>
  );
}

/** Shows the shares of promoters, passives and detractors. */
function Recommendation({ element }: { element: ElementSummary }): ReactElement {
  const { bars, answered } = element;
  const groups = [
    ['Promoters (9 and 10)', 9, 10],
    ['Passives (7 and 8)', 7, 8],
    ['Detractors (0 to 6)', 0, 6],
  ] as const;
  return (
    <HorizontalBars
      label="Promoters, passives and detractors"
      bars={groups.map(([label, from, to]) => {
        const count = bars.slice(from, to + 1).reduce((sum, bar) => sum + bar.count, 0);
        const narrowed = narrowedBy(barCondition(element, { label, count, from, to }));
        return { label, ...countWithShare(count, answered), narrowed };
      })}
    />
  );
}

const say = (mean: number): string => mean.toLocaleString(undefined, { maximumFractionDigits: 2 });

/** Returns the row of a ranked option. The better its average position, the longer its bar. */
const rankingBar = ({ label, count, mean }: Bar, places: number, first?: FilterCondition): HorizontalBar => ({
  label,
  bar: mean === undefined ? 0 : (places - mean + 1) / places,
  said: mean === undefined ? 'never ranked' : `average position ${say(mean)}`,
  beside: `${count.toLocaleString()} ranked it first`,
  narrowed: narrowedBy(first),
});

function withQuota({ label, places }: Bar): string {
  if (!places) return label;
  const { capacity, left } = places;
  return `${label} (quota: ${say(capacity - left)} of ${say(capacity)} used)`;
}

function LatestTexts({ texts }: Pick<ElementSummary, 'texts'>): ReactElement {
  return (
    <ul className="latest" aria-label="Latest answers">
      {texts.map(({ submission_id, text }, index) => (
        <li key={`${submission_id} ${index}`}>
          <SubmissionsLink narrowed={{ open: submission_id }} className="latest-text">
            {text}
          </SubmissionsLink>
        </li>
      ))}
    </ul>
  );
}
