import { storedFiles } from '#files/stored-files.ts';
import { storedImages } from '#forms/images/images.ts';
import { findInAllCells } from '#cells/across-cells.ts';
import { claimStorage } from '#kit/instance-storage/claim-storage.ts';
import { openStorage, storagePlace } from '#kit/open-storage.ts';
import { command } from './command.ts';

export const databaseCommands = [
  command({
    name: 'database create',
    summary: 'Makes the database where there is none yet, as the first start of the service does.',
    makesDatabase: true,
    run: ({ description }) => Promise.resolve({ database: description }),
  }),
  command({
    name: 'storage replace',
    summary:
      'For files that are lost, or were copied without their mark: goes on with the storage that DATA_DIR or S3_ENDPOINT names now, and counts the files that are not in it.',
    note: 'Restart every running server.',
    async run({ config, database }) {
      const storage = openStorage(config);
      const place = storagePlace(config);
      await claimStorage(database, { storage, place }, { replaces: true });
      const counted = { files: 0, missing: 0 };
      const count = async (key: string): Promise<void> => {
        const content = await storage.open(key);
        content?.destroy();
        counted[content ? 'files' : 'missing'] += 1;
      };
      const keys = await findInAllCells(database, async (cells) => [
        ...(await Array.fromAsync(storedFiles(cells))),
        ...(await storedImages(cells)),
      ]);
      for (const { key } of keys) await count(key);
      return { storage: place, ...counted };
    },
  }),
];
