import { packageEndpoints } from '#backup/form-package/endpoints.ts';
import { workspacePackageEndpoints } from '#backup/workspace-package/endpoints.ts';
import { bulkEndpoints } from '#search/view/bulk-endpoints.ts';
import { endingEndpoints } from '#console/accounts/ending-endpoints.ts';
import { joinEndpoints } from '#console/accounts/join-endpoints.ts';
import { passwordResetEndpoints } from '#console/accounts/password-reset-endpoints.ts';
import { ownSessionEndpoints } from '#console/accounts/own-session-endpoints.ts';
import { providerEndpoints } from '#console/accounts/provider-endpoints.ts';
import { passkeyEndpoints } from '#console/accounts/passkey-endpoints.ts';
import { secondFactorEndpoints } from '#console/accounts/second-factor-endpoints.ts';
import { sessionEndpoints } from '#console/accounts/session-endpoints.ts';
import { ownWorkspaceEndpoints } from '#console/accounts/workspace-endpoints.ts';
import { ownFormEndpoints } from '#console/forms/endpoints.ts';
import type { OwnOperation, OwnRoute } from '#console/serve.ts';
import type { ConsoleServices } from '#console/services.ts';
import { draftEndpoints } from '#forms/drafts/endpoints.ts';
import { textEndpoints } from '#forms/texts/endpoints.ts';
import { formEndpoints } from '#forms/endpoints.ts';
import { fileEndpoints } from '#files/endpoints.ts';
import { imageEndpoints } from '#forms/images/endpoints.ts';
import { wholeFormEndpoints } from '#forms/whole-endpoints.ts';
import { invitationEndpoints } from '#invitations/endpoints.ts';
import type { Operation } from '#kit/operation.ts';
import { mailEndpoints } from '#mail/endpoints.ts';
import { peopleEndpoints } from '#people/endpoints.ts';
import { searchEndpoints } from '#search/endpoints.ts';
import { analyticsEndpoints } from '#submissions/analytics/endpoints.ts';
import { submissionChangeEndpoints } from '#submissions/changes/endpoints.ts';
import { submissionEndpoints } from '#submissions/endpoints.ts';
import { retentionEndpoints } from '#submissions/retention/endpoints.ts';
import { spamEndpoints } from '#submissions/held/endpoints.ts';
import { submissionImportEndpoints } from '#submissions/import/endpoints.ts';
import { noteEndpoints } from '#submissions/notes/endpoints.ts';
import { submitEndpoint } from '#submissions/submit-endpoint.ts';
import { tagEndpoints } from '#submissions/tags/endpoints.ts';
import { trashEndpoints } from '#submissions/trash/endpoints.ts';
import { savedViewEndpoints } from '#search/view/saved/endpoints.ts';
import { viewEndpoints } from '#search/view/endpoints.ts';
import { columnEndpoints } from '#submissions/columns/endpoints.ts';
import { historyEndpoints } from '#submissions/history/endpoints.ts';
import { summaryEndpoints } from '#submissions/summary/endpoints.ts';
import { webhookEndpoints } from '#webhooks/endpoints.ts';
import { feedEndpoints } from '#webhooks/feed/endpoints.ts';
import { payloadEndpoints } from '#webhooks/payload/endpoints.ts';
import { replayEndpoints } from '#webhooks/replay/endpoints.ts';
import { auditEndpoints } from '#workspaces/audit/endpoints.ts';
import { workspaceEndpoints } from '#workspaces/endpoints.ts';
import { keyEndpoints } from '#workspaces/keys/endpoints.ts';
import { memberInvitationEndpoints } from '#workspaces/member-invitations/endpoints.ts';
import { memberEndpoints } from '#workspaces/members/endpoints.ts';
import type { Permission } from '#workspaces/permissions.ts';
import { type Noted, notedOf } from './noted.ts';
import { type Method, type OperationName, type OwnName, routeOf } from './routes.ts';
import type { Services } from './services.ts';

