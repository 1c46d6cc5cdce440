import { countCharacters } from '#ast/basics/text.ts';
import type { ErrorItem } from '#kit/errors.ts';

/** The length of a password in characters. account-library.ts passes it to the library. */
export const passwordLength = { least: 10, most: 128 } as const;

/** The name of the product. A password must not consist of it. */
const serviceName = 'formloom';
/** The minimum number of different characters in a password, whatever its length. */
const fewestCharacters = 5;
/** The characters that must remain when words known about the owner are removed from a password. */
const leastBeyondWords = 6;
/** A common password is still rejected if it is surrounded by up to this many digits and signs. */
const mostAround = 4;

/** Sequences of the alphabet, of digits and on keyboards; also checked backwards. */
const rows = [
  'abcdefghijklmnopqrstuvwxyz',
  '012345678901234567890',
  'qwertyuiop[]asdfghjkl;zxcvbnm,./',
  'qwertzuiopüasdfghjklöäyxcvbnm,.-',
  'azertyuiopqsdfghjklmwxcvbn,;:!',
];

const advice = 'A few words in a row are easy to remember and hard to guess.';

/**
 * Returns why a password is not accepted. Every way to set a password uses this check. Its cost grows only
 * with the length of the password.
 * @param words known to others: the address, the name and the workspaces of the owner.
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
        message: `The password must have ${least} to ${most} characters.`,
        code: length < least ? 'too_short' : 'too_long',
      },
    ];
  const weakness = await weaknessOf(password.normalize('NFKC').toLowerCase(), words);
  return weakness === undefined ? [] : [{ field, message: `${weakness} ${advice}` }];
}

async function weaknessOf(password: string, words: readonly string[]): Promise<string | undefined> {
  if (new Set(password).size < fewestCharacters) return 'This password has too few different characters.';
  const unit = /^(.+?)\1+$/su.exec(password)?.[1] ?? password;
  const core = unit.replace(/^\P{L}+/u, '').replace(/\P{L}+$/u, '');
  const common = await (commonPasswords ??= loadCommonPasswords());
  if (common.has(unit) || (common.has(core) && unit.length - core.length <= mostAround))
    return 'This password is too common.';
  if (rows.some((row) => row.includes(unit) || row.includes(Array.from(unit).toReversed().join(''))))
    return 'This password is a sequence of neighboring characters.';
  if (isMadeOf(password, wordsIn([...words, serviceName])))
    return 'This password consists of your email address, your name, or the name of a workspace or of Formloom.';
  return undefined;
}

const lettersAndDigits = /[\p{L}\p{N}]+/gu;

/** Returns the words in some texts and the whole texts, longest first. */
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

/** Common passwords, loaded when a password is first chosen: 49,000 entries, 80 ms and 14 MB. */
let commonPasswords: Promise<ReadonlySet<string>> | undefined;

async function loadCommonPasswords(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return new Set(dictionary['passwords-common']);
}
