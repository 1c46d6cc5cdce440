import { countCharacters } from '#ast/basics/text.ts';
import type { ErrorItem } from '#kit/errors.ts';

/** Characters of a password. Also what account-library.ts tells the library. */
export const passwordLength = { least: 10, most: 128 } as const;

/** In every password that is not to be: what this is. */
const ownName = 'formloom';
/** Fewer different characters than this are no password, however long. */
const fewestCharacters = 5;
/** What must be left of a password when the words that are known of its owner are taken out. */
const leastBeyondWords = 6;
/** So many digits and signs around a common password do not make it another one. */
const mostAround = 4;

/** Neighbours in the alphabet, among the digits and on keyboards; read backwards too. */
const rows = [
  'abcdefghijklmnopqrstuvwxyz',
  '012345678901234567890',
  'qwertyuiop[]asdfghjkl;zxcvbnm,./',
  'qwertzuiopüasdfghjklöäyxcvbnm,.-',
  'azertyuiopqsdfghjklmwxcvbn,;:!',
];

const advice = 'A few words in a row are easy to remember and hard to guess.';

/**
 * What is wrong with a password that somebody chose, in a sentence that says why: the one rule for all ways to set one.
 * What it costs grows with the length of the password alone.
 * @param words what others know of its owner: the address, the name, the names of their workspaces.
 */
export async function passwordProblems(
  field: string,
  password: string,
  words: readonly string[],
): Promise<ErrorItem[]> {
  const { least, most } = passwordLength;
  const length = countCharacters(password);
  if (length < least || length > most)
    return [
      {
        field,
        message: `A password has ${least} to ${most} characters.`,
        code: length < least ? 'too_short' : 'too_long',
      },
    ];
  const weakness = await weaknessOf(password.normalize('NFKC').toLowerCase(), words);
  return weakness === undefined ? [] : [{ field, message: `${weakness} ${advice}` }];
}

async function weaknessOf(password: string, words: readonly string[]): Promise<string | undefined> {
  if (new Set(password).size < fewestCharacters) return 'This password repeats a few characters.';
  const unit = /^(.+?)\1+$/su.exec(password)?.[1] ?? password;
  const core = unit.replace(/^\P{L}+/u, '').replace(/\P{L}+$/u, '');
  const common = await (commonPasswords ??= loadCommonPasswords());
  if (common.has(unit) || (common.has(core) && unit.length - core.length <= mostAround))
    return 'This is one of the passwords that are tried first.';
  if (rows.some((row) => row.includes(unit) || row.includes(Array.from(unit).toReversed().join(''))))
    return 'This password is a row of neighbouring characters.';
  if (isMadeOf(password, wordsIn([...words, ownName])))
    return 'This password is made of your address, your name, or the name of a workspace or of this service.';
  return undefined;
}

const lettersAndDigits = /[\p{L}\p{N}]+/gu;

/** The words in some texts and the texts as they are, the longest first. */
const wordsIn = (texts: readonly string[]): string[] =>
  texts
    .map((text) => text.normalize('NFKC').toLowerCase())
    .flatMap((text) => [text, ...(text.match(lettersAndDigits) ?? [])])
    .filter((word) => word.length >= 3)
    .toSorted((a, b) => b.length - a.length);

function isMadeOf(password: string, words: readonly string[]): boolean {
  const rest = words.reduce((left, word) => left.replaceAll(word, ' '), password);
  return rest !== password && (rest.match(lettersAndDigits) ?? []).join('').length < leastBeyondWords;
}

/** What is tried first, loaded when somebody first chooses a password: 49,000 of them, 80 ms and 14 MB. */
let commonPasswords: Promise<ReadonlySet<string>> | undefined;

async function loadCommonPasswords(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return new Set(dictionary['passwords-common']);
}
