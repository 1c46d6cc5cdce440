import { factOf } from '#ast/fact-of.ts';
import { isRecord, own } from '#ast/json.ts';
import { newWork, spend, type Work } from '#ast/work.ts';
import { lineOfHtml } from './html.ts';

/** What became of a part of a document: `changed` is there in another way, `left_out` is not there. */
export type Outcome = 'mapped' | 'changed' | 'left_out';

/**
 * One part of a document and what became of it. `path` as in `fields[2].properties.choices[0].label`; `title` is what the
 * part is called there, or the nearest one around it.
 */
export type ReportLine = { path: string; title?: string; outcome: Outcome; message: string };

/**
 * A value of a document that another service wrote, with its place in it. Whatever is read of it is noted, so that what
 * nobody read can be told (`Source.report`). A part that is not there has no values and no parts.
 */
export type Part = {
  readonly path: string;
  /** The last name of the path; of an item of a list its index. */
  readonly name: string;
  readonly isThere: boolean;
  part: (name: string) => Part;
  /** The items of the list under a name; none where there is no list. */
  list: (name: string) => Part[];
  /** The parts of an object, in its order, or the items of a list. */
  parts: () => Part[];
  text: (name?: string) => string | undefined;
  number: (name?: string) => number | undefined;
  flag: (name?: string) => boolean | undefined;
  /** A text, a number or yes or no, as a text: what answers are compared with. */
  word: (name?: string) => string | undefined;
  /** Notes that it became `what`. */
  map: (what: string) => void;
  /** Notes what is not as it was. */
  change: (why: string) => void;
  /** Notes that it is not taken over, with all that is in it. */
  leaveOut: (why: string) => void;
  /** Reads what is nothing when it is false, and leaves it out otherwise. */
  leaveOutIf: (name: string, why: string) => void;
};

export type Source = {
  readonly root: Part;
  /** Every part that was mapped, changed or left out, in the order of the document; what nobody read was left out. */
  report: () => ReportLine[];
};

type Holder = Readonly<Record<string, unknown>> | readonly unknown[];
type Key = string | number;
type Note = Pick<ReportLine, 'outcome' | 'message'>;

const isHolder = (value: unknown): value is Holder => isRecord(value) || Array.isArray(value);
const nothing: Holder = {};
const unread = 'Forms here have nothing like it.';

/** What is blank says nothing, so nothing is lost with it. */
const isBlank = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || (isHolder(value) && isBlankHolder(value));

/** Cached, because each part is checked whenever it is opened. */
const isBlankHolder = factOf((holder: Holder): boolean => Object.values(holder).every(isBlank));

const valueAt = (holder: Holder, key: Key): unknown =>
  Object.hasOwn(holder, key) ? (holder as Readonly<Record<Key, unknown>>)[key] : undefined;

const join = (path: string, key: Key): string =>
  typeof key === 'number' ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;

/** Under which names services write what people call a part; where it has several languages, the default one is meant. */
const titleNames = ['title', 'label', 'html', 'text', 'question', 'name', 'value'] as const;
const titleCharacters = 80;

function titleOf(holder: Holder): string | undefined {
  if (!isRecord(holder)) return undefined;
  for (const name of titleNames) {
    const found = own(holder, name);
    const text = isRecord(found) ? own(found, 'default') : found;
    const title = typeof text === 'string' ? lineOfHtml(text.slice(0, 1_000)).slice(0, titleCharacters) : '';
    if (title !== '') return title.toWellFormed();
  }
  const payload = own(holder, 'payload');
  return isRecord(payload) ? titleOf(payload) : undefined;
}

/** What it costs to open a part, which takes a microsecond or two, as steps of work. */
const partSteps = 100;

/**
 * Opens a document: JSON of at most some ten thousand values and 64 levels.
 * @param work of a request, unless it is read beside all others.
 * @throws TooMuchWork later, when more of its parts are opened than that allows.
 */
export function openSource(document: object, work: Work = newWork()): Source {
  const read = new Map<Holder, Set<Key>>();
  const touched = new Set<Holder>();
  const notes = new Map<Holder, Map<Key, Note[]>>();
  const top: Holder = { document };

  const open = (holder: Holder, key: Key, path: string, above: readonly Holder[]): Part => {
    spend(work, partSteps);
    const value = valueAt(holder, key);
    const around = [...above, holder];
    const touch = (): void => {
      for (const each of around) touched.add(each);
    };
    const note = (outcome: Outcome, message: string): void => {
      if (value === undefined) return;
      touch();
      const here = notes.get(holder) ?? new Map<Key, Note[]>();
      notes.set(holder, here.set(key, [...(here.get(key) ?? []), { outcome, message }]));
    };
    const inside = isHolder(value) ? value : nothing;
    const child = (name: Key): Part => open(inside, name, join(path, name), around);
    const take = <Value>(name: string | undefined, fits: (value: unknown) => value is Value) => {
      const [from, at] = name === undefined ? ([holder, key] as const) : ([inside, name] as const);
      const found = valueAt(from, at);
      if (!fits(found)) return undefined;
      read.set(from, (read.get(from) ?? new Set()).add(at));
      touch();
      touched.add(from);
      return found;
    };
    return {
      path,
      name: String(key),
      isThere: !isBlank(value),
      part: child,
      list: (name) => {
        const list = valueAt(inside, name);
        const at = join(path, name);
        return Array.isArray(list)
          ? list.map((_item, index) => open(list, index, join(at, index), [...around, inside]))
          : [];
      },
      parts: () => (Array.isArray(value) ? [...value.keys()] : Object.keys(inside)).map(child),
      text: (name) => take(name, (found) => typeof found === 'string'),
      number: (name) => take(name, (found) => typeof found === 'number'),
      flag: (name) => take(name, (found) => typeof found === 'boolean'),
      word: (name) => {
        const found = take(name, isPlain);
        return found === undefined ? undefined : String(found);
      },
      map: (what) => note('mapped', what),
      change: (why) => note('changed', why),
      leaveOut: (why) => note('left_out', why),
      leaveOutIf: (name, why) => {
        if (take(name, (found) => found === false) === undefined && !isBlank(valueAt(inside, name)))
          child(name).leaveOut(why);
      },
    };
  };

  function* tell(holder: Holder, key: Key, path: string, around?: string): Generator<ReportLine, void> {
    const here = notes.get(holder)?.get(key) ?? [];
    const value = valueAt(holder, key);
    const title = (path !== '' && isHolder(value) && titleOf(value)) || around;
    const place = { path, ...(title !== undefined && { title }) };
    for (const { outcome, message } of here) yield { ...place, outcome, message };
    if (here.some(({ outcome }) => outcome === 'left_out')) return;
    if (isBlank(value) || read.get(holder)?.has(key)) return;
    if (isHolder(value) && touched.has(value)) {
      const keys: Key[] = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
      for (const each of keys) yield* tell(value, each, join(path, each), title);
    } else if (isHolder(value) || here.length === 0) yield { ...place, outcome: 'left_out', message: unread };
  }

  return {
    root: open(top, 'document', '', []),
    report: () => [...tell(top, 'document', '')],
  };
}

const isPlain = (value: unknown): value is string | number | boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
