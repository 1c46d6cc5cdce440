import type { Method, OperationName, OwnName, ownRoutes, routes } from './operations/routes.ts';

type Reader = 'getForm' | 'getWebhook' | 'getMember' | 'getKey' | 'getWorkspace';

/** The property with the object itself, for readers that return more than the object. */
export const thingIn: Partial<Record<Reader, string>> = { getWebhook: 'webhook' };

/** The audit policy of an operation: what it writes to the audit log. */
export type Noted =
  /** An entry that the operation ran. `when` limits it to people, since programs read continuously. */
  | { line: true; when?: 'person' }
  /**
   * An entry with the changes that `reads` shows: of the object that the path names, or of the one that the
   * response says was created.
   */
  | { line: true; reads: Reader; of: 'changed' | 'made' }
  /** An entry with these fields of the request. */
  | { line: true; says: readonly string[] }
  /** No entry through this policy, and the reason. */
  | { line: false; why: string };

const line = { line: true } as const;
const readByPerson = { line: true, when: 'person' } as const;
const changed = (reads: Reader) => ({ line: true, reads, of: 'changed' }) as const;
const made = (reads: Reader) => ({ line: true, reads, of: 'made' }) as const;
const says = (...fields: readonly string[]) => ({ line: true, says: fields }) as const;
const not = (why: string) => ({ line: false, why }) as const;

const onlyAsks = not('The operation changes nothing.');
const history = not('Submissions have their own history.');

type Of<Table, M extends Method> = {
  [Name in keyof Table]: Table[Name] extends `${M} ${string}` ? Name : never;
}[keyof Table];
type Writing<Table> = Exclude<keyof Table, Of<Table, 'GET'>>;

/** The audit policy of each operation that writes, and of operations that export data. */
const notedOperations = {
  createForm: line,
  updateForm: changed('getForm'),
  changeForm: changed('getForm'),
  deleteForm: changed('getForm'),
  validateForm: onlyAsks,
  convertForm: onlyAsks,
  importForm: line,
  exportForm: line,
  packForm: line,
  unpackForm: line,
  duplicateForm: line,
  saveDraft: not('The draft is saved one second after each keystroke; publishing it is audited.'),
  publishForm: changed('getForm'),
  unpublishForm: changed('getForm'),
  archiveForm: changed('getForm'),
  restoreForm: changed('getForm'),
  restoreVersion: changed('getForm'),
  exportFormTexts: line,
  importFormTexts: line,
  createImage: line,
  createFile: not('A file belongs to nothing until a submission names it; the submission has a history.'),

  getSubmission: readByPerson,
  viewSubmission: readByPerson,
  createSubmission: history,
  changeSubmission: history,
  deleteSubmission: line,
  restoreSubmission: history,
  addNote: history,
  deleteNote: line,
  startDeletion: line,
  startTagging: history,
  startBulkChange: history,
  undoBulkChange: history,
  restoreSubmissions: history,
  emptyTrash: line,
  releaseSpam: history,
  deleteSpam: line,
  allowSite: history,
  exportFormSubmissions: line,
  saveView: line,
  changeView: line,
  deleteView: line,

  createInvitations: line,
  exportInvitations: line,
  previewInvitationImport: onlyAsks,
  startInvitationImport: line,
  previewSubmissionImport: onlyAsks,
  startSubmissionImport: line,
  previewInvitationMail: onlyAsks,
  remindInvitations: line,
  resendInvitation: line,
  revokeInvitation: line,

  createWebhook: made('getWebhook'),
  changeWebhook: changed('getWebhook'),
  deleteWebhook: changed('getWebhook'),
  setWebhookSecret: changed('getWebhook'),
  testWebhook: line,
  retryDelivery: line,
  startReplay: line,
  cancelReplay: line,

  inviteMember: says('email', 'role'),
  resendMemberInvitation: line,
  revokeMemberInvitation: line,
  changeMember: changed('getMember'),
  removeMember: changed('getMember'),

  createKey: made('getKey'),
  changeKey: changed('getKey'),
  revokeKey: changed('getKey'),
  rotateKey: changed('getKey'),

  changeWorkspace: changed('getWorkspace'),
  changeRetention: says('submissions', 'incomplete', 'files', 'mails', 'deliveries', 'trash', 'audit_days'),
  previewRetention: onlyAsks,
  changeFormRetention: says('submissions', 'incomplete', 'files', 'mails', 'deliveries', 'trash'),
  exportAuditLog: line,

  findPerson: readByPerson,
  exportPerson: line,
  erasePerson: says('what', 'match'),

  testMail: line,
  retryMail: line,
} as const satisfies Record<Writing<typeof routes>, Noted> & Partial<Record<OperationName, Noted>>;

/** Returns the audit policy of an operation; undefined for operations that only read. */
export const notedOf = (name: OperationName): Noted | undefined =>
  (notedOperations as Partial<Record<OperationName, Noted>>)[name];

const itself = { line: true } as const;

/**
 * The audit policies of operations that need a session. These write their own entries, because only they know
 * the account (#workspaces/audit/note-person.ts).
 */
export const notedOwn = {
  signIn: itself,
  signOut: itself,
  askProvider: onlyAsks,
  signInByProvider: itself,
  askForPasskey: onlyAsks,
  signInByPasskey: itself,
  takeSecondStep: itself,
  renamePerson: itself,
  changePassword: itself,
  endSession: itself,
  endOtherSessions: itself,
  startTotp: not('Nothing changes for the person until they confirm it, which is audited.'),
  confirmTotp: itself,
  removeTotp: itself,
  startPasskey: onlyAsks,
  addPasskey: itself,
  renamePasskey: itself,
  removePasskey: itself,
  renewRecoveryCodes: itself,
  askForPasswordReset: not('Anyone can request a reset for any address; using the link is audited.'),
  finishPasswordReset: itself,
  openMemberInvitation: onlyAsks,
  joinByPassword: itself,
  joinWorkspace: itself,
  createWorkspace: itself,
  deleteWorkspace: itself,
  bringBackWorkspace: itself,
  deleteAccount: itself,
  bringBackAccount: itself,
  leaveWorkspace: itself,
  saveArrangement: not('The arrangement of a table is a private preference.'),
} as const satisfies Record<Writing<typeof ownRoutes>, Noted> & Partial<Record<OwnName, Noted>>;
