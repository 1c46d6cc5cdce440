import { getProperty, isRecord } from '#ast/basics/json.ts';
import { memoizeByObject } from '#ast/basics/memoize.ts';
import { createWorkBudget, spendWork, type WorkBudget } from '#ast/basics/work.ts';
import { lineOfHtml } from './html.ts';

/**
 * What became of a part of a document: a `changed` part was imported in a different form, a `left_out` part
 * was not imported.
 */
export type Outcome = 'mapped' | 'changed' | 'left_out';

/**
 * A part of a document and its outcome. `path` is like `fields[2].properties.choices[0].label`; `title` is
 * the name of the part or of its nearest named parent.
 */
export type ImportReportLine = { path: string; title?: string; outcome: Outcome; message: string };

/**
 * A value in a document of another service, with its position. Every value that is read is recorded, so that
 * the report can list the rest (`Source.report`). A missing part has no values and no parts. A `path` is one
 * name, or several names separated by dots: `properties.choices`.
 */
export type SourcePart = {
  readonly path: string;
  /** The last name of the path; for an item of a list, its index. */
  readonly name: string;
  readonly isThere: boolean;
  part: (path: string) => SourcePart;
  /** Returns the items of the list at a path, or of this list. Returns none if there is no list. */
  list: (path?: string) => SourcePart[];
  /** Returns the parts of an object, in its order, or the items of a list. */
  parts: () => SourcePart[];
  text: (path?: string) => string | undefined;
  number: (path?: string) => number | undefined;
  flag: (path?: string) => boolean | undefined;
  /** Returns a text, a number or a boolean as text, to compare answers with. */
  word: (path?: string) => string | undefined;
  /** Marks values that only identify a part, or repeat its position, as read. */
  skip: (...names: string[]) => void;
  /** Records that the part became `what`. */
  map: (what: string) => void;
  /** Records what changed. */
  change: (why: string) => void;
  /** Records that the part and its contents are left out. A blank part loses nothing. */
  leaveOut: (why: string) => void;
  /** Leaves out the part at a path unless it is `false`. */
  leaveOutIf: (path: string, why: string) => void;
};

type SourceDocument = {
  readonly root: SourcePart;
  /**
   * Returns every part that was mapped, changed or left out, in the order of the document. Unread parts count
   * as left out.
   */
  report: () => ImportReportLine[];
};

type Holder = Readonly<Record<string, unknown>> | readonly unknown[];
type Key = string | number;
type Note = Pick<ImportReportLine, 'outcome' | 'message'>;

const isHolder = (value: unknown): value is Holder => isRecord(value) || Array.isArray(value);
const nothing: Holder = {};
const unread = 'Formloom has no equivalent.';

/** Leaving out a blank value loses nothing. */
const isBlank = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || (isHolder(value) && isBlankHolder(value));

/** Cached, because each part is checked whenever it is opened. */
const isBlankHolder = memoizeByObject((holder: Holder): boolean => Object.values(holder).every(isBlank));

const valueAt = (holder: Holder, key: Key): unknown =>
  Object.hasOwn(holder, key) ? (holder as Readonly<Record<Key, unknown>>)[key] : undefined;

const join = (path: string, key: Key): string =>
  typeof key === 'number' ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;

/** Properties with the visible name of a part. If it has several languages, the default one is used. */
const titleNames = ['title', 'headline', 'label', 'html', 'text', 'question', 'name', 'value'] as const;
const titleCharacters = 80;

function titleOf(holder: Holder): string | undefined {
  if (!isRecord(holder)) return undefined;
  for (const name of titleNames) {
    const found = getProperty(holder, name);
    const text = isRecord(found) ? getProperty(found, 'default') : found;
    const title = typeof text === 'string' ? lineOfHtml(text.slice(0, 1_000)).slice(0, titleCharacters) : '';
    if (title !== '') return title.toWellFormed();
  }
  const payload = getProperty(holder, 'payload');
  return isRecord(payload) ? titleOf(payload) : undefined;
}

/** The work that opening a part costs, in steps: it takes one or two microseconds. */
const partSteps = 100;

