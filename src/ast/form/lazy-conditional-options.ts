import { conditionalOptions } from './conditional-options.ts';

/** `offers`, which the page's script loads only for forms with conditional options (web/page/offered-options.ts). */
export const lazyConditionalOptions: Partial<typeof conditionalOptions> = conditionalOptions;
