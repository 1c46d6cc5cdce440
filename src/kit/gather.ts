import { isSilent } from './database.ts';

type GatherOptions = {
  /** How much goes together. */
  most: number;
  /** How many of such batches run at the same time. */
  atOnce: number;
  /** How much must wait for a batch to run beside another (1): below it, it is worth while to wait for that one. */
  leastBeside?: number;
};

type Waiting<Item, Result> = {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
};

/**
 * Makes of many questions one: what is asked in one turn of the event loop, or while earlier batches run, goes
 * together. Under load the batches grow by themselves; a question that comes alone does not wait.
 *
 * A batch that fails is asked again one by one, so that one bad item spoils nothing for its neighbours. It must
 * therefore write nothing when it fails: one statement, or one transaction. Of a database that answers nobody nothing is
 * asked again: that would take as long once more, and as long again for those that wait.
 * @param ask gives a result for each item, in their order.
 */
export function gather<Item, Result>(
  ask: (items: readonly Item[]) => Promise<readonly Result[]>,
  { most, atOnce, leastBeside = 1 }: GatherOptions,
): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = [];
  let running = 0;
  let isPlanned = false;

  const askFor = async (batch: readonly Waiting<Item, Result>[]): Promise<void> => {
    try {
      const results = await ask(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index]!);
    } catch (error) {
      if (isSilent(error)) for (const { reject } of [...batch, ...waiting.splice(0)]) reject(error);
      else if (batch.length === 1) batch[0]!.reject(error);
      else await Promise.all(batch.map((single) => askFor([single])));
    }
  };

  const plan = (): void => {
    const least = running === 0 ? 1 : leastBeside;
    if (isPlanned || running >= atOnce || waiting.length < least) return;
    isPlanned = true;
    setImmediate(() => {
      isPlanned = false;
      running += 1;
      void askFor(waiting.splice(0, most)).finally(() => {
        running -= 1;
        plan();
      });
      plan();
    });
  };

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      plan();
    });
}
