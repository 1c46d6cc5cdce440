import type { ErrorItem } from '#kit/errors.ts';

/** A header that a person adds to every delivery. null keeps the value that it has: values are never shown again. */
export type CustomHeader = { name: string; value: string | null };

export const mostHeaders = 10;
export const longestName = 64;
export const longestValue = 1_024;

/** Names that say how the request is carried, or that are ours: whoever could set them could lie about either. */
const reserved =
  /^(accept-encoding|connection|content-.*|date|expect|forwarded|host|http2-settings|keep-alive|origin|proxy-.*|range|referer|sec-.*|te|traceparent|trailer|transfer-encoding|upgrade|user-agent|via|webhook-.*|x-forwarded-.*|x-http-method.*|x-real-ip|x-service-.*)$/;

const token = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
/** Visible ASCII, blanks and tabs inside. A line end would begin another header. */
const fieldValue = /^[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?$/;

/**
 * What is wrong with headers, all at once.
 * @param kept the names whose values are there already.
 */
export function headerProblems(headers: readonly CustomHeader[], kept: readonly string[] = []): ErrorItem[] {
  const complain = (message: string): ErrorItem => ({ field: 'headers', message });
  const names = headers.map(({ name }) => name.toLowerCase());
  const known = kept.map((name) => name.toLowerCase());
  const problems = headers.flatMap(({ name, value }, index) => {
    const shown = JSON.stringify(name.slice(0, longestName));
    if (!token.test(name) || name.length > longestName)
      return [complain(`${shown} is not the name of a header of at most ${longestName} characters.`)];
    if (reserved.test(names[index]!)) return [complain(`The header ${shown} cannot be set.`)];
    if (names.indexOf(names[index]!) < index) return [complain(`The header ${shown} is there twice.`)];
    if (value === null)
      return known.includes(names[index]!) ? [] : [complain(`The header ${shown} needs a value.`)];
    if (value.length > longestValue || !fieldValue.test(value))
      return [complain(`The value of ${shown} must be 1 to ${longestValue} visible ASCII characters.`)];
    return [];
  });
  return headers.length > mostHeaders
    ? [complain(`A webhook has at most ${mostHeaders} headers of its own.`), ...problems]
    : problems;
}

/** Headers with their values, those that were kept included. @param stored what was there before, by name. */
export function fillHeaders(
  headers: readonly CustomHeader[],
  stored: Readonly<Record<string, string>>,
): Record<string, string> {
  const before = new Map(Object.entries(stored).map(([name, value]) => [name.toLowerCase(), value]));
  return Object.fromEntries(
    headers.map(({ name, value }) => [name, value ?? before.get(name.toLowerCase())!]),
  );
}
