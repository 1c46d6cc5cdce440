import { type TSchema, Type } from 'typebox';

/** For how many days something is kept, or that it stays until somebody deletes it. */
type Days = number | 'forever';

type RetentionRule = {
  /** Where nobody says otherwise; `operator`: what the instance says (DELIVERY_RETENTION_DAYS), and never more. */
  default: Days | 'operator';
  most: number;
  /** Whether it may be kept for ever: what grows by itself may not. */
  mayStay: boolean;
  /** What it is, and from when its days count. */
  means: string;
};

/** What a workspace keeps for a time of its own, and each form where it says otherwise. */
export const retentionRules = {
  submissions: {
    default: 'forever',
    most: 3_650,
    mayStay: true,
    means: 'Completed submissions, with all that hangs on them, from when they were completed.',
  },
  incomplete: {
    default: 90,
    most: 3_650,
    mayStay: true,
    means: 'Submissions that nobody completed, from their last change.',
  },
  files: {
    default: 'forever',
    most: 3_650,
    mayStay: true,
    means:
      'Uploaded files of completed submissions, from when they came. Their names stay among the answers.',
  },
  mails: {
    default: 90,
    most: 3_650,
    mayStay: false,
    means: 'The log of mails, from when they were written.',
  },
  deliveries: {
    default: 'operator',
    most: 3_650,
    mayStay: false,
    means:
      'Events, deliveries and attempts, with their bodies, from when they happened. Never longer than the service keeps them.',
  },
  trash: { default: 30, most: 365, mayStay: false, means: 'The trash, from when something was laid there.' },
} as const satisfies Record<string, RetentionRule>;

export type RetentionKind = keyof typeof retentionRules;
export const retentionKinds = Object.keys(retentionRules) as RetentionKind[];

/** What somebody has said: of a kind that is left out, nothing. */
export type Retention = Partial<Record<RetentionKind, Days>>;

/** What was said, after a change of it. */
export const changedRetention = (
  said: Retention,
  change: Partial<Record<RetentionKind, Days | null>>,
): Retention =>
  Object.fromEntries(Object.entries({ ...said, ...change }).filter(([, days]) => days !== null));

/** What holds for a form, or a workspace: what is said of it, else what its workspace says, else the default. */
export function daysThatHold(
  kind: RetentionKind,
  operatorDays: number,
  ...said: readonly (Retention | undefined)[]
): Days {
  const named = said.map((retention) => retention?.[kind]).find((days) => days !== undefined);
  const usual = retentionRules[kind].default;
  if (usual !== 'operator') return named ?? usual;
  return typeof named === 'number' ? Math.min(named, operatorDays) : operatorDays;
}

/**
 * The same in SQL, of a form's row `f` and its workspace's `w`, as an interval; null: for ever.
 * @param said where what they say stands, the nearest first. `$operator_days` is what the instance says.
 */
export function keptFor(
  kind: RetentionKind,
  said: readonly string[] = ['f.retention', 'w.retention'],
): string {
  const usual = retentionRules[kind].default;
  const named = said.map((place) => `${place} ->> '${kind}'`).join(', ');
  const days =
    usual === 'operator'
      ? `least(coalesce(${named})::integer, $operator_days)`
      : `nullif(coalesce(${named}, '${usual}'), 'forever')::integer`;
  return `make_interval(secs => ${days} * 86400.0)`;
}

/** How the days of a kind are said; null takes back what was said. */
const kept = (kind: RetentionKind) => {
  const { most, mayStay, means }: RetentionRule = retentionRules[kind];
  const days = Type.Integer({ minimum: 1, maximum: most });
  const said = mayStay ? [days, Type.Literal('forever'), Type.Null()] : [days, Type.Null()];
  return Type.Optional(Type.Unsafe<Days | null>(Type.Union(said, { description: means })));
};

/** A change of what is said, by kind. Apart from the rules: statements need these in processes that have no other use for typebox's 370 modules. */
export const retentionChange = {
  submissions: kept('submissions'),
  incomplete: kept('incomplete'),
  files: kept('files'),
  mails: kept('mails'),
  deliveries: kept('deliveries'),
  trash: kept('trash'),
} as const satisfies Record<RetentionKind, TSchema>;
