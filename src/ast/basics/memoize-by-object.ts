/**
 * Returns a function that computes a fact of an immutable object once and caches it for the object's
 * lifetime. Use it for what a request would otherwise search for in the whole tree of a published form.
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
