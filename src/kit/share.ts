import { isSilent } from './database.ts';

type Asked<Result> = { running: number; next: PromiseWithResolvers<Result> | undefined };

/**
 * Makes one question of those who ask for the same: who asks in the same turn of the event loop, or while as many are on their way as
 * may be, shares the next one, which begins after each of them asked. Who comes alone does not wait.
 *
 * While the database answers nobody, those that wait are told so with the one that failed: to ask again would take as long once more.
 * @param options.atOnce questions for one key that are on their way together: one that takes long keeps nobody from the next.
 */
export function share<Key, Result>(
  ask: (key: Key) => Promise<Result>,
  { atOnce }: { atOnce: number },
): (key: Key) => Promise<Result> {
  const asked = new Map<Key, Asked<Result>>();

  const begin = (key: Key, of: Asked<Result>): void => {
    if (!of.next || of.running >= atOnce) return;
    const { resolve, reject } = of.next;
    of.next = undefined;
    of.running += 1;
    const fail = (error: unknown): void => {
      reject(error);
      if (!isSilent(error)) return;
      of.next?.reject(error);
      of.next = undefined;
    };
    void ask(key)
      .then(resolve, fail)
      .finally(() => {
        of.running -= 1;
        if (of.next) begin(key, of);
        else if (of.running === 0) asked.delete(key);
      });
  };

  return (key) => {
    const of = asked.get(key) ?? { running: 0, next: undefined };
    asked.set(key, of);
    if (!of.next) {
      of.next = Promise.withResolvers();
      setImmediate(() => begin(key, of));
    }
    return of.next.promise;
  };
}
