/** A size for a person, counted in 1024s: `1.2 MB`, `340 KB`. A file of a few bytes is `1 KB`. */
function saySize(bytes: number): string {
  const kilobytes = Math.ceil(bytes / 1024);
  return kilobytes < 1024 ? `${kilobytes} KB` : `${Math.round(kilobytes / 102.4) / 10} MB`;
}

/** Every sentence that the page says by itself, in one place. The rest of its text is the author's. */
export const words = {
  required: '(required)',
  choose: 'Choose…',
  yes: 'Yes',
  no: 'No',
  submit: 'Submit',
  remove: 'Remove',
  addAnother: 'Add another',
  problem: 'There is a problem',
  thanks: 'Thank you',
  received: 'Your answers have been received.',
  receipt: 'Reference number',
  errorTitle: (title: string) => `Error: ${title}`,
  thanksTitle: (title: string) => `Thank you – ${title}`,
  step: (number: number, total: number) => `Step ${number} of ${total}`,
  row: (label: string, number: number) => `${label} ${number}`,
  rowsFull: (max: number) => `You can add at most ${max}.`,
  fileLimits: (files: number, bytes: number) =>
    files === 1 ? `One file, at most ${saySize(bytes)}.` : `Up to ${files} files, ${saySize(bytes)} each.`,
  size: saySize,
} as const;
