import { queryOptions } from '@tanstack/react-query';
import type { Payload, ReceiverList } from '#console/webhooks/shapes.ts';
import { get } from '../../api/client.ts';
import { formPath, type LocatedForm } from '../../shell/form-place.ts';
import { webhookPath } from '../webhooks-query.ts';

type Form = Pick<LocatedForm, 'workspace_id' | 'id'>;

/** What events of the live form look like. */
export const payloadQuery = (form: Form) =>
  queryOptions({
    queryKey: ['payload', form.id],
    queryFn: ({ signal }) => get<Payload>(`${formPath(form)}/payload`, { signal }),
    // The form may be published anew meanwhile.
    staleTime: 0,
  });

/** Programs that receive the events of a webhook. */
export const receiversQuery = (form: Form, webhook: string) =>
  queryOptions({
    queryKey: ['webhooks', form.id, webhook, 'receivers'],
    queryFn: ({ signal }) => get<ReceiverList>(`${webhookPath(form, webhook)}/receivers`, { signal }),
  });
