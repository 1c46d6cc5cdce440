/**
 * Why answers were held in the spam box:
 * `honeypot`: the field that people do not see was filled in; `too_fast`: sooner after the page than the form's
 * `min_seconds`; `no_page`: with a key that no page of ours gave, or without any where the form asks for work; `no_proof`:
 * without the work that the form asks of browsers; `other_site`: by a page of a site that the form's `embed_origins`
 * does not name.
 */
export const holdReasons = ['honeypot', 'too_fast', 'no_page', 'no_proof', 'other_site'] as const;
export type HoldReason = (typeof holdReasons)[number];