/** What stands behind each name of the route table. */
export function apiOperations(services: Services) {
  const forms = formEndpoints({ ...services, addresses: services.config });
  const wholeForms = wholeFormEndpoints({ ...services, addresses: services.config });
  const packages = packageEndpoints({ ...services, addresses: services.config });
  const drafts = draftEndpoints({ ...services, addresses: services.config });
  const texts = textEndpoints(services);
  const submissions = submissionEndpoints(services);
  const changes = submissionChangeEndpoints(services);
  const notes = noteEndpoints(services);
  const saved = savedViewEndpoints(services);
  const bulk = bulkEndpoints(services);
  const trash = trashEndpoints(services);
  const spam = spamEndpoints(services);
  const submissionImports = submissionImportEndpoints(services);
  const search = searchEndpoints(services);
  const views = viewEndpoints(services);
  const invitations = invitationEndpoints(services);
  const webhooks = webhookEndpoints(services);
  const replays = replayEndpoints(services);
  const payloads = payloadEndpoints(services);
  const members = memberEndpoints(services);
  const joining = memberInvitationEndpoints(services);
  const keys = keyEndpoints(services);
  const workspace = workspaceEndpoints(services);
  const wholeWorkspace = workspacePackageEndpoints(services);
  const mail = mailEndpoints(services);
  const audit = auditEndpoints(services);
  const retention = retentionEndpoints(services);
  const people = peopleEndpoints(services);
  return {
    listForms: forms.list,
    createForm: forms.create,
    getForm: forms.get,
    updateForm: forms.update,
    changeForm: forms.change,
    deleteForm: forms.remove,
    listFormActivity: wholeForms.overview,
    validateForm: wholeForms.validate,
    convertForm: wholeForms.convert,
    importForm: wholeForms.import,
    exportForm: wholeForms.export,
    packForm: packages.pack,
    unpackForm: packages.unpack,
    duplicateForm: wholeForms.duplicate,
    getDraft: drafts.get,
    saveDraft: drafts.save,
    publishForm: drafts.publish,
    unpublishForm: wholeForms.unpublish,
    archiveForm: wholeForms.archive,
    restoreForm: wholeForms.restore,
    listVersions: drafts.versions,
    getVersion: drafts.version,
    restoreVersion: drafts.restoreVersion,
    countAnswers: wholeForms.answerCounts,
    getFormSchema: payloads.schema,
    listFormTexts: texts.list,
    exportFormTexts: texts.export,
    importFormTexts: texts.import,
    createImage: imageEndpoints(services).create,
    createFile: fileEndpoints(services).create,

    listFormSubmissions: submissions.listOfForm,
    listSubmissions: submissions.list,
    searchSubmissions: search.search,
    suggestSearch: search.suggest,
    getSubmission: submissions.get,
    createSubmission: submitEndpoint(services),
    changeSubmission: changes.change,
    deleteSubmission: changes.remove,
    restoreSubmission: changes.restore,
    listNotes: notes.list,
    addNote: notes.add,
    deleteNote: notes.remove,
    listTags: tagEndpoints(services).list,
    startDeletion: bulk.startDeletion,
    listDeletions: bulk.listDeletions,
    getDeletion: bulk.getDeletion,
    previewSubmissionImport: submissionImports.preview,
    startSubmissionImport: submissionImports.start,
    listSubmissionImports: submissionImports.list,
    startTagging: bulk.startTagging,
    listTaggings: bulk.listTaggings,
    getTagging: bulk.getTagging,
    startBulkChange: bulk.startBulkChange,
    listBulkChanges: bulk.listBulkChanges,
    getBulkChange: bulk.getBulkChange,
    undoBulkChange: bulk.undoBulkChange,
    listTrash: trash.list,
    restoreSubmissions: trash.restore,
    emptyTrash: trash.empty,
    listSpam: spam.list,
    getSpam: spam.get,
    releaseSpam: spam.release,
    deleteSpam: spam.remove,
    allowSite: spam.allowSite,
    viewSubmission: views.one,
    getSubmissionTimeline: historyEndpoints(services).timeline,
    exportFormSubmissions: views.export,
    listFormRows: views.rows,
    listViews: saved.list,
    saveView: saved.save,
    getView: saved.get,
    changeView: saved.change,
    deleteView: saved.remove,
    getFormColumns: columnEndpoints(services).columns,
    getFormSummary: summaryEndpoints(services).summary,
    getFormAnalytics: analyticsEndpoints(services).analytics,

    listInvitations: invitations.list,
    createInvitations: invitations.create,
    getInvitationsOverview: invitations.overview,
    exportInvitations: invitations.export,
    previewInvitationImport: invitations.previewImport,
    startInvitationImport: invitations.import,
    previewInvitationMail: invitations.previewMail,
    remindInvitations: invitations.remind,
    getInvitation: invitations.get,
    resendInvitation: invitations.resend,
    revokeInvitation: invitations.revoke,

    listEvents: feedEndpoints(services).list,

    listWebhooks: webhooks.list,
    createWebhook: webhooks.create,
    getPayloadSamples: payloads.payload,
    getWebhook: webhooks.get,
    changeWebhook: webhooks.change,
    deleteWebhook: webhooks.remove,
    setWebhookSecret: webhooks.setSecret,
    testWebhook: webhooks.test,
    getWebhookHealth: webhooks.health,
    listReceivers: payloads.receivers,
    listDeliveries: webhooks.listDeliveries,
    getDelivery: webhooks.getDelivery,
    retryDelivery: webhooks.retryDelivery,
    listReplays: replays.list,
    countReplay: replays.count,
    startReplay: replays.start,
    cancelReplay: replays.cancel,

    listMembers: members.list,
    inviteMember: joining.invite,
    listMemberInvitations: joining.list,
    resendMemberInvitation: joining.resend,
    revokeMemberInvitation: joining.revoke,
    getMember: members.get,
    changeMember: members.change,
    removeMember: members.remove,

    listKeys: keys.list,
    createKey: keys.create,
    getKey: keys.get,
    changeKey: keys.change,
    revokeKey: keys.revoke,
    rotateKey: keys.rotate,
    listKeyRequests: keys.requests,

    getWorkspace: workspace.get,
    changeWorkspace: workspace.change,
    packWorkspace: wholeWorkspace.pack,
    beginWorkspaceImport: wholeWorkspace.begin,
    addWorkspacePart: wholeWorkspace.add,
    startWorkspaceImport: wholeWorkspace.start,
    getWorkspaceImport: wholeWorkspace.get,
    listWorkspaceImports: wholeWorkspace.list,

    getRetention: retention.get,
    changeRetention: retention.change,
    previewRetention: retention.preview,
    getFormRetention: retention.getOfForm,
    changeFormRetention: retention.changeOfForm,

    listAuditLog: audit.list,
    exportAuditLog: audit.export,

    findPerson: people.find,
    exportPerson: people.export,
    erasePerson: people.erase,
    listErasures: people.listErasures,
    getErasure: people.getErasure,

    getMailStatus: mail.status,
    testMail: mail.test,
    listMails: mail.list,
    getMail: mail.get,
    retryMail: mail.retry,
  } satisfies Record<OperationName, Operation<Permission>>;
}

