import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { type Face, type FaceName, faces } from './fonts.ts';

for (const name of Object.keys(faces) as FaceName[]) {
  test(`the files of ${name} match the hashes in their URLs, and the license is open`, async () => {
    const { source, files }: Face = faces[name];
    for (const [subset, hash] of Object.entries(files)) {
      const file = `@fontsource-variable/${source}/files/${source}-${subset}-wght-normal.woff2`;
      const bytes = await readFile(new URL(import.meta.resolve(file)));
      assert.equal(createHash('sha256').update(bytes).digest('hex').slice(0, 10), hash, file);
    }
    const license = new URL(import.meta.resolve(`@fontsource-variable/${source}/LICENSE`));
    assert.match(await readFile(license, 'utf8'), /SIL Open Font License/i);
  });
}
