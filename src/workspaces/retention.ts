import { type TSchema, Type } from 'typebox';

/** The number of days that data is kept, or forever. */
type Days = number | 'forever';

type RetentionRule = {
  /** The default. `operator`: the instance's limit (DELIVERY_RETENTION_DAYS), which is also the maximum. */
  default: Days | 'operator';
  most: number;
  /** Whether the data can be kept forever. Data that accumulates automatically can't. */
  mayStay: boolean;
  /** A description of the data, and of when its retention period begins. */
  means: string;
};

/** The kinds of data whose retention workspaces set, and forms override. */
export const retentionRules = {
  submissions: {
    default: 'forever',
    most: 3_650,
    mayStay: true,
    means: 'Starts at completion. Includes notes, tags and files.',
  },
  incomplete: { default: 90, most: 3_650, mayStay: true, means: 'Starts at the last change.' },
  files: {
    default: 'forever',
    most: 3_650,
    mayStay: true,
    means: 'Starts at the upload. The names of the files stay in the answers.',
  },
  mails: { default: 90, most: 3_650, mayStay: false, means: 'Starts when an email is created.' },
  deliveries: {
    default: 'operator',
    most: 3_650,
    mayStay: false,
    means:
      "Starts at the event. Includes deliveries and attempts with their bodies. The server's own limit also applies.",
  },
  trash: { default: 30, most: 365, mayStay: false, means: 'Starts when a submission is moved to the trash.' },
} as const satisfies Record<string, RetentionRule>;

export type RetentionKind = keyof typeof retentionRules;
export const retentionKinds = Object.keys(retentionRules) as RetentionKind[];

/** The retention that a workspace or form sets, by kind; missing kinds are not set. */
export type Retention = Partial<Record<RetentionKind, Days>>;

/** Returns the retention after a change; null removes a kind's own setting. */
export const applyRetentionChange = (
  current: Retention,
  change: Partial<Record<RetentionKind, Days | null>>,
): Retention =>
  Object.fromEntries(Object.entries({ ...current, ...change }).filter(([, days]) => days !== null));

/** Returns the days that apply: those of the form, otherwise of its workspace, otherwise the default. */
export function effectiveRetentionDays(
  kind: RetentionKind,
  operatorDays: number,
  ...settings: readonly (Retention | undefined)[]
): Days {
  const named = settings.map((retention) => retention?.[kind]).find((days) => days !== undefined);
  const usual = retentionRules[kind].default;
  if (usual !== 'operator') return named ?? usual;
  return typeof named === 'number' ? Math.min(named, operatorDays) : operatorDays;
}

/**
 * Returns SQL for the retention period that applies, as an interval, for a form's row `f` and its workspace's
 * row `w`; null means forever.
 * @param columns retention columns, the most specific first. `$operator_days` is the instance's limit.
 */
export function retentionIntervalSql(
  kind: RetentionKind,
  columns: readonly string[] = ['f.retention', 'w.retention'],
): string {
  const usual = retentionRules[kind].default;
  const named = columns.map((place) => `${place} ->> '${kind}'`).join(', ');
  const days =
    usual === 'operator'
      ? `least(coalesce(${named})::integer, $operator_days)`
      : `nullif(coalesce(${named}, '${usual}'), 'forever')::integer`;
  return `make_interval(secs => ${days} * 86400.0)`;
}

/** Returns the schema for the days of one kind; null restores the default. */
const retentionDaysSchema = (kind: RetentionKind) => {
  const { most, mayStay, means }: RetentionRule = retentionRules[kind];
  const days = Type.Integer({ minimum: 1, maximum: most });
  const values = mayStay ? [days, Type.Literal('forever'), Type.Null()] : [days, Type.Null()];
  return Type.Optional(Type.Unsafe<Days | null>(Type.Union(values, { description: means })));
};

/**
 * The schema for changing retention. Separate from the rules, because some processes need these without
 * loading typebox's 370 modules.
 */
export const retentionChangeSchema = {
  submissions: retentionDaysSchema('submissions'),
  incomplete: retentionDaysSchema('incomplete'),
  files: retentionDaysSchema('files'),
  mails: retentionDaysSchema('mails'),
  deliveries: retentionDaysSchema('deliveries'),
  trash: retentionDaysSchema('trash'),
} as const satisfies Record<RetentionKind, TSchema>;
