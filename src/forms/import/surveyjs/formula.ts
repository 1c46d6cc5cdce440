import { own } from '#ast/json.ts';
import type { Named } from './reading.ts';

const token =
  /\s*(?:\{(?<name>[^{}]*)\}|'(?<text>[^'"{}]*)'|(?<number>\d+(?:\.\d+)?)(?![\w.])|(?<sign>&&|\|\||<=|>=|<>|!=|==|[-+*/%=<>!(),])|(?<word>[A-Za-z_]\w*))/y;

const signs: Readonly<Record<string, string>> = {
  '==': '=',
  '<>': '!=',
  '&&': ' and ',
  '||': ' or ',
  '!': ' not ',
};
const words: Readonly<Record<string, string>> = {
  and: ' and ',
  or: ' or ',
  not: ' not ',
  true: 'true',
  false: 'false',
  iif: 'if',
  sum: 'sum',
  avg: 'average',
  min: 'min',
  max: 'max',
  round: 'round',
  today: 'today',
  age: 'age',
  year: 'year',
  month: 'month',
  day: 'day',
};

/** Longer ones are read by nobody; a formula has at most as many characters. */
const longest = 2_000;

/**
 * An expression of a survey that works something out (`{price} * iif({members} > 3, 0.9, 1)`), as a formula.
 * @returns undefined where a part of it is none of a formula, or names what is not there.
 */
export function readFormula(
  expression: string,
  naming: (name: string) => Named | undefined,
): string | undefined {
  const source = expression.trim();
  if (source === '' || source.length > longest) return undefined;
  let formula = '';
  token.lastIndex = 0;
  while (token.lastIndex < source.length) {
    const { name, text, number, sign, word } = token.exec(source)?.groups ?? {};
    const named = name === undefined ? undefined : naming(name.trim());
    const isPlainBoolean = named?.yes === 'true' && named.no === 'false';
    const made = named
      ? isPlainBoolean
        ? `{${named.element}}`
        : undefined
      : text !== undefined
        ? `"${text}"`
        : sign !== undefined
          ? (own(signs, sign) ?? sign)
          : word !== undefined
            ? own(words, word.toLowerCase())
            : number;
    if (made === undefined) return undefined;
    formula += made;
  }
  return formula.trim();
}
