import { type Case, cases, searchCase } from '../cases.ts';
import type { Site } from '../site.ts';
import type { Asked, CaseName } from './peer.ts';
import { scarceWord } from './rows.ts';

/** How many times as many requests per second as a peer the service should answer; undefined: none is set. */
export const goals: Readonly<Record<CaseName, number | undefined>> = {
  list: 20,
  get: 20,
  search: undefined,
  insert: 8,
};

/** The service's answers to what the peers are asked: the form's newest 20 and their number, one, a word's, a new one. */
export function askedOfService(site: Site): Asked {
  const asked = (name: string): Case => cases.find((each) => each.name === name)!;
  return {
    list: asked('list').service(site),
    get: asked('get').service(site),
    search: searchCase('scarce', scarceWord, ({ formId }) => formId).service(site),
    insert: asked('submit').service(site),
  };
}
