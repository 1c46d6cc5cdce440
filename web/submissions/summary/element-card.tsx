import type { ReactElement } from 'react';
import { formatCount } from '#ast/basics/format-number.ts';
import { imageAddress } from '#page/theme/image-address.ts';
import type { Bar, ElementSummary } from '#submissions/shapes.ts';
import { formatMonth } from '../../design/time.tsx';
import { useCurrentForm } from '../../shell/session.ts';
import type { FilterCondition } from '../filter/conditions.ts';
import { answeredCondition, barCondition, type LinkFilter, SubmissionsLink } from './bar-links.tsx';
import {
  countFirst,
  countWithShare,
  Figure,
  FigureNote,
  fewBars,
  formatMean,
  groupPromoters,
  type HorizontalBar,
  HorizontalBars,
  LongList,
  percent,
  promotersLabel,
  VerticalBars,
} from './charts.tsx';
import { ComparedChart, type ComparedSample, GroupAnswers } from './comparison.tsx';

/** Two options can have the same label. */
const optionOf = ({ option, label }: Bar): string => option ?? label;

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
                const count = bar.count.toLocaleString();
                return (
                  <td key={option} style={{ background: tint }}>
                    {condition ? (
                      <SubmissionsLink narrowed={{ where: [condition] }}>{count}</SubmissionsLink>
                    ) : (
                      count
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

/** The order of the bars, if it is not that of the form. */
const orders = {
  form: '',
  count: 'Most frequent first.',
  rank: 'Best average position first.',
} as const satisfies Record<ElementSummary['order'], string>;

/** More columns than fit on half of the page. */
const mostNarrowColumns = 4;

type ElementCardProps = { element: ElementSummary; sampled: number; compared: ComparedSample | undefined };

/** Shows the answers to one question in a chart that fits its type, or in one of two groups. */
export function ElementCard({ element, sampled, compared }: ElementCardProps): ReactElement {
  const { label, answered, group, is_retired, rows = [], bars, order } = element;
  const isWide = !compared && (rows[0]?.bars.length ?? 0) > mostNarrowColumns;
  return (
    <section className={`card element-card${isWide ? ' element-card-wide' : ''}`} aria-label={label}>
      <header>
        <h2 className="element-title">{label}</h2>
        <p className="soft small">
          {compared ? (
            <GroupAnswers element={element} comparison={compared.comparison} />
          ) : (
            <SubmissionsLink narrowed={{ where: [answeredCondition(element)] }}>
              {formatCount(answered, 'answer')}
            </SubmissionsLink>
          )}
          {group === null
            ? !compared && ` from ${formatCount(sampled, 'submission')}`
            : ` in the rows of ${group}`}
          {is_retired && ', no longer asked'}
          {bars.length > 1 && orders[order] && <>. {orders[order]}</>}
        </p>
      </header>
      {compared ? (
        <ComparedChart element={element} compared={compared} />
      ) : (
        <Picture element={element} sampled={sampled} />
      )}
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
  const lineOf = (bar: Bar, all: number): HorizontalBar => ({
    label: withQuota(bar),
    ...countWithShare(bar.count, all),
    picture: bar.image && imageAddress(form, bar.image),
    narrowed: narrowedBy(barCondition(element, bar)),
  });
  switch (chart) {
    case 'options':
      return (
        <LongList
          label={label}
          items={bars.map((bar) => lineOf(bar, answered))}
          first={countFirst(element)}
          draw={(items) => <HorizontalBars label={label} bars={items} />}
        />
      );
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
          <div>
            <Figure chart={chart} of={element} />
            <FigureNote of={element} />
          </div>
          {chart === 'recommendation' && (
            <HorizontalBars
              label={promotersLabel}
              bars={groupPromoters(bars).map((bar) => lineOf(bar, answered))}
            />
          )}
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

const narrowedBy = (condition: FilterCondition | undefined): LinkFilter | undefined =>
  condition && { where: [condition] };

/** Returns the row of a ranked option. The better its average position, the longer its bar. */
const rankingBar = ({ label, count, mean }: Bar, places: number, first?: FilterCondition): HorizontalBar => ({
  label,
  bar: mean === undefined ? 0 : (places - mean + 1) / places,
  text: mean === undefined ? 'never ranked' : `average position ${formatMean(mean)}`,
  beside: `${count.toLocaleString()} ranked it first`,
  narrowed: narrowedBy(first),
});

function withQuota({ label, places }: Bar): string {
  if (!places) return label;
  const { capacity, left } = places;
  return `${label} (quota: ${formatMean(capacity - left)} of ${formatMean(capacity)} used)`;
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