/**
 * Opens a document: JSON with at most tens of thousands of values and 64 levels.
 * @param work the remaining work of a request.
 * @throws TooMuchWork later, if more parts are opened than the work allows.
 */
export function openSourceDocument(document: object, work: WorkBudget = createWorkBudget()): SourceDocument {
  const read = new Map<Holder, Set<Key>>();
  const touched = new Set<Holder>();
  const notes = new Map<Holder, Map<Key, Note[]>>();
  const top: Holder = { document };

  const open = (holder: Holder, key: Key, path: string, above: readonly Holder[]): SourcePart => {
    spendWork(work, partSteps);
    const value = valueAt(holder, key);
    /** Returns where a path leads from here, and the holders on the way. */
    const walk = (names: string | undefined) => {
      let at = { from: holder, key, path, above };
      for (const name of names?.split('.') ?? []) {
        const found = valueAt(at.from, at.key);
        const from = isHolder(found) ? found : nothing;
        at = { from, key: name, path: join(at.path, name), above: [...at.above, at.from] };
      }
      return at;
    };
    const touch = (holders: readonly Holder[]): void => {
      for (const each of holders) touched.add(each);
    };
    const note = (outcome: Outcome, message: string): void => {
      if (value === undefined) return;
      touch([...above, holder]);
      const here = notes.get(holder) ?? new Map<Key, Note[]>();
      notes.set(holder, here.set(key, [...(here.get(key) ?? []), { outcome, message }]));
    };
    const part = (names: string): SourcePart => {
      const at = walk(names);
      return open(at.from, at.key, at.path, at.above);
    };
    const items = (list: Holder): SourcePart[] =>
      (Array.isArray(list) ? [...list.keys()] : Object.keys(list)).map((name) =>
        open(list, name, join(path, name), [...above, holder]),
      );
    const take = <Value>(names: string | undefined, fits: (value: unknown) => value is Value) => {
      const at = walk(names);
      const found = valueAt(at.from, at.key);
      if (!fits(found)) return undefined;
      read.set(at.from, (read.get(at.from) ?? new Set()).add(at.key));
      touch([...at.above, at.from]);
      return found;
    };
    const word = (names?: string): string | undefined => {
      const found = take(names, isPlain);
      return found === undefined ? undefined : String(found);
    };
    const leaveOut = (why: string): void => {
      if (!isBlank(value)) note('left_out', why);
    };
    return {
      path,
      name: String(key),
      isThere: !isBlank(value),
      part,
      list: (names) => (names !== undefined ? part(names).list() : Array.isArray(value) ? items(value) : []),
      parts: () => (isHolder(value) ? items(value) : []),
      text: (names) => take(names, (found) => typeof found === 'string'),
      number: (names) => take(names, (found) => typeof found === 'number'),
      flag: (names) => take(names, (found) => typeof found === 'boolean'),
      word,
      skip: (...names) => {
        for (const name of names) word(name);
      },
      map: (what) => note('mapped', what),
      change: (why) => note('changed', why),
      leaveOut,
      leaveOutIf: (names, why) => {
        if (take(names, (found) => found === false) === undefined) part(names).leaveOut(why);
      },
    };
  };

  function* walk(holder: Holder, key: Key, path: string, around?: string): Generator<ImportReportLine, void> {
    const here = notes.get(holder)?.get(key) ?? [];
    const value = valueAt(holder, key);
    const title = (path !== '' && isHolder(value) && titleOf(value)) || around;
    const place = { path, ...(title !== undefined && { title }) };
    for (const { outcome, message } of here) yield { ...place, outcome, message };
    if (here.some(({ outcome }) => outcome === 'left_out')) return;
    if (isBlank(value) || read.get(holder)?.has(key)) return;
    if (isHolder(value) && touched.has(value)) {
      const keys: Key[] = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
      for (const each of keys) yield* walk(value, each, join(path, each), title);
    } else if (isHolder(value) || here.length === 0) yield { ...place, outcome: 'left_out', message: unread };
  }

  return { root: open(top, 'document', '', []), report: () => [...walk(top, 'document', '')] };
}

const isPlain = (value: unknown): value is string | number | boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
