import { packageEndpoints } from '#backup/form-package/endpoints.ts';
import {
  passkeyEndpoints,
  providerEndpoints,
  secondFactorEndpoints,
} from '#console/accounts/second-factor-endpoints.ts';
import {
  ownSessionEndpoints,
  passwordResetEndpoints,
  sessionEndpoints,
} from '#console/accounts/session-endpoints.ts';
import {
  endingEndpoints,
  joinEndpoints,
  ownWorkspaceEndpoints,
} from '#console/accounts/workspace-endpoints.ts';
import { ownFormEndpoints } from '#console/forms/endpoints.ts';
import type { ConsoleServices, OwnOperation, OwnRoute } from '#console/serve.ts';
import { fileEndpoints } from '#files/endpoints.ts';
import { draftEndpoints } from '#forms/draft-endpoints.ts';
import { formEndpoints } from '#forms/endpoints.ts';
import { imageEndpoints } from '#forms/images/images.ts';
import { textEndpoints } from '#forms/texts.ts';
import { wholeFormEndpoints } from '#forms/whole-endpoints.ts';
import { invitationEndpoints } from '#invitations/endpoints.ts';
import type { Operation } from '#kit/operation.ts';
import { mailEndpoints } from '#mail/endpoints.ts';
import { peopleEndpoints } from '#people/endpoints.ts';
import type { Permission } from '#rules/permissions.ts';
import { bulkEndpoints } from '#search/bulk-endpoints.ts';
import { searchEndpoints } from '#search/endpoints.ts';
import { listEndpoints } from '#search/list-endpoints.ts';
import { viewEndpoints } from '#search/row-endpoints.ts';
import { savedViewEndpoints } from '#search/saved-views.ts';
import { analyticsEndpoints } from '#submissions/analytics.ts';
import { submissionChangeEndpoints } from '#submissions/changes/endpoints.ts';
import { noteEndpoints } from '#submissions/changes/notes.ts';
import { trashEndpoints } from '#submissions/changes/trash-endpoints.ts';
import { getEndpoint, submitEndpoint } from '#submissions/endpoints.ts';
import { historyEndpoints } from '#submissions/history.ts';
import { submissionImportEndpoints } from '#submissions/import/endpoints.ts';
import { columnEndpoints } from '#submissions/read-columns.ts';
import { retentionEndpoints } from '#submissions/retention/endpoints.ts';
import { spamEndpoints } from '#submissions/spam-endpoints.ts';
import { summaryEndpoints } from '#submissions/summary/endpoints.ts';
import { tagEndpoints } from '#submissions/tags.ts';
import { taskEndpoints } from '#tasks/read-tasks.ts';
import { webhookEndpoints } from '#webhooks/endpoints.ts';
import { feedEndpoints } from '#webhooks/feed/endpoints.ts';
import { payloadEndpoints } from '#webhooks/payload.ts';
import { replayEndpoints } from '#webhooks/replay/endpoints.ts';
import { auditEndpoints } from '#workspaces/audit/endpoints.ts';
import { workspaceEndpoints } from '#workspaces/endpoints.ts';
import { keyEndpoints } from '#workspaces/keys/endpoints.ts';
import { memberInvitationEndpoints } from '#workspaces/member-invitations/endpoints.ts';
import { memberEndpoints } from '#workspaces/members.ts';
import { type Noted, notedOf } from './noted.ts';
import { type Method, type OperationName, type OwnName, ownRoutes, routeOf, routes } from './routes.ts';
import type { Services } from './services.ts';

