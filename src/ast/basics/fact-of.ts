/**
 * What follows from something that never changes, as a form of a published version and its elements do: worked out when it is
 * first asked for, and kept as long as that is. Whatever a request would otherwise look for in the whole tree is such a fact.
 */
export function factOf<Thing extends object, Fact extends object | string | number | boolean>(
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
