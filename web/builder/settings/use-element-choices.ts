import { useMemo } from 'react';
import type { Form, InputElement } from '#ast/form/tree.ts';
import type { Choice } from '../../design/select.tsx';
import type { EditNode } from '../model/edit-node.ts';
import { validateRoot } from '../model/say-problem.ts';

/**
 * The elements of the form that a setting may name; and the one that it names, if that is gone.
 * @param candidatesOf the very rule of the service.
 * @param none what it is called that none is named.
 */
export function useElementChoices(
  root: EditNode,
  chosen: string | undefined,
  candidatesOf: (form: Form) => readonly InputElement[],
  none: string,
): readonly Choice<string>[] {
  return useMemo(() => {
    const result = validateRoot(root);
    const known = (result.ok ? candidatesOf(result.form) : []).map(({ attrs: { id, label } }) => ({
      id,
      label: `${label} (${id})`,
    }));
    const isGone = chosen !== undefined && !known.some(({ id }) => id === chosen);
    const why = result.ok ? 'not in the form' : 'the form is incomplete';
    return [
      { id: '', label: none },
      ...known,
      ...(isGone ? [{ id: chosen, label: `${chosen} (${why})` }] : []),
    ];
  }, [root, candidatesOf, chosen, none]);
}
