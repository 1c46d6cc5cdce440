import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import {
  type BuilderDocument,
  type DraftSaveBody,
  openAutosave,
  type SaveOutcome,
  type SaveState,
  saveDelay,
} from './autosave.ts';

const form = (name: string): BuilderDocument => ({
  structure: { type: 'form', attrs: { name }, children: [] },
  settings: { confirmation_message: name },
});

/** Opens an autosave against a server with the given responses, one for each save. */
function open(answers: (SaveOutcome | 'as it should')[], hasRoom = true) {
  const sent: DraftSaveBody[] = [];
  const states: SaveState[] = [];
  let stored: DraftSaveBody | undefined;
  const autosave = openAutosave({
    etag: '3',
    baseVersion: 1,
    saved: undefined,
    savedAt: undefined,
    send: async (save) => {
      sent.push(save);
      const answer = answers.shift() ?? 'as it should';
      return answer === 'as it should'
        ? { kind: 'saved', etag: String(Number(save.etag) + 1), savedAt: `save ${sent.length}` }
        : answer;
    },
    keep: (save) => {
      stored = hasRoom ? save : undefined;
      return hasRoom;
    },
    onState: (state) => states.push(state),
  });
  return {
    autosave,
    sent,
    states: () => states.map(({ kind }) => kind),
    last: () => states.at(-1),
    stored: () => stored,
  };
}

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
};
const pass = async (ms: number): Promise<void> => {
  mock.timers.tick(ms);
  await settle();
};

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
afterEach(() => mock.timers.reset());

test('a change is saved once, one second after the last edit', async () => {
  const { autosave, sent, states, stored } = open([]);
  autosave.change(form('a'));
  await pass(saveDelay - 1);
  autosave.change(form('b'));
  await pass(saveDelay - 1);
  assert.equal(sent.length, 0);
  assert.deepEqual(stored()?.settings, form('b').settings);
  await pass(1);
  assert.deepEqual(sent, [{ etag: '3', ...form('b'), base_version: 1 }]);
  assert.deepEqual(states(), ['pending', 'pending', 'saving', 'saved']);
  assert.equal(stored(), undefined);
});

test('each save is based on the result of the previous one', async () => {
  const { autosave, sent } = open([]);
  for (const name of ['a', 'b']) {
    autosave.change(form(name));
    await pass(saveDelay);
  }
  assert.deepEqual(
    sent.map(({ etag }) => etag),
    ['3', '4'],
  );
});

test('a change during a save is saved after it, never in parallel', async () => {
  const { autosave, sent, stored } = open([]);
  autosave.change(form('a'));
  mock.timers.tick(saveDelay);
  autosave.change(form('b'));
  await settle();
  assert.equal(sent.length, 1);
  assert.deepEqual([stored()?.etag, stored()?.settings], ['4', form('b').settings]);
  await pass(saveDelay);
  assert.deepEqual(
    sent.map(({ structure, settings }) => ({ structure, settings })),
    [form('a'), form('b')],
  );
});

test("a conflict stops saving and keeps local changes, which are saved on the server's version after it is resolved", async () => {
  const { autosave, sent, states, stored } = open([{ kind: 'conflict', message: 'Bob' }]);
  autosave.change(form('mine'));
  await pass(saveDelay);
  autosave.change(form('mine 2'));
  await pass(60_000);
  assert.equal(sent.length, 1);
  assert.equal(states().at(-1), 'conflict');
  assert.deepEqual(stored()?.settings, form('mine 2').settings);
  autosave.rebase({ etag: '9', baseVersion: 2 });
  assert.equal(await autosave.saveNow(), true);
  assert.deepEqual(sent.at(-1), { etag: '9', ...form('mine 2'), base_version: 2 });
});

test('without a connection, changes are stored in this browser and saved with retries', async () => {
  const away: SaveOutcome = { kind: 'offline', message: 'away' };
  const { autosave, sent, states, stored } = open([away, away]);
  autosave.change(form('a'));
  await pass(saveDelay);
  assert.deepEqual([states().at(-1), stored()?.settings], ['offline', form('a').settings]);
  await pass(2_000);
  await pass(4_000);
  assert.equal(sent.length, 3);
  assert.deepEqual([states().at(-1), stored()], ['saved', undefined]);
});

test('the save state does not claim that changes are stored if this browser has no room', async () => {
  const { autosave, last } = open([{ kind: 'offline', message: 'away' }], false);
  autosave.change(form('a'));
  await pass(saveDelay);
  assert.deepEqual(last(), { kind: 'offline', message: 'away', isStored: false });
});

test('saving immediately waits for the running save and then saves later changes', async () => {
  const { autosave, sent } = open([]);
  autosave.change(form('a'));
  mock.timers.tick(saveDelay);
  autosave.change(form('b'));
  assert.equal(await autosave.saveNow(), true);
  assert.equal(sent.length, 2);
});
