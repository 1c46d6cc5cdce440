import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveName } from '#kit/outbound/address-guard.ts';
import { findTargetUrlProblem } from '#kit/outbound/outbound.ts';
import { openReceiver } from '#test/receiver.ts';
import { until } from '#test/service.ts';
import { type DnsAnswer, openDnsServer } from './dns-server.ts';
import { happenOften, openStage } from './stage.ts';

// F20, F21, C23 to C25: DNS names that give wrong, changing or no answers. Queries go over UDP to a test
// server.

const stage = await openStage();
const dns = await openDnsServer();
const resolve = (name: string): Promise<string[]> => resolveName(name, [dns.address]);
// Only 127.0.0.2 is allowed. 127.0.0.1 stands for internal services.
const guard = { allowNetworks: ['127.0.0.2/32'], resolve };
const queue = stage.startWorker(guard);
const receiver = await openReceiver({ host: '127.0.0.2' });
const canary = await openReceiver({ host: '127.0.0.1' });
const port = Number(new URL(receiver.url).port);
// The certificate of the receivers is valid for this name.
const name = 'receiver.test';
const url = (of = port): string => `https://${name}:${of}/hook`;

test('F20: every event is delivered to a name with only an allowed address', async () => {
  dns.answer(name, ['127.0.0.2']);
  const scene = await stage.setScene(url());
  await stage.fire(scene, queue);
  const lines = await stage.settled(scene);
  assert.ok(lines.every(({ status, attempts }) => status === 'Success' && attempts === 1));
});

const inside: Record<string, DnsAnswer> = {
  'a private address': ['127.0.0.1'],
  'a public and a private one': ['127.0.0.2', '10.0.0.1'],
  'fifty addresses, one of them private': [...Array<string>(49).fill('127.0.0.2'), '127.0.0.1'],
  'a CNAME to something inside': { cname: 'inside.test', addresses: ['127.0.0.1'] },
};
for (const [what, answer] of Object.entries(inside)) {
  test(`C23: ${what} makes the name refused when saving and when sending`, async () => {
    dns.answer(name, answer);
    const target = url(Number(new URL(canary.url).port));
    assert.match((await findTargetUrlProblem(target, guard))!, /not allowed/);
    const scene = await stage.setScene(target);
    await stage.fire(scene, queue, 3);
    for (const line of await stage.settled(scene)) {
      assert.deepEqual([line.status, line.attempts], ['Failed', 1]);
      assert.match(line.reasons[0]!, /This URL is not allowed/);
    }
    assert.equal(canary.requests.length, 0);
  });
}

test('C24: a name that becomes private between saving, resolving and connecting never reaches an internal address', async () => {
  // TTL 0: each connection queries again. The address that was checked is the one connected to.
  const target = url(Number(new URL(canary.url).port));
  for (const answers of [
    [['127.0.0.2'], ['127.0.0.1']],
    [['127.0.0.2'], ['127.0.0.2'], ['127.0.0.1'], ['127.0.0.2']],
  ]) {
    dns.answer(name, ...answers);
    await findTargetUrlProblem(target, guard);
    const scene = await stage.setScene(target);
    await stage.fire(scene, queue, 5);
    await stage.settled(scene, 60);
  }
  assert.equal(canary.requests.length, 0);
});

const broken: Record<string, [DnsAnswer, RegExp]> = {
  NXDOMAIN: ['NXDOMAIN', /The host name does not exist/],
  SERVFAIL: ['SERVFAIL', /could not be resolved/],
};
for (const [what, [answer, reason]] of Object.entries(broken)) {
  test(`F20: ${what} is retried, and delivered after the name resolves`, async () => {
    // Twice, because the resolver itself may retry after SERVFAIL.
    dns.answer(name, answer, answer, ['127.0.0.2']);
    // A separate port, so that no open connection avoids the query.
    const own = await openReceiver({ host: '127.0.0.2' });
    const scene = await stage.setScene(url(Number(new URL(own.url).port)));
    await stage.fire(scene, queue, 1);
    const [line] = await stage.settled(scene);
    assert.equal(line!.status, 'Success');
    assert.match(line!.reasons[0] ?? '', reason);
  });
}

test('F20: two hundred names without an answer do not delay other deliveries', async () => {
  dns.answer(name, ['127.0.0.2']);
  const silent = Array.from({ length: 200 }, (_, count) => `silent-${count}.test`);
  for (const each of silent) {
    dns.answer(each, 'silence');
    await happenOften(stage.database, await stage.setScene(`https://${each}/`), 1);
  }
  const scene = await stage.setScene(url());
  const before = receiver.requests.length;
  queue.wake();
  await until('all of them to be asked for', async () => silent.every((each) => dns.asked(each) > 0));
  const took: number[] = [];
  for (let count = 1; count <= 3; count += 1) {
    const began = performance.now();
    await stage.fire(scene, queue, 1);
    await receiver.waitFor(before + count);
    took.push(performance.now() - began);
  }
  // The fastest of three, because a busy machine may delay any of them.
  assert.ok(Math.min(...took) < 1_000, `took ${took.map(Math.round).join(', ')} ms`);
});

test('F20: a DNS timeout is retried after the deadline, and delivered after the name resolves', async () => {
  await queue.stop({ graceMs: 0 });
  await stage.database.query('delete from jobs');
  const hasty = stage.startWorker({ ...guard, timeoutSeconds: 1 });
  dns.answer(name, 'silence');
  const own = await openReceiver({ host: '127.0.0.2' });
  const scene = await stage.setScene(url(Number(new URL(own.url).port)));
  await stage.fire(scene, hasty, 1);
  const line = await until('the first attempt to end', async () =>
    (await stage.ledger(scene)).find(({ attempts }) => attempts > 0),
  );
  assert.match(line.reasons[0]!, /within 1 seconds/);
  dns.answer(name, ['127.0.0.2']);
  assert.equal((await stage.settled(scene))[0]!.status, 'Success');
});
