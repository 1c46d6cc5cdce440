import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openDatabase, transaction } from '#kit/database.ts';
import { openLog } from '#kit/log.ts';
import { openInstance } from '#test/process.ts';
import { snapshotOf } from '#webhooks/event.ts';
import { recordEvents } from '#webhooks/record-event.ts';
import { makeForm, makeWebhook } from '#webhooks/testing.ts';
import { newId, now } from '#kit/clock.ts';
const cpu = (pid: number) => { try { const s = readFileSync(`/proc/${pid}/stat`, 'utf8'); const f = s.slice(s.lastIndexOf(')') + 2).split(' '); return (Number(f[11]) + Number(f[12])) * 10; } catch { return 0; } };
const start = (name: string, arg?: object) => fork(fileURLToPath(new URL(name, import.meta.url)), arg ? [JSON.stringify(arg)] : [], { execArgv: ['--disable-warning=ExperimentalWarning'] });
const idle = () => { const f = readFileSync('/proc/stat','utf8').split('\n')[0]!.trim().split(/\s+/).slice(1).map(Number); return f; };
const rec = start('receiver.ts');
const [{ port }] = (await once(rec, 'message')) as [{ port: number }];
const ask = async (m: string) => { rec.send(m); return ((await once(rec, 'message')) as any)[0]; };
const url = `https://127.0.0.1:${port}/hook`;
const profile = process.env.PROFILE;
const instance = await openInstance(profile ? { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${profile}` } : {});
const body = JSON.stringify({ text: 'word '.repeat(220) });
const untilCount = async (n: number) => { for (;;) { const f = await ask('tell'); if (f.count >= n) return f; await sleep(50); } };
const children = (pid: number): number[] => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
try {
  const server = await instance.start();
  const database = openDatabase({ connectionString: instance.databaseUrl }, { pool: 4, log: openLog('silent') });
  const pm = (await instance.databasePid())!;
  const pgcpu = () => children(pm).reduce((s, p) => s + cpu(p), 0);
  const shares: Record<string, number[]> = {};
  for (let round = 0; round < Number(process.env.ROUNDS ?? 2); round++) for (const hooks of (process.env.HOOKS ?? '20,1').split(',').map(Number)) {
    const count = hooks === 1 ? 6000 : 12000;
    await ask('reset'); let r0 = cpu(rec.pid!);
    const child = start('bare.ts', { url, count, connections: hooks === 1 ? 32 : 128, body });
    let bc = 0; const t = setInterval(() => { bc = cpu(child.pid!) || bc; }, 20);
    await once(child, 'exit'); clearInterval(t);
    const b = await untilCount(count); const bare = b.count / b.ms * 1000;
    const rb = cpu(rec.pid!) - r0;
    const place = await makeForm(database);
    for (let i = 0; i < hooks; i++) await makeWebhook(database, place, { url });
    await ask('reset'); 
    const n = count / hooks;
    await transaction(database, async (client) => {
      for (let left = n; left > 0; left -= 100) await recordEvents(client, place.workspaceId, place.formId, Array.from({ length: Math.min(left, 100) }, () => {
        const submissionId = newId();
        const snapshot = snapshotOf({ form: { id: place.formId, name: 'Contact', workspaceId: place.workspaceId }, submission: { id: submissionId, submittedAt: now(), status: 'completed', reference: {}, answers: { name: 'Ada Lovelace', message: 'word '.repeat(150) } }, fields: {} } as any);
        return { submissionId, kind: 'submission.created' as const, occurredAt: now(), snapshot };
      }));
    });
    r0 = cpu(rec.pid!); const s0 = cpu(server.pid), p0 = pgcpu(), i0 = idle();
    const f = await untilCount(count); const ours = f.count / f.ms * 1000;
    const i1 = idle(); const d = i1.map((v, i) => v - i0[i]!); const tot = d.reduce((a, c) => a + c, 0);
    const us = (ms: number) => (ms * 1000 / count).toFixed(0);
    (shares[hooks] ??= []).push(ours / bare);
    console.log(`${hooks} hooks: ours ${ours.toFixed(0)}/s [svc ${us(cpu(server.pid) - s0)} rec ${us(cpu(rec.pid!) - r0)} pg ${us(pgcpu() - p0)} µs; machine idle ${(100*(d[3]!+d[4]!)/tot).toFixed(0)}%] bare ${bare.toFixed(0)}/s [snd ${us(bc)} rec ${us(rb)} µs] ratio ${(ours / bare * 100).toFixed(0)}%`);
    if (process.env.STATS) { for (;;) { const [{ n }] = await instance.query<any>(`select count(*)::int n from jobs`); if (!n) break; await sleep(100); } }
  }
  for (const [h, s] of Object.entries(shares)) console.log(h, 'median', (s.sort((a, b) => a - b)[Math.floor(s.length / 2)]! * 100).toFixed(0));
  await database.end();
  await server.terminate();
} finally { rec.disconnect(); await instance.close(); }
