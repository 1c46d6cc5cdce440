import { queryOptions } from '@tanstack/react-query';
import { type Form as AskedForm, listQuestions } from '#ast/form/tree.ts';
import type { WebhookDetail } from '#webhooks/shapes.ts';
import type { Role } from '#workspaces/shapes.ts';
import { operationQuery } from '../api/operations.ts';
import { keepPreviousRows } from '../api/query-client.ts';
import { createNodeFinder, type TestedNode, withFilledLabel } from '../conditions/condition-tree.ts';
import { useWorkspace } from '../settings/workspace.ts';
import { type LogView, toDeliveryLogParameters } from './log-view.ts';

type Place = Pick<WebhookOwner, 'workspace_id'>;
type Form = Place & { id: string };

/** The limits for webhooks that the plan and the operator set. */
export type WebhookRules = Pick<WebhookDetail, 'secrets_allowed' | 'pause_days'>;

/** How often a visible screen refreshes, in milliseconds: soon during retries, otherwise later. */
const soonMs = 2_000;
const laterMs = 5_000;

export const webhooksQuery = (form: Form) =>
  queryOptions({
    ...operationQuery(form.workspace_id, 'listWebhooks', { params: { id: form.id } }),
    refetchInterval: (found) =>
      found.state.data?.data.some(({ day }) => day.retrying > 0) ? soonMs : laterMs,
  });

/** Queries a page of all webhooks of a workspace. */
export const workspaceWebhooksQuery = (workspace: string, page: number) =>
  queryOptions({
    ...operationQuery(workspace, 'listWorkspaceWebhooks', { query: { page } }),
    placeholderData: (before) => keepPreviousRows(before),
    refetchInterval: laterMs,
  });

export const webhookQuery = (form: Place, webhook: string) =>
  queryOptions({
    ...operationQuery(form.workspace_id, 'getWebhook', { params: { id: webhook } }),
    refetchInterval: (found) => ((found.state.data?.webhook.day.retrying ?? 0) > 0 ? soonMs : laterMs),
  });

/** Statistics over a week change slowly, and cost more to read than the log. */
export const healthQuery = (form: Place, webhook: string) =>
  queryOptions({
    ...operationQuery(form.workspace_id, 'getWebhookHealth', { params: { id: webhook } }),
    refetchInterval: 30_000,
  });

export const deliveriesQuery = (form: Place, webhook: string, view: LogView) =>
  queryOptions({
    ...operationQuery(form.workspace_id, 'listDeliveries', {
      params: { id: webhook },
      query: toDeliveryLogParameters(view),
    }),
    placeholderData: (before) => keepPreviousRows(before),
    refetchInterval: (found) =>
      found.state.data?.data.some(({ status }) => status === 'Retrying') ? soonMs : laterMs,
  });

export const deliveryQuery = (form: Place, delivery: string) =>
  queryOptions({
    ...operationQuery(form.workspace_id, 'getDelivery', { params: { id: delivery } }),
    refetchInterval: (found) => (found.state.data?.status === 'Retrying' ? soonMs : false),
  });

/** Queries samples of the live form's events. Not cached, because the form can be published again. */
export const payloadSamplesQuery = (form: Form) =>
  queryOptions({
    ...operationQuery(form.workspace_id, 'getPayloadSamples', { params: { id: form.id } }),
    staleTime: 0,
  });

/** Example programs that receive the events of a webhook. */
export const exampleReceiversQuery = (form: Place, webhook: string) =>
  queryOptions(operationQuery(form.workspace_id, 'listReceivers', { params: { id: webhook } }));

/** Queries the questions of the live version in order, for filters. */
export const questionsQuery = (form: Form) =>
  queryOptions({
    ...operationQuery(form.workspace_id, 'getForm', { params: { id: form.id } }),
    // The structure was validated when it was published.
    select: ({ structure }): TestedNode[] => {
      const questions = listQuestions(structure as AskedForm).map(({ element }) => element);
      const find = createNodeFinder(questions);
      return questions.map(({ type, attrs }) => withFilledLabel({ type, attrs }, find));
    },
  });

/** What webhooks belong to: a form, or the whole workspace if `id` is null. */
export type WebhookOwner = { workspace_id: string; id: string | null; role: Role };

export function useWorkspaceOwner(): WebhookOwner {
  const { id, role } = useWorkspace();
  return { workspace_id: id, id: null, role };
}

/** Returns the address of a webhook's page. */
export const webhookAddress = ({ workspace_id, id }: WebhookOwner, webhook: string) =>
  id === null
    ? ({
        to: '/w/$workspace/settings/webhooks/$webhook',
        params: { workspace: workspace_id, webhook },
      } as const)
    : ({ to: '/forms/$form/webhooks/$webhook', params: { form: id, webhook } } as const);

/** Returns the address of the list of webhooks. */
export const webhooksAddress = ({ workspace_id, id }: WebhookOwner) =>
  id === null
    ? ({ to: '/w/$workspace/settings/webhooks', params: { workspace: workspace_id } } as const)
    : ({ to: '/forms/$form/webhooks', params: { form: id } } as const);
