import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Decrypter, Encrypter } from 'age-encryption';
import { createPassphraseIdentity, createPassphraseRecipient } from './archive.ts';

const passphrase = 'crème brûlée twice';
/** A low work factor, because age's default takes seconds. */
const work = 10;

test('data sealed by a passphrase is an age file, and age files can be opened', async () => {
  const sealer = new Encrypter();
  sealer.addRecipient(createPassphraseRecipient(passphrase, work));
  const opener = new Decrypter();
  opener.addPassphrase(passphrase);
  assert.equal(await opener.decrypt(await sealer.encrypt('ours'), 'text'), 'ours');

  const theirs = new Encrypter();
  theirs.setScryptWorkFactor(work);
  theirs.setPassphrase(passphrase);
  const own = new Decrypter();
  own.addIdentity(createPassphraseIdentity(passphrase));
  assert.equal(await own.decrypt(await theirs.encrypt('theirs'), 'text'), 'theirs');
});

test('a wrong passphrase opens nothing, and a file that needs over a gigabyte to open is rejected', async () => {
  const fileKey = new Uint8Array(16).fill(7);
  const [stanza] = await createPassphraseRecipient(passphrase, work).wrapFileKey(fileKey);
  assert.deepEqual(
    new Uint8Array((await createPassphraseIdentity(passphrase).unwrapFileKey([stanza!]))!),
    fileKey,
    'the right one does',
  );
  assert.equal(await createPassphraseIdentity('crème brûlée').unwrapFileKey([stanza!]), null);
  const [type, salt] = stanza!.args;
  for (const factor of ['21', '', 'NaN'])
    assert.equal(
      await createPassphraseIdentity(passphrase).unwrapFileKey([
        { body: stanza!.body, args: [type!, salt!, factor] },
      ]),
      null,
    );
});
