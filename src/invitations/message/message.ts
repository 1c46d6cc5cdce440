import { sayNumber } from '#ast/say-number.ts';
import { countCharacters, isCleanText } from '#ast/text.ts';
import { placeholders, unknownPlaceholders } from './placeholders.ts';

/** What the mails of a batch say, with placeholders. Without words of their own, reminders say the same once more. */
export type Message = {
  subject: string;
  message: string;
  reminderSubject: string | null;
  reminderMessage: string | null;
  /** Days after an invitation was sent, ascending. */
  remindAfterDays: number[];
};

export const messageLimits = { subject: 200, message: 10_000, reminders: 5, days: 365 } as const;

/** What is said when nothing else is. */
export const defaultMessage: Message = {
  subject: 'You are invited: {{form}}',
  message: 'Hello {{name|there}},\n\nyou are invited to fill in “{{form}}”. The link below is for you alone.',
  reminderSubject: null,
  reminderMessage: null,
  remindAfterDays: [],
};

/** One thing that is wrong with a message. */
type MessageProblem = { field: string; message: string };

/** Everything that is wrong with a message to people who have these reference values. */
export function checkMessage(message: Message, referenceNames: ReadonlySet<string>): MessageProblem[] {
  const { reminderSubject, reminderMessage, remindAfterDays } = message;
  const texts = [
    ['subject', message.subject, messageLimits.subject, false],
    ['message', message.message, messageLimits.message, true],
    ['reminder_subject', reminderSubject, messageLimits.subject, false],
    ['reminder_message', reminderMessage, messageLimits.message, true],
  ] as const;
  const problems = texts.flatMap(([field, text, most, hasLines]): MessageProblem[] => {
    if (text === null) return [];
    if (text.trim() === '') return [{ field, message: 'Write something.' }];
    if (countCharacters(text) > most || !isCleanText(text))
      return [{ field, message: `It is text of at most ${sayNumber(most)} characters.` }];
    if (!hasLines && /[\r\n]/.test(text)) return [{ field, message: 'A subject is one line.' }];
    const unknown = unknownPlaceholders(text, referenceNames);
    if (unknown.length === 0) return [];
    const known = [...Object.keys(placeholders), ...referenceNames].map((name) => `{{${name}}}`);
    return [
      { field, message: `{{${unknown[0]}}} stands for nothing. There is ${known.slice(0, 20).join(', ')}.` },
    ];
  });
  const isAscending = remindAfterDays.every((days, index) => days > (remindAfterDays[index - 1] ?? 0));
  const isBounded =
    remindAfterDays.length <= messageLimits.reminders &&
    remindAfterDays.every((days) => Number.isInteger(days) && days >= 1 && days <= messageLimits.days);
  if (!isAscending || !isBounded)
    problems.push({
      field: 'remind_after_days',
      message: `Up to ${messageLimits.reminders} numbers of days from 1 to ${messageLimits.days}, each greater than the one before.`,
    });
  return problems;
}
