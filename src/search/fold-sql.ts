import { accents, invisible, plainLetters, zeros } from '#submissions/search-text/spellings.ts';

/** Punctuation that joins words: PostgreSQL would read an address or a file name as one word. */
const joints = `-_/.@:?=&%~()+''\`´’‘‚ʹʺʻʼʽʾʿ“”„«»‹›‐‑‒–—―…·•′″×、。，．！？；：（）「」『』【】・¿¡`;

const letters = Object.entries(plainLetters);
const single = letters.filter(([, plain]) => plain.length === 1);
const digits = zeros.flatMap((zero) =>
  Array.from({ length: 10 }, (_, digit) => String.fromCodePoint(zero + digit)),
);
const replaced = [...single.map(([letter]) => letter), ...digits, invisible].join('');
const replacements = single.map(([, plain]) => plain).join('') + '0123456789'.repeat(zeros.length);

/** Marks after this many characters are not sorted with those before, because that takes quadratic time. */
const span = 64;

/** Returns SQL for a text as foldText (src/submissions/search-text) compares it, without punctuation. */
export function foldSql(text: string): string {
  const words = `translate(${text}, '${joints}', repeat(' ', ${joints.length}))`;
  const split = String.raw`regexp_replace(${words}, '.{${span}}', '\&${invisible[0]}', 'g')`;
  const bare = `normalize(regexp_replace(lower(normalize(${split}, NFKD)), '[${accents}]+', '', 'g'), NFC)`;
  const spelled = letters
    .filter(([, plain]) => plain.length > 1)
    .reduce((sql, [letter, plain]) => `replace(${sql}, '${letter}', '${plain}')`, bare);
  return `case when octet_length(${text}) = length(${text}) then lower(${words})
    else translate(${spelled}, '${replaced}', '${replacements}') end`;
}
