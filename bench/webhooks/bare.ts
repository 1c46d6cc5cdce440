import { Agent, request } from 'undici';
import { postQueued } from './bare-ledger.ts';

/*
 * What the engine is measured against: undici over the same number of kept connections, posting bodies of the same
 * length to the same receiver, and nothing else; with a database, the log written as well (bare-ledger.ts). It is told
 * by messages, and answers each when all were answered.
 */
export type BareOrder = {
  url: string;
  count: number;
  connections: number;
  body: string;
  /** Where the deliveries wait that are posted, and their log is written. */
  databaseUrl?: string;
};

async function postAll({ url, count, connections, body }: BareOrder): Promise<void> {
  const dispatcher = new Agent({ connections, pipelining: 1 });
  const bytes = Buffer.from(body);
  let left = count;
  const post = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const { body: answer } = await request(url, {
        dispatcher,
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: bytes,
      });
      await answer.dump();
    }
  };
  await Promise.all(Array.from({ length: connections }, post));
  await dispatcher.close();
}

process.on('message', (order: BareOrder) => {
  const { databaseUrl } = order;
  const posted = databaseUrl === undefined ? postAll(order) : postQueued({ ...order, databaseUrl });
  void posted.then(() => process.send?.('done'));
});
process.once('disconnect', () => process.exit(0));
