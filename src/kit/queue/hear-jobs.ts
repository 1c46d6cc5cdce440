import { type Database, notifierOf, partNameOf } from '../database.ts';
import type { Log } from '../log.ts';
import { jobsChannel } from '../queue.ts';
import { listen } from './listen.ts';

/** Hears of the jobs of a cell. */
export type Hearing = {
  /** False while the connection is lost: then who hears looks by itself. */
  isListening(): boolean;
  stop(): Promise<void>;
};

/** The connection over which the queues and feeds of this process hear of the jobs of all cells of a database. */
type Ear = {
  hearers: Set<(said: string) => void>;
  isListening: boolean;
  ending: AbortController;
  ended: Promise<void>;
};

const ears = new WeakMap<Database, Ear>();

/**
 * Hears that there are new jobs in the cell of a pool.
 * @param hear is called with who says so, and with '' when something may have been missed, or may be from now on.
 */
export function hearJobs(
  database: Database,
  { log, hear }: { log: Log; hear: (sender: string) => void },
): Hearing {
  const place = notifierOf(database);
  const cell = partNameOf(database);
  const ear = ears.get(place) ?? openEar(place, log);
  const hearer = (said: string): void => {
    // An empty message is for every cell.
    const [sender = '', of] = said.split(' ');
    if (of === undefined || of === cell) hear(sender);
  };
  ear.hearers.add(hearer);
  return {
    isListening: () => ear.isListening,
    async stop() {
      ear.hearers.delete(hearer);
      if (ear.hearers.size > 0) return;
      if (ears.get(place) === ear) ears.delete(place);
      ear.ending.abort();
      await ear.ended;
    },
  };
}

function openEar(place: Database, log: Log): Ear {
  const ending = new AbortController();
  const ear: Ear = { hearers: new Set(), isListening: false, ending, ended: Promise.resolve() };
  const tell = (said: string, isListening: boolean): void => {
    ear.isListening = isListening;
    for (const hear of ear.hearers) hear(said);
  };
  ear.ended = listen(place, jobsChannel, (said) => tell(said, true), {
    log,
    signal: ending.signal,
    lost: () => tell('', false),
  });
  ears.set(place, ear);
  return ear;
}