/** What stands behind each name of the console's own routes. */
function ownOperations(services: ConsoleServices) {
  const session = sessionEndpoints(services);
  const sessions = ownSessionEndpoints(services);
  const provider = providerEndpoints(services);
  const passkeys = passkeyEndpoints(services);
  const factors = secondFactorEndpoints(services);
  const resets = passwordResetEndpoints(services);
  const joins = joinEndpoints(services);
  const workspaces = ownWorkspaceEndpoints(services);
  const endings = endingEndpoints(services);
  const forms = ownFormEndpoints(services);
  return {
    getSession: session.get,
    signIn: session.begin,
    signOut: session.end,
    readWaysIn: provider.ways,
    askProvider: provider.ask,
    signInByProvider: provider.signIn,
    askForPasskey: passkeys.ask,
    signInByPasskey: passkeys.signIn,
    takeSecondStep: session.takeSecondStep,
    renamePerson: session.rename,
    deleteAccount: endings.deleteAccount,
    bringBackAccount: endings.bringBackAccount,
    changePassword: session.changePassword,
    listSessions: sessions.list,
    listActivity: sessions.activity,
    endSession: sessions.end,
    endOtherSessions: sessions.endOthers,
    readSecondFactors: factors.read,
    startTotp: factors.startTotp,
    confirmTotp: factors.confirmTotp,
    removeTotp: factors.removeTotp,
    startPasskey: passkeys.start,
    addPasskey: passkeys.add,
    renamePasskey: passkeys.rename,
    removePasskey: passkeys.remove,
    renewRecoveryCodes: factors.renewRecoveryCodes,
    askForPasswordReset: resets.ask,
    finishPasswordReset: resets.finish,
    openMemberInvitation: joins.open,
    joinByPassword: joins.joinByPassword,
    joinWorkspace: joins.join,
    createWorkspace: workspaces.create,
    deleteWorkspace: endings.deleteWorkspace,
    bringBackWorkspace: endings.bringBackWorkspace,
    leaveWorkspace: workspaces.leave,
    locateForm: forms.locate,
    getArrangement: forms.getArrangement,
    saveArrangement: forms.saveArrangement,
  } satisfies Record<OwnName, OwnOperation>;
}

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
  Object.entries(operations).map(([key, operation]) => {
    const name = key as OperationName;
    const noted = notedOf(name);
    const reader = noted && 'reads' in noted ? operations[noted.reads] : undefined;
    return { name, ...routeOf(name), operation, noted, reader };
  });

export const consoleRoutes = (services: ConsoleServices): readonly OwnRoute[] =>
  Object.entries(ownOperations(services)).map(([name, operation]) => ({
    ...routeOf(name as OwnName),
    operation,
  }));
