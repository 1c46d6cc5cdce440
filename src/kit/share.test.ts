import assert from 'node:assert/strict';
import { test } from 'node:test';
import { share } from './concurrency.ts';

/** Questions that are answered when the test says so, in their order. */
function openQuestions() {
  const asked: { key: string; answer: PromiseWithResolvers<string> }[] = [];
  const find = share(
    (key: string) => {
      const answer = Promise.withResolvers<string>();
      asked.push({ key, answer });
      return answer.promise;
    },
    { atOnce: 2 },
  );
  return { asked, find, keys: () => asked.map(({ key }) => key) };
}
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test('who asks for the same in one turn shares a question, and who asks for something else has another', async () => {
  const { asked, find, keys } = openQuestions();
  const all = Promise.all([find('a'), find('b'), find('a')]);
  await turn();
  assert.deepEqual(keys(), ['a', 'b']);
  for (const { key, answer } of asked) answer.resolve(key);
  assert.deepEqual(await all, ['a', 'b', 'a']);
});

test('who comes while two are on their way shares the next, which begins after it was asked for', async () => {
  const { asked, find, keys } = openQuestions();
  const [first] = [find('a'), await turn()];
  const [second] = [find('a'), await turn()];
  const late = [find('a')];
  await turn();
  late.push(find('a'));
  await turn();
  assert.deepEqual(keys(), ['a', 'a']);
  asked[1]!.answer.resolve('second');
  assert.equal(await second, 'second');
  await turn();
  assert.deepEqual(keys(), ['a', 'a', 'a'], 'one that takes long keeps nobody from the next');
  asked[2]!.answer.resolve('late');
  assert.deepEqual(await Promise.all(late), ['late', 'late']);
  asked[0]!.answer.resolve('first');
  assert.equal(await first, 'first');
});

test('a question that fails, fails for those who share it', async () => {
  const { asked, find } = openQuestions();
  const both = Promise.allSettled([find('a'), find('b')]);
  await turn();
  asked[0]!.answer.reject(new Error('bad'));
  asked[1]!.answer.resolve('good');
  assert.deepEqual(
    (await both).map(({ status }) => status),
    ['rejected', 'fulfilled'],
  );
  const again = find('a');
  await turn();
  asked[2]!.answer.resolve('good');
  assert.equal(await again, 'good');
});

test('a database that answers nobody is asked no further: those that wait hear of it at once', async () => {
  const { asked, find, keys } = openQuestions();
  const all: Promise<string>[] = [];
  for (let time = 0; time < 4; time += 1) {
    all.push(find('a'));
    await turn();
  }
  const results = Promise.allSettled(all);
  for (const { answer } of asked.slice())
    answer.reject(new Error('Connection terminated: the database does not answer'));
  assert.ok((await results).every(({ status }) => status === 'rejected'));
  assert.deepEqual(keys(), ['a', 'a']);
});
