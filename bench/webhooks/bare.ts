import { Agent, request } from 'undici';
import { postQueued } from './bare-ledger.ts';

/*
 * The baseline of the webhook engine: undici over the same number of kept-alive connections, with bodies of
 * equal length to the same receiver. With a database it also writes the delivery log (bare-ledger.ts). It
 * receives orders as messages, and replies when all requests are answered.
 */
export type BareOrder = {
  url: string;
  count: number;
  connections: number;
  body: string;
  /** The database that contains the due deliveries and their log. */
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
