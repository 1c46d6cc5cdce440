import { lengthProblem, proseProblem } from '../rules/check-rules.ts';
import {
  choiceRules,
  choicesRules,
  fileRules,
  hiddenRules,
  momentRules,
  numberRules,
  ratingRules,
  scaleRules,
  scoreRules,
  textRules,
  yesNoRules,
} from '../types/eager-rules.ts';
import type { InputRules } from '../types/rules.ts';
import { lazyRules } from './lazy-rules.ts';

/**
 * The rules of every input. They are separate from the elements table because the page's script needs only
 * the rules, without titles and attributes. The script includes short rules (`types/eager-rules.ts`) and loads
 * the others by type name.
 */
export const inputRules = {
  text: textRules('line', proseProblem),
  textarea: textRules('lines', proseProblem),
  email: { ...textRules('email', lengthProblem), autofill: 'email' },
  phone: { ...textRules('phone', lengthProblem), autofill: 'tel' },
  url: { ...textRules('url', lengthProblem), autofill: 'url' },
  number: numberRules,
  date: momentRules('date'),
  time: momentRules('time'),
  datetime: momentRules('datetime'),
  dropdown: choiceRules,
  radio: choiceRules,
  multiple_choice: choicesRules,
  yes_no: yesNoRules,
  file_upload: fileRules,
  rating: ratingRules,
  scale: scaleRules,
  hidden: hiddenRules,
  score: scoreRules,
  ...lazyRules,
} as const satisfies Readonly<Record<string, InputRules>>;

export type InputType = keyof typeof inputRules;

/** Returns whether elements of the type have an answer. False for names such as `constructor`. */
export function isInputType(type: string): type is InputType {
  return Object.hasOwn(inputRules, type);
}

/** Returns whether answers to elements of the type are files. */
export function takesFiles(type: string | undefined): boolean {
  return type !== undefined && isInputType(type) && inputRules[type].kind === 'files';
}
