/**
 * Why answers were held in the spam box:
 * `honeypot`: the field that people do not see was filled in; `too_fast`: sooner after the page than the form's
 * `min_seconds`; `no_page`: without a page's key, where the form looks at its time; `no_proof`: without the work that
 * the form asks of browsers.
 */
export const holdReasons = ['honeypot', 'too_fast', 'no_page', 'no_proof'] as const;
export type HoldReason = (typeof holdReasons)[number];
