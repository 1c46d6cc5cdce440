import { queryOptions } from '@tanstack/react-query';
import { call } from '../../api/operations.ts';
import type { LocatedForm } from '../../shell/form-place.ts';

type Form = Pick<LocatedForm, 'workspace_id' | 'id'>;

/** What events of the live form look like. */
export const payloadQuery = (form: Form) =>
  queryOptions({
    queryKey: ['payload', form.id],
    queryFn: ({ signal }) =>
      call(form.workspace_id, 'getPayloadSamples', { params: { id: form.id } }, { signal }),
    // The form may be published anew meanwhile.
    staleTime: 0,
  });

/** Programs that receive the events of a webhook. */
export const receiversQuery = (form: Form, webhook: string) =>
  queryOptions({
    queryKey: ['webhooks', form.id, webhook, 'receivers'],
    queryFn: ({ signal }) =>
      call(form.workspace_id, 'listReceivers', { params: { id: webhook } }, { signal }),
  });
