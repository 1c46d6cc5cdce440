import { personalNews } from '../mail-news.ts';

/** What people do about their own account, and what the operator does about it at the command line. */
export const personalDeeds = [
  ...personalNews,
  'signIn',
  'signInByPasskey',
  'signInByProvider',
  'takeSecondStep',
  'signOut',
  'endSession',
  'endOtherSessions',
  'changePassword',
  'finishPasswordReset',
  'renamePerson',
  'renamePasskey',
  'createUser',
  'replacePassword',
] as const;
export type PersonalDeed = (typeof personalDeeds)[number];
