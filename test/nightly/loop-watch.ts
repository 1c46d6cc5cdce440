import { createServer } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/*
 * Loaded into a server by --import. On request it reports the longest block of the event loop since the last
 * request. It gives the wall-clock time and its thread's CPU time, to which other programs do not add.
 */
if (isMainThread) watch();

function watch(): void {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const busy = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  let [last, most] = [busy(), 0];
  setInterval(() => {
    const time = busy();
    most = Math.max(most, time - last);
    last = time;
  }, 1).unref();
  createServer((_request, reply) => {
    reply.end(JSON.stringify({ byClock: delay.max / 1e6, own: most }));
    delay.reset();
    most = 0;
  })
    .listen(Number(process.env['LOOP_WATCH_PORT']), '127.0.0.1')
    .unref();
}
