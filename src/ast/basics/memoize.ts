/**
 * Returns a function that computes a fact about an immutable object once and caches it for the object's
 * lifetime. Use it for facts that a request would otherwise have to find in the whole tree of a published
 * form.
 */
export function memoizeByObject<Thing extends object, Fact extends object | string | number | boolean>(
  derive: (thing: Thing) => Fact,
): (thing: Thing) => Fact {
  const known = new WeakMap<Thing, Fact>();
  return (thing) => {
    const found = known.get(thing);
    if (found !== undefined) return found;
    const fact = derive(thing);
    known.set(thing, fact);
    return fact;
  };
}

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
