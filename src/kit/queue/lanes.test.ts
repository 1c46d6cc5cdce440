import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LaneNarrowed, type LaneSlot } from '../queue.ts';
import { type Lanes, type LaneWidth, openLanes } from './lanes.ts';

const never = new AbortController().signal;
const quick = 10;
const usual = 2_000;
const slow = 8_000;

type Scene = Lanes & {
  opened: () => number;
  /** Begins `count` jobs of a lane, and returns the turn of each and whether it has started. */
  begin(name: string, width: LaneWidth, count: number): Promise<Begun[]>;
  /** Begins a job and ends it `ms` milliseconds later. */
  runOnce(name: string, width: LaneWidth, ms: number): Promise<void>;
  pass(ms: number): void;
};
type Begun = { turn: LaneSlot; isInside: boolean; refusal: unknown };

function openScene(places = 1_000): Scene {
  let time = 0;
  let openings = 0;
  const lanes = openLanes({ places, onOpen: () => (openings += 1), clock: () => time });
  const scene: Scene = {
    ...lanes,
    opened: () => openings,
    pass(ms) {
      time += ms;
    },
    async begin(name, width, count) {
      const all = Array.from({ length: count }, () => {
        const begun: Begun = { turn: lanes.lineUp(name, width, never), isInside: false, refusal: undefined };
        void begun.turn.enter().then(
          () => (begun.isInside = true),
          (error: unknown) => (begun.refusal = error),
        );
        return begun;
      });
      await settled();
      return all;
    },
    async runOnce(name, width, ms) {
      const [begun] = await scene.begin(name, width, 1);
      time += ms;
      begun!.turn.leave();
      await settled();
    },
  };
  return scene;
}

/** Waits until resolved promises have run their callbacks. */
const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
const insideOf = (all: readonly Begun[]): number => all.filter(({ isInside }) => isInside).length;

test('a new lane has the capacity of its cap', async () => {
  const scene = openScene();
  await scene.begin('a', { perLane: 2 }, 1);
  assert.deepEqual(scene.closed(), []);
  assert.deepEqual(scene.rooms(), { names: ['a'], rooms: [1] });
  await scene.begin('a', { perLane: 2 }, 1);
  assert.deepEqual(scene.closed(), ['a']);
  assert.deepEqual(scene.rooms(), { names: [], rooms: [] });
});

test('an unused lane is forgotten soon, and a slow one after an hour', async () => {
  const scene = openScene();
  await scene.runOnce('a', { perLane: 8 }, usual);
  await scene.runOnce('slow', { perLane: 8 }, slow);
  await scene.runOnce('b', { perLane: 8 }, usual);
  assert.deepEqual(scene.rooms(), { names: ['slow', 'b'], rooms: [2, 8] });
  scene.pass(10_000);
  assert.deepEqual(scene.rooms(), { names: ['slow'], rooms: [2] });
  scene.pass(3_600_000);
  assert.deepEqual(scene.rooms(), { names: [], rooms: [] });
});

test('a slow run narrows its lane to a quarter, even when the lane is idle, and a faster run widens it again', async () => {
  const scene = openScene();
  await scene.runOnce('a', { perLane: 8 }, slow);
  assert.deepEqual(scene.rooms(), { names: ['a'], rooms: [2] });
  const [first] = await scene.begin('a', { perLane: 8 }, 2);
  assert.deepEqual(scene.closed(), ['a']);
  scene.pass(usual);
  first!.turn.leave();
  assert.deepEqual(scene.rooms(), { names: ['a'], rooms: [7] });
  assert.equal(scene.opened(), 1);
});

test('a reopened lane is reported once, again if more jobs may wait, but not after it closes', async () => {
  const scene = openScene();
  const [first] = await scene.begin('a', { perLane: 2 }, 2);
  assert.deepEqual(scene.takeOpened(), []);
  first!.turn.leave();
  assert.deepEqual(scene.takeOpened(), ['a']);
  assert.deepEqual(scene.takeOpened(), []);
  scene.keepOpened(['a']);
  await scene.begin('a', { perLane: 2 }, 1);
  assert.deepEqual(scene.takeOpened(), []);
});

test('a lane narrowed below its running jobs stays full until enough of them have ended', async () => {
  const scene = openScene();
  const all = await scene.begin('a', { perLane: 4 }, 4);
  scene.pass(slow);
  for (const { turn } of all.slice(0, 3)) {
    turn.leave();
    assert.deepEqual(scene.closed(), ['a']);
  }
  all[3]!.turn.leave();
  assert.deepEqual(scene.rooms(), { names: ['a'], rooms: [1] });
});

test('a quick run opens the wider cap of its kind', async () => {
  const scene = openScene();
  const width = { perLane: 2, perQuickLane: 8 };
  const [first, second] = await scene.begin('a', width, 2);
  assert.deepEqual(scene.closed(), ['a']);
  scene.pass(quick);
  first!.turn.leave();
  assert.deepEqual(scene.rooms(), { names: ['a'], rooms: [7] });
  second!.turn.leave();
  assert.deepEqual(scene.rooms(), { names: ['a'], rooms: [8] });
});

