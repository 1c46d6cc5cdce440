import { getProperty } from '#ast/basics/json.ts';
import { packageEndpoints } from '#backup/form-package/endpoints.ts';
import type { SessionOperation, SessionRoute } from '#console/serve.ts';
import { fileEndpoints } from '#files/endpoints.ts';
import { draftEndpoints } from '#forms/draft-endpoints.ts';
import { formEndpoints } from '#forms/endpoints.ts';
import { imageEndpoints } from '#forms/images/images.ts';
import { labelEndpoints } from '#forms/labels.ts';
import { textEndpoints } from '#forms/texts.ts';
import { wholeFormEndpoints } from '#forms/whole-endpoints.ts';
import { invitationEndpoints } from '#invitations/endpoints.ts';
import type { Operation } from '#kit/operation.ts';
import { mailEndpoints } from '#mail/endpoints.ts';
import { formEmailEndpoints } from '#mail/notices/form-email-endpoints.ts';
import { peopleEndpoints } from '#people/endpoints.ts';
import type { Permission } from '#rules/permissions.ts';
import { bulkEndpoints } from '#search/bulk-endpoints.ts';
import { searchEndpoints } from '#search/endpoints.ts';
import { submissionListEndpoints } from '#search/list-endpoints.ts';
import { tableRowEndpoints } from '#search/row-endpoints.ts';
import { savedViewEndpoints } from '#search/saved-views.ts';
import { shareEndpoints } from '#search/shares.ts';
import { summaryEndpoints } from '#search/summary-endpoints.ts';
import { tableArrangementEndpoints } from '#search/table-arrangement.ts';
import { analyticsEndpoints } from '#submissions/analytics.ts';
import { submissionChangeEndpoints } from '#submissions/changes/endpoints.ts';
import { noteEndpoints } from '#submissions/changes/notes.ts';
import { trashEndpoints } from '#submissions/changes/trash-endpoints.ts';
import { createSubmissionEndpoint, getSubmissionEndpoint, listTagsEndpoint } from '#submissions/endpoints.ts';
import { historyEndpoints } from '#submissions/history.ts';
import { submissionImportEndpoints } from '#submissions/import/endpoints.ts';
import { getSubmissionPdfEndpoint } from '#submissions/pdf/endpoints.ts';
import { columnEndpoints } from '#submissions/read-columns.ts';
import { retentionEndpoints } from '#submissions/retention/endpoints.ts';
import { spamEndpoints } from '#submissions/spam-endpoints.ts';
import { taskEndpoints } from '#tasks/read-tasks.ts';
import { webhookEndpoints } from '#webhooks/endpoints.ts';
import { feedEndpoints } from '#webhooks/feed-endpoints.ts';
import { payloadEndpoints } from '#webhooks/payload.ts';
import { replayEndpoints } from '#webhooks/replay/endpoints.ts';
import { auditEndpoints } from '#workspaces/audit-endpoints.ts';
import { domainEndpoints } from '#workspaces/domains.ts';
import { workspaceEndpoints } from '#workspaces/endpoints.ts';
import { keyEndpoints } from '#workspaces/key-endpoints.ts';
import { memberInvitationEndpoints } from '#workspaces/member-invitations/endpoints.ts';
import { memberEndpoints } from '#workspaces/members.ts';
import type { SessionServices } from '#workspaces/sign-in/require-person.ts';
import {
  passkeyEndpoints,
  providerEndpoints,
  secondFactorEndpoints,
} from '#workspaces/sign-in/second-factor-endpoints.ts';
import {
  accountSessionEndpoints,
  passwordResetEndpoints,
  sessionEndpoints,
} from '#workspaces/sign-in/session-endpoints.ts';
import {
  deletionEndpoints,
  joinEndpoints,
  personWorkspaceEndpoints,
} from '#workspaces/sign-in/workspace-endpoints.ts';
import { stageEndpoints } from '#workspaces/stages.ts';
import {
  type Method,
  type OperationName,
  routeOf,
  routes,
  type SessionOperationName,
  sessionRoutes,
} from './routes.ts';
import type { Services } from './services.ts';

