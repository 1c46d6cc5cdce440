import type { OperationName, SessionOperationName } from '#app/operations/routes.ts';
import { ApiProblem } from './client.ts';
import { queryClient } from './query-client.ts';

type Name = OperationName | SessionOperationName;

const forms = ['listFormActivity', 'listLabels'] as const;
const form = ['locateForm', 'getForm', ...forms] as const;
const spam = ['listSpam', 'getSpam'] as const;
const submissions = [
  ...form,
  ...spam,
  'listFormRows',
  'searchSubmissions',
  'getFormColumns',
  'viewSubmission',
  'getSubmissionTimeline',
  'listNotes',
  'listTags',
  'listTrash',
  'getFormSummary',
  'getFormAnalytics',
  'listBulkChanges',
] as const;
const webhooks = [
  'listWebhooks',
  'listWorkspaceWebhooks',
  'getWebhook',
  'getWebhookHealth',
  'listDeliveries',
  'getDelivery',
  'listReplays',
  'countReplay',
] as const;
const invitations = ['getInvitationsOverview', 'listInvitations'] as const;
const members = ['listMembers', 'getWorkspace', 'listKeys', 'getSession'] as const;
const retention = ['getRetention', 'previewRetention'] as const;

/** The operations that read what each operation changes. Their queries are fetched again after it. */
const readersOf: Partial<Record<Name, readonly Name[]>> = {
  changeWorkspace: ['getWorkspace', 'getSession'],
  createWorkspace: ['getSession'],
  deleteWorkspace: ['getSession'],
  bringBackWorkspace: ['getSession'],
  leaveWorkspace: ['getSession'],
  renamePerson: ['getSession'],
  changeNotifications: ['getNotifications'],
  endSession: ['listSessions'],
  endOtherSessions: ['listSessions'],
  confirmTotp: ['readSecondFactors'],
  removeTotp: ['readSecondFactors'],
  addPasskey: ['readSecondFactors'],
  renamePasskey: ['readSecondFactors'],
  removePasskey: ['readSecondFactors'],
  renewRecoveryCodes: ['readSecondFactors'],

  inviteMember: ['listMemberInvitations'],
  resendMemberInvitation: ['listMemberInvitations'],
  revokeMemberInvitation: ['listMemberInvitations'],
  changeMember: members,
  removeMember: members,
  createKey: ['listKeys'],
  changeKey: ['listKeys'],
  rotateKey: ['listKeys'],
  revokeKey: ['listKeys'],
  createDomain: ['listDomains'],
  verifyDomain: ['listDomains', 'locateForm'],
  deleteDomain: ['listDomains', 'locateForm'],
  changeRetention: retention,
  changeStages: ['listStages', ...submissions],
  changeFormRetention: retention,
  retryMail: ['getMailStatus', 'listMails'],
  erasePerson: ['listErasures', 'getErasure'],

  createForm: forms,
  importForm: forms,
  duplicateForm: forms,
  deleteForm: forms,
  changeForm: ['getForm', ...forms],
  publishForm: form,
  archiveForm: form,
  restoreForm: form,

  changeSubmission: submissions,
  deleteSubmission: submissions,
  restoreSubmission: submissions,
  restoreSubmissions: submissions,
  addNote: submissions,
  deleteNote: submissions,
  releaseSpam: submissions,
  deleteSpam: spam,
  allowSite: submissions,
  startSubmissionImport: ['listSubmissionImports', ...submissions],
  saveView: ['listViews'],
  changeView: ['listViews'],
  deleteView: ['listViews'],
  createShare: ['listShares'],
  changeShare: ['listShares'],
  deleteShare: ['listShares'],

  createWebhook: webhooks,
  createWorkspaceWebhook: webhooks,
  changeWebhook: webhooks,
  deleteWebhook: webhooks,
  testWebhook: webhooks,
  retryDelivery: webhooks,
  startReplay: webhooks,
  cancelReplay: webhooks,

  startInvitationImport: invitations,
  remindInvitations: invitations,
  resendInvitation: invitations,
  revokeInvitation: invitations,
};

/** Response statuses which mean that the screen shows an outdated state. */
const staleStatuses: readonly number[] = [404, 409, 410, 412];

const changed = new Set<Name>();
const markChangedQueries = (name: Name): void => readersOf[name]?.forEach((reader) => changed.add(reader));

/**
 * Waits for the call of an operation, then marks the affected queries to be fetched again.
 * @throws the error of the call.
 */
export async function markChangedAfterCall<Reply>(name: Name, called: Promise<Reply>): Promise<Reply> {
  try {
    const reply = await called;
    markChangedQueries(name);
    return reply;
  } catch (error) {
    if (error instanceof ApiProblem && staleStatuses.includes(error.status)) markChangedQueries(name);
    throw error;
  }
}

/**
 * Fetches all queries marked since the last call.
 * @param name an operation that changed something without a call, such as a task that has ended.
 */
export async function refetchChangedQueries(name?: Name): Promise<void> {
  if (name) markChangedQueries(name);
  const readers = [...changed];
  changed.clear();
  await Promise.all(readers.map((reader) => queryClient.invalidateQueries({ queryKey: [reader] })));
}
