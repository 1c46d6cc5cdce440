import { conditionalOptionFunctions } from './conditional-options.ts';

/**
 * The rules of conditional options, which the page's script loads only for forms that have such options
 * (web/page/offered-options.ts).
 */
export const lazyConditionalOptionFunctions: Partial<typeof conditionalOptionFunctions> =
  conditionalOptionFunctions;