/** Returns all operations of the API, by their names in the route table. */
export function apiOperations(services: Services) {
  const withAddresses = { ...services, addresses: services.config };
  return {
    ...formEndpoints(withAddresses),
    ...wholeFormEndpoints(withAddresses),
    ...labelEndpoints(services),
    ...packageEndpoints(withAddresses),
    ...draftEndpoints(withAddresses),
    ...textEndpoints(services),
    ...imageEndpoints(services),
    ...fileEndpoints(services),
    ...submissionListEndpoints(services),
    getSubmission: getSubmissionEndpoint(services),
    getSubmissionPdf: getSubmissionPdfEndpoint(services),
    createSubmission: createSubmissionEndpoint(services),
    ...submissionChangeEndpoints(services),
    ...noteEndpoints(services),
    listTags: listTagsEndpoint(services),
    ...bulkEndpoints(services),
    ...submissionImportEndpoints(services),
    ...trashEndpoints(services),
    ...spamEndpoints(services),
    ...searchEndpoints(services),
    ...tableRowEndpoints(services),
    ...savedViewEndpoints(services),
    ...columnEndpoints(services),
    ...historyEndpoints(services),
    ...summaryEndpoints(services),
    ...shareEndpoints(services),
    ...analyticsEndpoints(services),
    ...invitationEndpoints(services),
    ...feedEndpoints(services),
    ...webhookEndpoints(services),
    ...payloadEndpoints(services),
    ...replayEndpoints(services),
    ...memberEndpoints(services),
    ...memberInvitationEndpoints(services),
    ...keyEndpoints(services),
    ...workspaceEndpoints(services),
    ...domainEndpoints(services),
    ...stageEndpoints(services),
    ...retentionEndpoints(services),
    ...auditEndpoints(services),
    ...peopleEndpoints(services),
    ...mailEndpoints(services),
    ...formEmailEndpoints(services),
    ...taskEndpoints(services),
  } satisfies Record<OperationName, Operation<Permission>>;
}

/** Returns the operations that require the session of a browser. */
const sessionOperations = (services: SessionServices) =>
  ({
    ...sessionEndpoints(services),
    ...accountSessionEndpoints(services),
    ...providerEndpoints(services),
    ...passkeyEndpoints(services),
    ...secondFactorEndpoints(services),
    ...passwordResetEndpoints(services),
    ...joinEndpoints(services),
    ...personWorkspaceEndpoints(services),
    ...deletionEndpoints(services),
    ...tableArrangementEndpoints(services),
  }) satisfies Record<SessionOperationName, SessionOperation>;

/** The operations with the types of their inputs and responses, for TypeScript callers. */
export type Operations = ReturnType<typeof apiOperations> & ReturnType<typeof sessionOperations>;

/** The types of an operation come from its declaration, so no caller has to write them by hand. */
type TypesOf<Name extends keyof Operations> = NonNullable<Operations[Name]['types']>;
type Part<Key extends string, Value> = object extends Value
  ? { readonly [K in Key]?: Value }
  : { readonly [K in Key]: Value };

/** A file is sent as a Blob in the browser, or as its bytes. */
type SentBody<Body> = Body extends Buffer ? Blob | Uint8Array : Body;

/** The parameters, the query and the body of an operation, if it has them. */
export type InputOf<Name extends keyof Operations> = Part<'params', TypesOf<Name>['params']> &
  Part<'query', TypesOf<Name>['query']> &
  Part<'body', SentBody<TypesOf<Name>['body']>>;

/** The response of an operation if it succeeds. */
export type ReplyOf<Name extends keyof Operations> = TypesOf<Name>['reply'];

/** The operations that accept If-Match. */
export type ConditionalOperationName = {
  [Name in OperationName]: true extends Operations[Name]['isConditional'] ? Name : never;
}[OperationName];

/** An operation with its route. Everything that is generated from the table reads a list of these. */
export type ApiRoute = {
  name: OperationName;
  method: Method;
  /** Below /api/v1, with parameters as `:name`. */
  path: string;
  operation: Operation<Permission>;
  /** The operation that reads what this one changes, if the audit log records the change. */
  reader?: Operation<Permission> | undefined;
};

/** Returns the routes of the API, each with the operation that reads what it changes. */
export function apiRoutes(services: Services): readonly ApiRoute[] {
  const operations = apiOperations(services);
  return (Object.keys(routes) as (keyof typeof operations)[]).map((name) => {
    const operation: Operation<Permission> = operations[name];
    const readerName = findReadOperationName(operation);
    const reader =
      readerName === undefined ? undefined : getProperty<Operation<Permission>>(operations, readerName);
    return { name, ...routeOf(name), operation, reader };
  });
}

/** The name of the operation that reads what an operation changes or creates. */
export function findReadOperationName({ audit }: Pick<Operation, 'audit'>): string | undefined {
  if (typeof audit !== 'object') return undefined;
  return 'changes' in audit ? audit.changes : 'creates' in audit ? audit.creates : undefined;
}

export const consoleRoutes = (services: SessionServices): readonly SessionRoute[] => {
  const operations = sessionOperations(services);
  return (Object.keys(sessionRoutes) as (keyof typeof operations)[]).map((name) => ({
    ...routeOf(name),
    operation: operations[name],
  }));
};
