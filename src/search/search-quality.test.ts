import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDatabase } from '#test/database.ts';
import quality from '#test/submissions/search-quality.json' with { type: 'json' };
import { openSearchScene } from '#test/submissions/search-scene.ts';

/*
 * How well the search finds support cases: over 200 queries of people, with the submission that they mean, among 2,000
 * submissions in eight languages. The test prints both figures and holds them.
 */
const submissions = 2_000;
/** The share of queries whose submission is among the first ten results, and the mean of 1 / its position. */
const floors = { recall: 0.98, reciprocalRank: 0.95 };

const { database } = await testDatabase();

/** Returns a function that picks items, equal on every machine. */
function pickerFrom(seed: number): <Item>(items: readonly Item[]) => Item {
  let state = seed;
  return (items) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return items[(state >> 8) % items.length]!;
  };
}

type Language = (typeof quality)['english'];

/** Writes the `n`th submission of a language from its templates. */
function writeSubmission(language: Language, n: number) {
  const pick = pickerFrom(n * 7_919 + 13);
  const name = pick(language.names);
  const slots: Record<string, string> = {
    name,
    product: pick(language.products),
    city: pick(language.cities),
    number: String(500_000 + n * 37),
    mail: `customer${n}@mail${n % 9}.test`,
    phone: `+49 40 ${6_000_000 + n * 211}`,
    file: `receipt_${3_000 + n}.png`,
  };
  const fill = (template: string): string =>
    template.replaceAll(/\{(\w+)\}/g, (_, slot: string) => slots[slot]!);
  return { subject: fill(pick(language.subjects)), text: fill(pick(language.texts)) };
}

test('people find what they mean, among the first ten results and near the top', async () => {
  const scenes: { language: Language; scene: Awaited<ReturnType<typeof openSearchScene>> }[] = [];
  for (const language of Object.values(quality) as unknown as Language[])
    scenes.push({ language, scene: await openSearchScene(database, language.setting, scenes[0]?.scene) });
  const wanted: { q: string; id: string }[] = [];
  const cases = scenes.flatMap(({ language, scene }) => language.cases.map((each) => ({ scene, each })));
  const noise = submissions - cases.length;
  // Half of the other submissions are newer than the cases.
  const addNoise = async (from: number, to: number): Promise<void> => {
    for (let n = from; n < to; n += 20)
      await Promise.all(
        Array.from({ length: Math.min(20, to - n) }, (_, index) => {
          const { language, scene } = scenes[(n + index) % scenes.length]!;
          return scene.submit(writeSubmission(language, n + index));
        }),
      );
  };
  await addNoise(0, noise / 2);
  for (const { scene, each } of cases) {
    const [subject, text, phone, queries] = each as [string, string, string, string[]];
    const id = await scene.submit({ subject, text, ...(phone && { phone }) });
    wanted.push(...queries.map((q) => ({ q, id })));
  }
  await addNoise(noise / 2, noise);

  const [{ scene }] = scenes as [(typeof scenes)[number]];
  const ranks = await Promise.all(
    wanted.map(async ({ q, id }) => ({ q, rank: (await scene.find(q, 10)).indexOf(id) + 1 })),
  );
  const recall = ranks.filter(({ rank }) => rank > 0).length / ranks.length;
  const reciprocalRank = ranks.reduce((sum, { rank }) => sum + (rank > 0 ? 1 / rank : 0), 0) / ranks.length;
  const { rows: sizes } = await database.query<{ terms: number; bytes: number }>(
    `select avg(length(terms))::integer as terms, avg(pg_column_size(terms))::integer as bytes
     from search_documents where workspace_id = $1`,
    [scene.workspaceId],
  );
  const rest = ranks.filter(({ rank }) => rank !== 1).map(({ q, rank }) => `${q} (${rank || 'missing'})`);
  console.log(
    `${ranks.length} queries: recall at 10 is ${recall.toFixed(3)}, mean reciprocal rank ${reciprocalRank.toFixed(3)}. A document has ${sizes[0]!.terms} terms, ${sizes[0]!.bytes} bytes. Not first: ${rest.join(', ') || 'none'}`,
  );
  assert.ok(ranks.length >= 200);
  assert.ok(recall >= floors.recall, `recall ${recall}`);
  assert.ok(reciprocalRank >= floors.reciprocalRank, `mean reciprocal rank ${reciprocalRank}`);
});
