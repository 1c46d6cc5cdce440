import { rules as calculation } from '../types/lazy-rules/calculation.ts';
import { rules as consent } from '../types/lazy-rules/consent.ts';
import { rules as matrix } from '../types/lazy-rules/matrix.ts';
import { rules as picture_choice } from '../types/lazy-rules/picture_choice.ts';
import { rules as ranking } from '../types/lazy-rules/ranking.ts';
import { rules as signature } from '../types/lazy-rules/signature.ts';
import type { InputRules } from '../types/rules.ts';

/**
 * Rules that the page's script loads only for forms with these types: `rules` of `types/lazy-rules/<type>.ts`
 * (web/page/start.ts). All other code reads them in `inputRules`.
 */
export const lazyRules = {
  ranking,
  consent,
  picture_choice,
  matrix,
  calculation,
  signature,
} as const satisfies Readonly<Record<string, InputRules>>;
