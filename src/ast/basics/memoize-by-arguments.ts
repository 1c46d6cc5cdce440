/** The size limit of each cache, because visitors can send any language tag. */
const mostResults = 500;

/**
 * Returns a function that caches its results by its arguments. Use it for formatters of `Intl`: creating one
 * costs a hundred times as much as formatting.
 */
export function memoizeByArguments<
  Given extends readonly (string | number | undefined)[],
  Result extends object | string,
>(derive: (...given: Given) => Result): (...given: Given) => Result {
  const known = new Map<string, Result>();
  return (...given) => {
    const key = given.join(' ');
    const found = known.get(key);
    if (found !== undefined) return found;
    const result = derive(...given);
    if (known.size >= mostResults) known.clear();
    known.set(key, result);
    return result;
  };
}
