import { type TSchema, Type } from 'typebox';
import { type Days, type RetentionKind, type RetentionRule, retentionRules } from './rules.ts';

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
