import type { InputOf } from '#app/operations/operations.ts';
import type { Settings } from '#ast/settings.ts';

export type NewForm = InputOf<'createForm'>['body'];

/**
 * What a form that a person makes here begins with, unlike one that the API makes: defences that no visitor notices.
 * Two seconds are less than anybody needs; a hundred an hour are a school behind one address; machines send thousands.
 * The day is that of the person who makes it.
 */
export const newFormSettings = (): Settings => ({
  min_seconds: 2,
  limit_per_address: 100,
  limit_per_form: 5_000,
  time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
});
