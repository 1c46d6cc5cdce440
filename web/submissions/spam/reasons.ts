import type { HeldRow } from '#submissions/held/shapes.ts';

/** Why something was held: in a word or two, and as a sentence. */
export const reasons = {
  honeypot: ['Hidden field', 'It filled in a field that people do not see.'],
  too_fast: ['Too fast', 'It came sooner after its page than this form’s least seconds.'],
  no_page: ['No page', 'It was sent without opening the page of the form.'],
  other_site: [
    'Other site',
    'It was sent by a page of another site, which this form’s settings do not name.',
  ],
  no_proof: ['No proof of work', 'It came without the work that this form asks of browsers.'],
} as const satisfies Record<HeldRow['reason'], readonly [word: string, sentence: string]>;
