/** What mails to visitors say by themselves, in English; other languages have the same names and `{parts}`. */
export const english = {
  yes: 'Yes',
  no: 'No',
  receiptSubject: 'Your answers: {form}',
  receiptHeading: 'Thank you',
  receiptText: 'Your answers to “{form}” have been received. The reference number is {receipt}.',
  editButton: 'Change your answers',
  editText: 'Keep this link to yourself: it lets you change your answers until {date}.',
  resumeSubject: 'Continue: {form}',
  resumeHeading: 'Your answers are saved',
  resumeText:
    'Your answers to “{form}” are saved, and not sent yet. Continue on any device until {date}. Keep this link to yourself: it shows your answers.',
  resumeButton: 'Continue',
  filesNote: 'Links to files work for one hour after this mail was sent.',
  reason: 'You get this mail because this address was entered at “{form}”. If that was not you, ignore it.',
} as const satisfies Readonly<Record<string, string>>;

export type MailWords = Readonly<Record<keyof typeof english, string>>;
