import { Agent, request } from 'undici';

/*
 * What the engine is measured against: undici over the same number of kept connections, posting bodies of the same
 * length to the same receiver, and nothing else. It is told by messages, and answers each when all were answered.
 */
export type BareOrder = { url: string; count: number; connections: number; body: string };

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
  void postAll(order).then(() => process.send?.('done'));
});
process.once('disconnect', () => process.exit(0));
