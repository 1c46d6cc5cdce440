import { useNavigate } from '@tanstack/react-router';
import type { InputOf } from '#app/operations/operations.ts';
import type { Settings } from '#ast/settings.ts';

export type NewForm = InputOf<'createForm'>['body'];

/**
 * The settings of a form created here. Unlike forms created through the API, it has spam protection that
 * visitors never notice. No person answers within 2 seconds. A school behind one IP address may send 100
 * submissions an hour; bots send thousands. The time zone is the author's.
 */
export const newFormSettings = (): Settings => ({
  min_seconds: 2,
  limit_per_address: 100,
  limit_per_form: 5_000,
  time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
});

/** Opens a created form in the builder. */
export function useOpenForm(): (form: { id: string }) => Promise<void> {
  const navigate = useNavigate();
  return ({ id }) => navigate({ to: '/forms/$form', params: { form: id } });
}
