import { useMemo } from 'react';
import type { Form, InputElement } from '#ast/form/tree.ts';
import type { Choice } from '../../design/select.tsx';
import type { EditNode } from '../model/edit-node.ts';
import { validateRoot } from '../model/say-problem.ts';

/**
 * Lists the elements that a setting can refer to, and the chosen one if it no longer exists.
 * @param candidatesOf the rule that the server uses.
 * @param none the label for no element.
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
