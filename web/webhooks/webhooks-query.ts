import { queryOptions } from '@tanstack/react-query';
import { type Form as AskedForm, listQuestions } from '#ast/form/tree.ts';
import type { WebhookDetail } from '#webhooks/shapes.ts';
import { keepRows } from '../api/keep-rows.ts';
import { readQuery } from '../api/operations.ts';
import type { AskedNode } from '../conditions/condition-tree.ts';
import type { LocatedForm } from '../shell/form-place.ts';
import { type LogView, logParameters } from './log-view.ts';

type Form = Pick<LocatedForm, 'workspace_id' | 'id'>;

/** What the plan and the operator say of every webhook. */
export type WebhookRules = Pick<WebhookDetail, 'secrets_allowed' | 'pause_days'>;

/** How often a screen in view looks again: soon while something is being retried, else now and then. */
const soonMs = 2_000;
const laterMs = 5_000;

export const webhooksQuery = (form: Form) =>
  queryOptions({
    ...readQuery(form.workspace_id, 'listWebhooks', { params: { id: form.id } }),
    refetchInterval: (found) =>
      found.state.data?.data.some(({ day }) => day.retrying > 0) ? soonMs : laterMs,
  });

export const webhookQuery = (form: Form, webhook: string) =>
  queryOptions({
    ...readQuery(form.workspace_id, 'getWebhook', { params: { id: webhook } }),
    refetchInterval: (found) => ((found.state.data?.webhook.day.retrying ?? 0) > 0 ? soonMs : laterMs),
  });

/** A health that is counted over a week changes slowly, and costs more than a look at the log. */
export const healthQuery = (form: Form, webhook: string) =>
  queryOptions({
    ...readQuery(form.workspace_id, 'getWebhookHealth', { params: { id: webhook } }),
    refetchInterval: 30_000,
  });

export const deliveriesQuery = (form: Form, webhook: string, view: LogView) =>
  queryOptions({
    ...readQuery(form.workspace_id, 'listDeliveries', {
      params: { id: webhook },
      query: logParameters(view),
    }),
    placeholderData: (before) => keepRows(before),
    refetchInterval: (found) =>
      found.state.data?.data.some(({ status }) => status === 'Retrying') ? soonMs : laterMs,
  });

export const deliveryQuery = (form: Form, delivery: string) =>
  queryOptions({
    ...readQuery(form.workspace_id, 'getDelivery', { params: { id: delivery } }),
    refetchInterval: (found) => (found.state.data?.status === 'Retrying' ? soonMs : false),
  });

/** What events of the live form look like. The form may be published anew meanwhile. */
export const payloadQuery = (form: Form) =>
  queryOptions({
    ...readQuery(form.workspace_id, 'getPayloadSamples', { params: { id: form.id } }),
    staleTime: 0,
  });

/** Programs that receive the events of a webhook. */
export const receiversQuery = (form: Form, webhook: string) =>
  queryOptions(readQuery(form.workspace_id, 'listReceivers', { params: { id: webhook } }));

/** What a filter may ask of a submission: the questions of the live version, in order. */
export const questionsQuery = (form: Form) =>
  queryOptions({
    ...readQuery(form.workspace_id, 'getForm', { params: { id: form.id } }),
    // It was validated when it became the live version.
    select: ({ structure }): AskedNode[] =>
      listQuestions(structure as AskedForm).map(({ element: { type, attrs } }) => ({ type, attrs })),
  });
