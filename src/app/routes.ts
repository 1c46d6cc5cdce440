/**
 * Every operation of the API by its name, with its method and path below /api/v1. It is data, so that whoever calls the
 * API (the console, a client, the command line) reads the same table as the server; operations.ts says what each is.
 * Specification, "Endpoints"; the paths beside them are fixed too (docs/decisions/0034-one-api.md).
 */
export const routes = {
  listForms: 'GET /forms',
  createForm: 'POST /forms',
  getForm: 'GET /forms/:id',
  updateForm: 'PUT /forms/:id',
  changeForm: 'PATCH /forms/:id',
  deleteForm: 'DELETE /forms/:id',
  listFormActivity: 'GET /forms/overview',
  validateForm: 'POST /forms/validate',
  importForm: 'POST /forms/import',
  exportForm: 'GET /forms/:id/export',
  duplicateForm: 'POST /forms/:id/duplicate',
  getDraft: 'GET /forms/:id/draft',
  saveDraft: 'PUT /forms/:id/draft',
  publishForm: 'POST /forms/:id/publish',
  unpublishForm: 'POST /forms/:id/unpublish',
  archiveForm: 'POST /forms/:id/archive',
  restoreForm: 'POST /forms/:id/restore',
  listVersions: 'GET /forms/:id/versions',
  getVersion: 'GET /forms/:id/versions/:version',
  restoreVersion: 'POST /forms/:id/versions/:version/restore',
  countAnswers: 'GET /forms/:id/answer-counts',
  getFormSchema: 'GET /forms/:id/schema.json',
  listFormTexts: 'GET /forms/:id/texts',
  exportFormTexts: 'GET /forms/:id/texts/export',
  importFormTexts: 'POST /forms/:id/texts/import',
  createImage: 'POST /images',
  createFile: 'POST /files',

  listFormSubmissions: 'GET /forms/:id/submissions',
  listSubmissions: 'GET /submissions',
  searchSubmissions: 'GET /submissions/search',
  suggestSearch: 'GET /submissions/search/suggestions',
  getSubmission: 'GET /submissions/:id',
  createSubmission: 'POST /forms/:id/submissions',
  changeSubmission: 'PATCH /submissions/:id',
  deleteSubmission: 'DELETE /submissions/:id',
  restoreSubmission: 'POST /submissions/:id/restore',
  listNotes: 'GET /submissions/:id/notes',
  addNote: 'POST /submissions/:id/notes',
  deleteNote: 'DELETE /submissions/:id/notes/:note',
  listTags: 'GET /forms/:id/tags',
  startDeletion: 'POST /forms/:id/submissions/deletions',
  listDeletions: 'GET /forms/:id/submissions/deletions',
  getDeletion: 'GET /forms/:id/submissions/deletions/:deletion',
  startTagging: 'POST /forms/:id/submissions/taggings',
  listTaggings: 'GET /forms/:id/submissions/taggings',
  getTagging: 'GET /forms/:id/submissions/taggings/:tagging',
  listTrash: 'GET /forms/:id/trash',
  restoreSubmissions: 'POST /forms/:id/trash/restorations',
  emptyTrash: 'POST /forms/:id/trash/deletions',
  listSpam: 'GET /forms/:id/spam',
  getSpam: 'GET /forms/:id/spam/:held',
  releaseSpam: 'POST /forms/:id/spam/releases',
  deleteSpam: 'POST /forms/:id/spam/deletions',
  allowSite: 'POST /forms/:id/spam/sites',
  viewSubmission: 'GET /submissions/:id/view',
  getSubmissionTimeline: 'GET /submissions/:id/timeline',
  exportFormSubmissions: 'GET /forms/:id/submissions/export',
  listFormRows: 'GET /forms/:id/rows',
  getFormColumns: 'GET /forms/:id/columns',
  getFormSummary: 'GET /forms/:id/summary',
  getFormAnalytics: 'GET /forms/:id/analytics',

  listInvitations: 'GET /forms/:id/invitations',
  createInvitations: 'POST /forms/:id/invitations',
  getInvitationsOverview: 'GET /forms/:id/invitations/overview',
  exportInvitations: 'GET /forms/:id/invitations/export',
  previewInvitationImport: 'POST /forms/:id/invitations/imports/preview',
  startInvitationImport: 'POST /forms/:id/invitations/imports',
  previewInvitationMail: 'POST /forms/:id/invitations/letter',
  remindInvitations: 'POST /forms/:id/invitations/reminders',
  getInvitation: 'GET /forms/:id/invitations/:invitation',
  resendInvitation: 'POST /forms/:id/invitations/:invitation/resend',
  revokeInvitation: 'POST /forms/:id/invitations/:invitation/revoke',

  listEvents: 'GET /events',

  listWebhooks: 'GET /forms/:id/webhooks',
  createWebhook: 'POST /forms/:id/webhooks',
  getPayloadSamples: 'GET /forms/:id/payload',
  getWebhook: 'GET /webhooks/:id',
  changeWebhook: 'PATCH /webhooks/:id',
  deleteWebhook: 'DELETE /webhooks/:id',
  setWebhookSecret: 'POST /webhooks/:id/secret',
  testWebhook: 'POST /webhooks/:id/test',
  getWebhookHealth: 'GET /webhooks/:id/health',
  listReceivers: 'GET /webhooks/:id/receivers',
  listDeliveries: 'GET /webhooks/:id/deliveries',
  getDelivery: 'GET /deliveries/:id',
  retryDelivery: 'POST /deliveries/:id/retry',
  listReplays: 'GET /webhooks/:id/replays',
  countReplay: 'GET /webhooks/:id/replays/count',
  startReplay: 'POST /webhooks/:id/replays',
  cancelReplay: 'POST /replays/:id/cancel',

  listMembers: 'GET /members',
  inviteMember: 'POST /members',
  listMemberInvitations: 'GET /members/invitations',
  resendMemberInvitation: 'POST /members/invitations/:id/resend',
  revokeMemberInvitation: 'DELETE /members/invitations/:id',
  getMember: 'GET /members/:id',
  changeMember: 'PATCH /members/:id',
  removeMember: 'DELETE /members/:id',

  listKeys: 'GET /keys',
  createKey: 'POST /keys',
  getKey: 'GET /keys/:id',
  changeKey: 'PATCH /keys/:id',
  revokeKey: 'DELETE /keys/:id',
  rotateKey: 'POST /keys/:id/rotate',
  listKeyRequests: 'GET /keys/:id/requests',

  getWorkspace: 'GET /workspace',
  changeWorkspace: 'PATCH /workspace',

  listAuditLog: 'GET /audit',

  getMailStatus: 'GET /mail',
  testMail: 'POST /mail/test',
  listMails: 'GET /mails',
  getMail: 'GET /mails/:id',
  retryMail: 'POST /mails/:id/retry',
} as const satisfies Readonly<Record<string, `${Method} /${string}`>>;

