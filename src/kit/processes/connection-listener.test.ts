import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { after, test } from 'node:test';
import { openConnectionListener } from './connection-listener.ts';

const own = Object.values(networkInterfaces()).flatMap((each = []) => each.map(({ address }) => address));
const here = ['127.0.0.1', '::1'].filter((address) => own.includes(address));

test('the listener opens every address of the host that this machine has, on one port, until it is closed', async () => {
  // The last address is reserved for documentation (RFC 3849), so no machine has it.
  const door = openConnectionListener(async () => ['127.0.0.1', '::1', '2001:db8::1']);
  after(() => door.close());
  let received = 0;
  door.admit({
    receive(socket) {
      received += 1;
      socket.destroy();
    },
  });
  const url = await door.open({ host: 'localhost', port: 0 });
  const port = Number(new URL(url).port);
  for (const address of here) {
    const socket = connect(port, address);
    await once(socket, 'connect');
    await once(socket.resume(), 'close');
  }
  assert.equal(received, here.length);
  await door.close();
  for (const address of here)
    await assert.rejects(once(connect(port, address), 'connect'), { code: 'ECONNREFUSED' });
});
