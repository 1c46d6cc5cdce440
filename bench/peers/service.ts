import { type Case, cases, searchCase } from '../cases.ts';
import type { Site } from '../site.ts';
import type { Asked, CaseName } from './peer.ts';
import { scarceWord } from './rows.ts';

/** The goal for requests per second, as a multiple of a peer's. */
export const goals: Readonly<Record<CaseName, number>> = { list: 20, get: 20, search: 60, insert: 10 };

/**
 * Returns the service's requests for the cases: the newest 20 submissions of the form with their count, one
 * submission, a search for a word, and an insert.
 */
export function askedOfService(site: Site): Asked {
  const asked = (name: string): Case => cases.find((each) => each.name === name)!;
  return {
    list: asked('list').service(site),
    get: asked('get').service(site),
    search: searchCase('scarce', scarceWord, ({ formId }) => formId).service(site),
    insert: asked('submit').service(site),
  };
}
