import { queryOptions } from '@tanstack/react-query';
import { type Form, listQuestions } from '#ast/tree.ts';
import { call } from '../../api/operations.ts';
import type { AskedNode } from '../../conditions/condition-tree.ts';
import type { LocatedForm } from '../../shell/form-place.ts';

/** What a filter may ask of a submission: the questions of the live version, in order. */
export const questionsQuery = (form: Pick<LocatedForm, 'workspace_id' | 'id'>) =>
  queryOptions({
    queryKey: ['form', form.id, 'questions'],
    async queryFn({ signal }): Promise<AskedNode[]> {
      const { structure } = await call(form.workspace_id, 'getForm', { params: { id: form.id } }, { signal });
      // It was validated when it became the live version.
      return listQuestions(structure as Form).map(({ element: { type, attrs } }) => ({ type, attrs }));
    },
  });
