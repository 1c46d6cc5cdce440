import { queryOptions } from '@tanstack/react-query';
import type { WebhookDetail } from '#webhooks/shapes.ts';
import { keepRows } from '../api/keep-rows.ts';
import { call } from '../api/operations.ts';
import { queryClient } from '../api/query-client.ts';
import type { LocatedForm } from '../shell/form-place.ts';
import { type LogView, logParameters } from './log/log-view.ts';

type Form = Pick<LocatedForm, 'workspace_id' | 'id'>;

/** What the plan and the operator say of every webhook. */
export type WebhookRules = Pick<WebhookDetail, 'secrets_allowed' | 'pause_days'>;

/** How often a screen in view looks again: soon while something is being retried, else now and then. */
const soonMs = 2_000;
const laterMs = 5_000;

export const webhooksQuery = (form: Form) =>
  queryOptions({
    queryKey: ['webhooks', form.id],
    queryFn: ({ signal }) => call(form.workspace_id, 'listWebhooks', { params: { id: form.id } }, { signal }),
    refetchInterval: (found) =>
      found.state.data?.data.some(({ day }) => day.retrying > 0) ? soonMs : laterMs,
  });

export const webhookQuery = (form: Form, webhook: string) =>
  queryOptions({
    queryKey: ['webhooks', form.id, webhook],
    queryFn: ({ signal }) => call(form.workspace_id, 'getWebhook', { params: { id: webhook } }, { signal }),
    refetchInterval: (found) => ((found.state.data?.webhook.day.retrying ?? 0) > 0 ? soonMs : laterMs),
  });

/** A health that is counted over a week changes slowly, and costs more than a look at the log. */
export const healthQuery = (form: Form, webhook: string) =>
  queryOptions({
    queryKey: ['webhooks', form.id, webhook, 'health'],
    queryFn: ({ signal }) =>
      call(form.workspace_id, 'getWebhookHealth', { params: { id: webhook } }, { signal }),
    refetchInterval: 30_000,
  });

export const deliveriesQuery = (form: Form, webhook: string, view: LogView) =>
  queryOptions({
    queryKey: ['webhooks', form.id, webhook, 'deliveries', logParameters(view)],
    queryFn: ({ signal }) =>
      call(
        form.workspace_id,
        'listDeliveries',
        { params: { id: webhook }, query: logParameters(view) },
        { signal },
      ),
    placeholderData: (before) => keepRows(before),
    refetchInterval: (found) =>
      found.state.data?.data.some(({ status }) => status === 'Retrying') ? soonMs : laterMs,
  });

export const deliveryQuery = (form: Form, webhook: string, delivery: string) =>
  queryOptions({
    queryKey: ['webhooks', form.id, webhook, 'delivery', delivery],
    queryFn: ({ signal }) => call(form.workspace_id, 'getDelivery', { params: { id: delivery } }, { signal }),
    refetchInterval: (found) => (found.state.data?.status === 'Retrying' ? soonMs : false),
  });

/** After any change: the list, the webhook, its log and what is open of it are read again. */
export const refreshWebhooks = (form: Form): Promise<void> =>
  queryClient.invalidateQueries({ queryKey: ['webhooks', form.id] });
