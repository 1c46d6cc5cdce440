import { rules as calculation } from '../types/calculation/rules.ts';
import { rules as consent } from '../types/consent/rules.ts';
import { rules as hidden } from '../types/hidden/rules.ts';
import { rules as matrix } from '../types/matrix/rules.ts';
import { rules as picture_choice } from '../types/picture_choice/rules.ts';
import { rules as ranking } from '../types/ranking/rules.ts';
import { rules as rating } from '../types/rating/rules.ts';
import type { InputRules } from '../types/rules.ts';
import { rules as scale } from '../types/scale/rules.ts';
import { rules as score } from '../types/score/rules.ts';
import { rules as signature } from '../types/signature/rules.ts';

/**
 * Rules that the page's script loads only for forms with these types: `rules` of `types/<type>/rules.ts`
 * (web/page/start.ts). All other code reads them in `inputRules`.
 */
export const lazyRules = {
  rating,
  scale,
  ranking,
  consent,
  hidden,
  picture_choice,
  matrix,
  calculation,
  score,
  signature,
} as const satisfies Readonly<Record<string, InputRules>>;
