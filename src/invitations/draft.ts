import { type QuestionsById, findInput, questionsById } from '#ast/fields.ts';
import { isPageName } from '#ast/page-names.ts';
import { countCharacters, isCleanText } from '#ast/text.ts';
import { type Form, isCalculation, kindOf, listQuestions } from '#ast/tree.ts';
import { readMailAddress, toAsciiDomain } from '#kit/outbox/address.ts';

/** Somebody to invite. */
export type InvitationDraft = {
  email: string;
  name: string;
  /** Travels with the submission, and cannot be changed by the person. */
  reference: Record<string, string>;
  /** First answers by HTML name; several of one question as a list. */
  prefill: Record<string, string | string[]>;
};

/** What one invitation may carry: texts in characters. */
export const draftLimits = { name: 200, entries: 50, entryName: 64, entryValue: 1_000 } as const;

/** One thing that is wrong with a draft: by its property, and its entry where it has some. */
type DraftProblem = { field: string; message: string };

/** The questions that an invitation can fill in: all but files, what is worked out, and what nobody but the visitor can agree to. */
export type Prefillable = (name: string) => boolean;

export function prefillableOf(form: Form): Prefillable {
  const questions: QuestionsById = questionsById(listQuestions(form));
  return (name) => {
    const found = findInput(questions, name);
    if (!found || isCalculation(found.input)) return false;
    return !['files', 'consent'].includes(kindOf(found.input));
  };
}

/** Everything that is wrong with a draft; nothing when it can be invited. */
export function checkDraft(draft: InvitationDraft, isPrefillable: Prefillable): DraftProblem[] {
  const { email, name, reference, prefill } = draft;
  const problems: DraftProblem[] = [];
  if (readMailAddress(email)?.name !== undefined || readMailAddress(email) === undefined)
    problems.push({ field: 'email', message: `"${clip(email)}" is no email address.` });
  if (countCharacters(name) > draftLimits.name || !isOneLine(name))
    problems.push({
      field: 'name',
      message: `A name is one line of at most ${draftLimits.name} characters.`,
    });
  for (const field of ['reference', 'prefill'] as const) {
    if (Object.keys(draft[field]).length > draftLimits.entries)
      problems.push({ field, message: `At most ${draftLimits.entries} values can be given.` });
  }
  for (const [key, value] of Object.entries(reference))
    problems.push(...checkEntry('reference', key, [value]));
  for (const [key, value] of Object.entries(prefill)) {
    problems.push(...checkEntry('prefill', key, [value].flat()));
    if (!isPrefillable(key))
      problems.push({
        field: `prefill.${clip(key)}`,
        message: `The form has no question "${clip(key)}" that can be filled in.`,
      });
  }
  return problems;
}

function checkEntry(kind: 'reference' | 'prefill', key: string, values: readonly string[]): DraftProblem[] {
  const field = `${kind}.${clip(key)}`;
  const { entryName, entryValue } = draftLimits;
  // Reference values of such names would be lost: an address has the page's own parameters under them.
  if (
    key === '' ||
    countCharacters(key) > entryName ||
    (kind === 'reference' ? key.startsWith('_') : isPageName(key)) ||
    !isCleanText(key) ||
    !isOneLine(key)
  )
    return [
      { field, message: `A name has 1 to ${entryName} characters, and does not begin with an underscore.` },
    ];
  const isKept = values.every((value) => countCharacters(value) <= entryValue && isCleanText(value));
  return isKept ? [] : [{ field, message: `A value is text of at most ${entryValue} characters.` }];
}

const isOneLine = (text: string): boolean => !/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u.test(text);

/** A caller's own text in an answer stays short. */
const clip = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text);

/** Returns what addresses are compared by: lower case, and the domain as DNS has it. */
export function addressKeyOf(email: string): string {
  return toAsciiDomain(readMailAddress(email)?.address ?? email).toLowerCase();
}
