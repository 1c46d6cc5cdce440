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
