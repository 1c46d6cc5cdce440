import { useMemo } from 'react';
import type { Settings } from '#ast/settings.ts';
import type { Form, InputElement } from '#ast/tree.ts';
import { validateStructure } from '#ast/validate.ts';
import type { Choice } from '../../design/select.tsx';
import type { BuilderForm } from '../saving/builder-api.ts';

/**
 * The elements of the live form that a setting may name, by which the service checks; and the one that it names, if
 * that is gone.
 * @param candidatesOf the very rule of the service.
 * @param none what it is called that none is named.
 */
export function useLiveChoices(
  { live, form }: BuilderForm,
  setting: 'subject_element' | 'receipt_email_element',
  candidatesOf: (form: Form) => readonly InputElement[],
  none: string,
): readonly Choice<string>[] {
  const chosen = (form.settings as Settings)[setting];
  return useMemo(() => {
    const result = validateStructure(live.structure);
    const known = (result.ok ? candidatesOf(result.form) : []).map(({ attrs: { id, label } }) => ({
      id,
      label: `${label} (${id})`,
    }));
    const isGone = chosen !== undefined && !known.some(({ id }) => id === chosen);
    return [
      { id: '', label: none },
      ...known,
      ...(isGone ? [{ id: chosen, label: `${chosen} (not in the live form)` }] : []),
    ];
  }, [live.structure, candidatesOf, chosen, none]);
}
