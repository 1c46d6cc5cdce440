import type { Input, Option } from './command.ts';
import type { Remote } from './remote-api.ts';
import { id, readTextFile, text, UsageError } from './values.ts';

/**
 * Where an operation runs. They may stand before the command's words, where they mean this even if the command has an
 * option of the same name (`--url` of a webhook).
 */
export const serviceOptions: Readonly<Record<string, Option<unknown>>> = {
  url: {
    value: text('<url>'),
    isRequired: false,
    about:
      "Another service's address; before the command's words where it has a --url of its own. Else FORMLOOM_URL.",
  },
  key: {
    value: text('<key>'),
    isRequired: false,
    about:
      'Its API key. Others on the machine may see a command line: better FORMLOOM_API_KEY or --key-file.',
  },
  'key-file': { value: text('<file>'), isRequired: false, about: 'A file with the key.' },
  workspace: {
    value: id,
    isRequired: false,
    about: 'Of this database, where the command names nothing that lies in one. A key has its own.',
  },
};

/** Where a command runs: at another service, or on this database, in a workspace where one is named. */
export type Place = { remote: Remote } | { remote: undefined; workspace: string | undefined };

/** @throws UsageError for what does not go together; it never says a key. */
export function readPlace(given: Input, environment: NodeJS.ProcessEnv): Place {
  const { url, key, 'key-file': keyFile, workspace } = given as Record<string, string | undefined>;
  const address = url ?? (environment['FORMLOOM_URL'] || undefined);
  if (address === undefined) {
    if (key !== undefined || keyFile !== undefined)
      throw new UsageError('A key goes with --url: on the database of this machine none is asked for.');
    return { remote: undefined, workspace };
  }
  if (workspace !== undefined)
    throw new UsageError(
      '--workspace is for the database of this machine: at another service the key has its own.',
    );
  if (key !== undefined && keyFile !== undefined)
    throw new UsageError('--key and --key-file exclude each other.');
  const found =
    key ?? (keyFile === undefined ? environment['FORMLOOM_API_KEY'] : readTextFile(keyFile).trim());
  if (!found) throw new UsageError('A service at --url takes a key: FORMLOOM_API_KEY, --key-file or --key.');
  if (!/^[\x21-\x7e]+$/.test(found)) throw new UsageError('The key has characters that no key has.');
  return { remote: { url: readUrl(address), key: found } };
}

function readUrl(given: string): URL {
  const url = URL.parse(given);
  if (
    !url ||
    !/^https?:$/.test(url.protocol) ||
    url.username !== '' ||
    url.password !== '' ||
    url.search !== ''
  )
    throw new UsageError('The address of a service is like https://forms.example.com.');
  return url;
}