/** All operations of the API, by their names in the route table. */
export function apiOperations(services: Services) {
  const withAddresses = { ...services, addresses: services.config };
  return {
    ...formEndpoints(withAddresses),
    ...wholeFormEndpoints(withAddresses),
    ...packageEndpoints(withAddresses),
    ...draftEndpoints(withAddresses),
    ...textEndpoints(services),
    ...imageEndpoints(services),
    ...fileEndpoints(services),
    ...listEndpoints(services),
    getSubmission: getEndpoint(services),
    createSubmission: submitEndpoint(services),
    ...submissionChangeEndpoints(services),
    ...noteEndpoints(services),
    ...tagEndpoints(services),
    ...bulkEndpoints(services),
    ...submissionImportEndpoints(services),
    ...trashEndpoints(services),
    ...spamEndpoints(services),
    ...searchEndpoints(services),
    ...viewEndpoints(services),
    ...savedViewEndpoints(services),
    ...columnEndpoints(services),
    ...historyEndpoints(services),
    ...summaryEndpoints(services),
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
    ...retentionEndpoints(services),
    ...auditEndpoints(services),
    ...peopleEndpoints(services),
    ...mailEndpoints(services),
    ...taskEndpoints(services),
  } satisfies Record<OperationName, Operation<Permission>>;
}

/** The same of what only the session of a browser can mean. */
const ownOperations = (services: ConsoleServices) =>
  ({
    ...sessionEndpoints(services),
    ...ownSessionEndpoints(services),
    ...providerEndpoints(services),
    ...passkeyEndpoints(services),
    ...secondFactorEndpoints(services),
    ...passwordResetEndpoints(services),
    ...joinEndpoints(services),
    ...ownWorkspaceEndpoints(services),
    ...endingEndpoints(services),
    ...ownFormEndpoints(services),
  }) satisfies Record<OwnName, OwnOperation>;

/** The operations with the types of what they take and answer, for callers in TypeScript. */
export type Operations = ReturnType<typeof apiOperations> & ReturnType<typeof ownOperations>;

/** What an operation takes and answers is read off its declaration: no caller writes a type by hand. */
type TypesOf<Name extends keyof Operations> = NonNullable<Operations[Name]['types']>;
type Part<Key extends string, Value> = object extends Value
  ? { readonly [K in Key]?: Value }
  : { readonly [K in Key]: Value };

/** A file is sent as a browser has it, or as its bytes. */
type SentBody<Body> = Body extends Buffer ? Blob | Uint8Array : Body;

/** The parameters, the query and the body of an operation, each where it has them. */
export type InputOf<Name extends keyof Operations> = Part<'params', TypesOf<Name>['params']> &
  Part<'query', TypesOf<Name>['query']> &
  Part<'body', SentBody<TypesOf<Name>['body']>>;

/** What an operation answers when it succeeds. */
export type ReplyOf<Name extends keyof Operations> = TypesOf<Name>['reply'];

/** The operations that take If-Match. */
export type ConditionalName = {
  [Name in OperationName]: true extends Operations[Name]['isConditional'] ? Name : never;
}[OperationName];

/** An operation where it is served: all that is drawn from the table reads a list of these. */
export type ApiRoute = {
  name: OperationName;
  method: Method;
  /** Below /api/v1, with parameters as `:name`. */
  path: string;
  operation: Operation<Permission>;
  /** What the audit log has of it; undefined: nothing, as it only reads. */
  noted?: Noted | undefined;
  /** The operation that tells what this one changes, where the audit log says what became of it. */
  reader?: Operation<Permission> | undefined;
};

export const apiRoutes = (services: Services): readonly ApiRoute[] => routesTo(apiOperations(services));

/** Where operations are served, with what the audit log has of each. */
export const routesTo = (operations: ReturnType<typeof apiOperations>): readonly ApiRoute[] =>
  (Object.keys(routes) as (keyof typeof operations)[]).map((name) => {
    const noted = notedOf(name);
    const reader = noted && 'reads' in noted ? operations[noted.reads] : undefined;
    return { name, ...routeOf(name), operation: operations[name], noted, reader };
  });

export const consoleRoutes = (services: ConsoleServices): readonly OwnRoute[] => {
  const operations = ownOperations(services);
  return (Object.keys(ownRoutes) as (keyof typeof operations)[]).map((name) => ({
    ...routeOf(name),
    operation: operations[name],
  }));
};