const wide = { perLane: 2, perQuickLane: 8, ahead: 40 };

test('a quick lane claims more jobs than it runs, and claims again when half of the waiting ones have started', async () => {
  const scene = openScene();
  const [first] = await scene.begin('a', wide, 2);
  scene.pass(quick);
  first!.turn.leave();
  assert.deepEqual(scene.rooms(), { names: ['a'], rooms: [8 + 40 - 1] });
  const all = await scene.begin('a', wide, 47);
  assert.equal(insideOf(all), 7);
  assert.deepEqual(scene.closed(), ['a']);
  for (const { turn } of all.slice(0, 20)) {
    assert.equal(scene.opened(), 1);
    scene.pass(1);
    turn.leave();
    await settled();
  }
  assert.equal(scene.opened(), 2);
  assert.equal(insideOf(all), 20 + 7);
  assert.deepEqual(scene.rooms(), { names: ['a'], rooms: [20] });
});

test('a lane that is not quick claims no jobs ahead', async () => {
  const scene = openScene();
  const [first, second] = await scene.begin('a', wide, 2);
  scene.pass(usual);
  first!.turn.leave();
  second!.turn.leave();
  assert.deepEqual(scene.rooms(), { names: ['a'], rooms: [2] });
});

test('a lane claims ahead only as many jobs as it starts in a quarter of a second', async () => {
  const scene = openScene();
  const [first] = await scene.begin('a', wide, 2);
  scene.pass(500);
  first!.turn.leave();
  // 8 at the same time, each for half a second: 4 in a quarter of a second.
  assert.deepEqual(scene.rooms(), { names: ['a'], rooms: [8 + 4 - 1] });
});

test('jobs that wait for a lane that has become slow are returned', async () => {
  const scene = openScene();
  const [first] = await scene.begin('a', wide, 2);
  scene.pass(quick);
  first!.turn.leave();
  const all = await scene.begin('a', wide, 20);
  scene.pass(slow);
  all[0]!.turn.leave();
  await settled();
  assert.equal(all.filter(({ refusal }) => refusal instanceof LaneNarrowed).length, 20 - insideOf(all));
  assert.deepEqual(scene.closed(), ['a']);
});

test('free capacity of the process goes to the waiting lanes in rotation', async () => {
  const scene = openScene(2);
  const width = { perLane: 2 };
  const runs = await scene.begin('busy', width, 2);
  const waiting = {
    a: await scene.begin('a', width, 2),
    b: await scene.begin('b', width, 2),
  };
  for (const { turn } of runs) turn.leave();
  await settled();
  assert.deepEqual([insideOf(waiting.a), insideOf(waiting.b)], [1, 1]);
});

test('a lane is skipped if all of its waiting jobs were aborted', async () => {
  const scene = openScene(1);
  const [first] = await scene.begin('a', { perLane: 1 }, 1);
  const abort = new AbortController();
  const refused = assert.rejects(scene.lineUp('b', { perLane: 1 }, abort.signal).enter(), /given up/);
  abort.abort(new Error('given up'));
  await refused;
  first!.turn.leave();
  const [next] = await scene.begin('c', { perLane: 1 }, 1);
  assert.equal(next!.isInside, true);
});

test('entering twice uses one slot, and leaving twice frees one slot', async () => {
  const scene = openScene(2);
  const [first] = await scene.begin('a', { perLane: 2 }, 1);
  await first!.turn.enter();
  const [second] = await scene.begin('a', { perLane: 2 }, 1);
  assert.equal(second!.isInside, true);
  first!.turn.leave();
  first!.turn.leave();
  const rest = await scene.begin('a', { perLane: 2 }, 2);
  assert.equal(insideOf(rest), 1);
  assert.deepEqual(scene.closed(), ['a']);
});

test('an aborted turn passes its position in the queue to the next one', async () => {
  const scene = openScene(1);
  const [first] = await scene.begin('a', { perLane: 1 }, 1);
  const abort = new AbortController();
  const turn = scene.lineUp('b', { perLane: 1 }, abort.signal);
  const refused = assert.rejects(turn.enter(), /given up/);
  const [next] = await scene.begin('b', { perLane: 1 }, 1);
  abort.abort(new Error('given up'));
  await refused;
  turn.leave();
  first!.turn.leave();
  await settled();
  assert.equal(next!.isInside, true);
});

test('a lane that was served is closed until the next round', () => {
  const scene = openScene();
  assert.equal(scene.newRound(), false);
  scene.served(['a', 'b']);
  assert.deepEqual(scene.closed(), ['a', 'b']);
  assert.equal(scene.newRound(), true);
  assert.deepEqual(scene.closed(), []);
});
