import type { Method, OperationName, OwnName, ownRoutes, routes } from './operations/routes.ts';

type Reader = 'getForm' | 'getWebhook' | 'getMember' | 'getKey' | 'getWorkspace';

/** Where a reader tells of more than the thing, the thing. */
export const thingIn: Partial<Record<Reader, string>> = { getWebhook: 'webhook' };

/** What the audit log has of an operation. */
export type Noted =
  /** A line that it ran. `when`: only for a person, since programs read all day. */
  | { line: true; when?: 'person' }
  /** A line with what became of what `reads` tells: of the thing that its path names, or that its answer says it made. */
  | { line: true; reads: Reader; of: 'changed' | 'made' }
  /** A line with these fields of what was sent. */
  | { line: true; says: readonly string[] }
  /** No line of this mechanism, and why. */
  | { line: false; why: string };

const line = { line: true } as const;
const readByPerson = { line: true, when: 'person' } as const;
const changed = (reads: Reader) => ({ line: true, reads, of: 'changed' }) as const;
const made = (reads: Reader) => ({ line: true, reads, of: 'made' }) as const;
const says = (...fields: readonly string[]) => ({ line: true, says: fields }) as const;
const not = (why: string) => ({ line: false, why }) as const;

const onlyAsks = not('It changes nothing.');
const history = not('Submissions have histories of their own.');

type Of<Table, M extends Method> = {
  [Name in keyof Table]: Table[Name] extends `${M} ${string}` ? Name : never;
}[keyof Table];
type Writing<Table> = Exclude<keyof Table, Of<Table, 'GET'>>;

/** What the audit log has of each operation that writes, and of those that take data out. */
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
  saveDraft: not('It is saved a second after every key that is pressed; who published it is noted.'),
  publishForm: changed('getForm'),
  unpublishForm: changed('getForm'),
  archiveForm: changed('getForm'),
  restoreForm: changed('getForm'),
  restoreVersion: changed('getForm'),
  exportFormTexts: line,
  importFormTexts: line,
  createImage: line,
  createFile: not('It is nobody’s before a submission names it, which has a history.'),

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

/** What the audit log has of an operation; nothing of those that only read. */
export const notedOf = (name: OperationName): Noted | undefined =>
  (notedOperations as Partial<Record<OperationName, Noted>>)[name];

const itself = { line: true } as const;

/**
 * The same of what only a session can mean: these write their lines themselves, as they alone know whose they are
 * (#workspaces/audit/note-person.ts).
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
  startTotp: not('Nothing is asked of the person before they have shown that it works, which is noted.'),
  confirmTotp: itself,
  removeTotp: itself,
  startPasskey: onlyAsks,
  addPasskey: itself,
  renamePasskey: itself,
  removePasskey: itself,
  renewRecoveryCodes: itself,
  askForPasswordReset: not('Anybody may ask about any address; who uses the link is noted.'),
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
  saveArrangement: not('How somebody has arranged a table is theirs alone.'),
} as const satisfies Record<Writing<typeof ownRoutes>, Noted> & Partial<Record<OwnName, Noted>>;