/**
 * The same of what only the session of a browser can mean, below /app/api: signing in and out, one's own account, and
 * one's own workspaces. No key calls it, and no document or command is drawn from it.
 */
export const ownRoutes = {
  getSession: 'GET /session',
  signIn: 'POST /session',
  signOut: 'DELETE /session',
  askForPasskey: 'POST /session/passkey-requests',
  signInByPasskey: 'POST /session/passkey',
  takeSecondStep: 'POST /session/second-step',
  renamePerson: 'PATCH /person',
  changePassword: 'PUT /person/password',
  listSessions: 'GET /person/sessions',
  endSession: 'DELETE /person/sessions/:id',
  endOtherSessions: 'DELETE /person/sessions',
  readSecondFactors: 'GET /person/second-factors',
  startTotp: 'POST /person/totp',
  confirmTotp: 'PUT /person/totp',
  removeTotp: 'DELETE /person/totp',
  startPasskey: 'POST /person/passkey-requests',
  addPasskey: 'POST /person/passkeys',
  renamePasskey: 'PATCH /person/passkeys/:id',
  removePasskey: 'DELETE /person/passkeys/:id',
  renewRecoveryCodes: 'POST /person/recovery-codes',
  askForPasswordReset: 'POST /password-resets',
  finishPasswordReset: 'PUT /password-resets',
  openMemberInvitation: 'POST /joins/lookups',
  joinByPassword: 'POST /joins/accounts',
  joinWorkspace: 'POST /joins',
  createWorkspace: 'POST /workspaces',
  leaveWorkspace: 'DELETE /memberships/:id',
  locateForm: 'GET /forms/:id/locate',
  getArrangement: 'GET /forms/:id/arrangement',
  saveArrangement: 'PUT /forms/:id/arrangement',
} as const satisfies Readonly<Record<string, `${Method} /${string}`>>;

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
export type OperationName = keyof typeof routes;
export type OwnName = keyof typeof ownRoutes;

const all = { ...routes, ...ownRoutes };

/** The method and the path of an operation, with its parameters as `:name`. */
export function routeOf(name: OperationName | OwnName): { method: Method; path: string } {
  const [method, path] = all[name].split(' ') as [Method, string];
  return { method, path };
}
