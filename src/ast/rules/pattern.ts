import { answerLimits } from '../basics/limits.ts';
import { spendWork, spendWorkOnce, type WorkBudget } from '../basics/work.ts';

/** A compiled pattern. `maxLength` is the length in characters of the longest text that it can match. */
export type Pattern = {
  readonly maxLength: number;
  /**
   * Returns whether the whole text matches.
   * @throws TooMuchWork
   */
  readonly matches: (text: string, work: WorkBudget) => boolean;
};

/** The condition of a state: a character, written as in the pattern, or the start or end of the text. */
type StateCondition =
  | { readonly kind: 'character'; readonly token: string }
  | { readonly kind: 'start' | 'end' };
type Repeat = { readonly kind: 'repeat'; readonly part: Part; readonly least: number; readonly most: number };
type Part =
  | StateCondition
  | Repeat
  | { readonly kind: 'sequence' | 'choice'; readonly parts: readonly Part[] };

/** A state of the automaton: its condition, if it has one, and the next states. */
type PatternState = { readonly ask?: StateCondition; next: readonly number[] };

/** Costs in steps of work (work.ts). `ask` tests a character against a class. */
const steps = { visit: 1.4, place: 40, ask: 10, newClass: 1_500, newProperty: 15_000 } as const;

/**
 * Compiles a pattern that `patternProblem` accepts: the subset of JavaScript's regular expressions (flag `u`)
 * without look-around, backreferences, `\\b` and named groups. Matching is linear in the text for every
 * pattern: it follows all paths at the same time (Thompson) and never backtracks (docs/rules.md T27).
 */
export function compilePattern(source: string): Pattern {
  const part = parse(source);
  const places: PatternState[] = [];
  const accepted = add(places, { next: [] });
  const start = build(places, part, accepted);
  const machine = machineOf(places, start, accepted);
  return {
    maxLength: Math.floor(answerLimits.patternSteps / places.length),
    matches: (text, work) => run(machine, text, work),
  };
}

/** Counts the states of a pattern with its repeats expanded. */
export function countPatternStates(source: string): number {
  return sizeOf(parse(source)) + 1;
}

function sizeOf(part: Part): number {
  if (part.kind === 'repeat') {
    const { least, most } = part;
    const optional = most === Number.POSITIVE_INFINITY ? 1 : most - least;
    // Computed once: repeats can be nested a hundred deep, where computing it twice takes exponential time.
    const size = sizeOf(part.part);
    return least * size + optional * (size + 1);
  }
  const inside = 'parts' in part ? part.parts : [];
  return inside.reduce((sum, child) => sum + sizeOf(child), part.kind === 'sequence' ? 0 : 1);
}

// Escapes, classes, repeats and groups. Every other character is its own token.
const token =
  /\\(?:[pPu]\{[^}]*\}|u[dD][89abAB]..\\u[dD][c-fC-F]..|u[\da-fA-F]{4}|x..|c.|.)|\[(?:\\.|[^\]\\])*\]|\{[\d,]+\}\??|[*+?]\??|\(\?:|./gsu;

function parse(source: string): Part {
  const tokens = source.match(token) ?? [];
  let at = 0;
  const choice = (): Part => {
    const parts = [sequence()];
    while (tokens[at] === '|') {
      at += 1;
      parts.push(sequence());
    }
    return parts.length === 1 ? parts[0]! : { kind: 'choice', parts };
  };
  const sequence = (): Part => {
    const parts: Part[] = [];
    while (at < tokens.length && tokens[at] !== '|' && tokens[at] !== ')') parts.push(repeated(single()));
    return { kind: 'sequence', parts };
  };
  const single = (): Part => {
    const text = tokens[at]!;
    at += 1;
    if (text === '^') return { kind: 'start' };
    if (text === '$') return { kind: 'end' };
    if (!text.startsWith('(')) return { kind: 'character', token: text };
    const part = choice();
    at += 1;
    return part;
  };
  const repeated = (part: Part): Part => {
    const range = rangeOf(tokens[at]);
    if (!range) return part;
    at += 1;
    return { kind: 'repeat', part, ...range };
  };
  return choice();
}

function rangeOf(text = ''): { least: number; most: number } | undefined {
  // Lazy repeats end with `?`. They do not change a match of the whole text.
  if (/^[*+?]/.test(text))
    return { least: text[0] === '+' ? 1 : 0, most: text[0] === '?' ? 1 : Number.POSITIVE_INFINITY };
  const [, least, comma, most] = /^\{(\d+)(,?)(\d*)\}/.exec(text) ?? [];
  if (least === undefined) return undefined;
  return { least: Number(least), most: Number(most || (comma ? Number.POSITIVE_INFINITY : least)) };
}

function add(places: PatternState[], place: PatternState): number {
  return places.push(place) - 1;
}

/** Builds from the end to the start: returns the first state of the part when it is followed by `next`. */
function build(places: PatternState[], part: Part, next: number): number {
  if (part.kind === 'repeat') return buildRepeat(places, part, next);
  if (!('parts' in part)) return add(places, { ask: part, next: [next] });
  return part.kind === 'sequence'
    ? part.parts.reduceRight((end, child) => build(places, child, end), next)
    : add(places, { next: part.parts.map((child) => build(places, child, next)) });
}

function buildRepeat(places: PatternState[], repeat: Repeat, next: number): number {
  const { part, least, most } = repeat;
  let start = next;
  if (most === Number.POSITIVE_INFINITY) {
    start = add(places, { next: [] });
    places[start]!.next = [build(places, part, start), next];
  } else {
    for (let left = most - least; left > 0; left -= 1)
      start = add(places, { next: [build(places, part, start), next] });
  }
  for (let left = least; left > 0; left -= 1) {
    const end = start;
    start = build(places, part, end);
    // Repeating a part without states, such as `(?:){1000000000000}`, has no effect.
    if (start === end) break;
  }
  return start;
}

/** State kinds as numbers: an automaton in typed arrays runs ten times as fast as one of objects. */
const stateKinds = { lead: 0, ask: 1, start: 2, end: 3 } as const;

type Machine = {
  readonly start: number;
  readonly accepted: number;
  readonly kinds: Uint8Array;
  /** The start of each state's targets in `targets`. They end where those of the next state begin. */
  readonly first: Int32Array;
  readonly targets: Int32Array;
  /** The index in `tokens` of the token that each state needs. */
  readonly asks: Int32Array;
  readonly tokens: readonly string[];
};

function machineOf(places: readonly PatternState[], start: number, accepted: number): Machine {
  const kindOf = ({ ask }: PatternState): number =>
    ask === undefined ? stateKinds.lead : ask.kind === 'character' ? stateKinds.ask : stateKinds[ask.kind];
  const indexes = new Map<string, number>();
  const askOf = ({ ask }: PatternState): number => {
    if (ask?.kind !== 'character') return -1;
    if (!indexes.has(ask.token)) indexes.set(ask.token, indexes.size);
    return indexes.get(ask.token)!;
  };
  const first = new Int32Array(places.length + 1);
  for (const [index, { next }] of places.entries()) first[index + 1] = first[index]! + next.length;
  return {
    start,
    accepted,
    kinds: Uint8Array.from(places, kindOf),
    first,
    targets: Int32Array.from(places.flatMap(({ next }) => next)),
    asks: Int32Array.from(places, askOf),
    tokens: [...indexes.keys()],
  };
}

function run(
  { start, accepted, kinds, first, targets, asks, tokens }: Machine,
  text: string,
  work: WorkBudget,
) {
  spendWork(work, kinds.length * steps.place);
  // The position where each state was last reached. Each state is followed once per character.
  const reached = new Int32Array(kinds.length).fill(-1);
  const open = new Int32Array(targets.length + 1);
  let [waiting, after] = [new Int32Array(kinds.length), new Int32Array(kinds.length)];
  let [waits, visits] = [0, 0];
  const follow = (from: number, position: number, isEnd: boolean): void => {
    let opened = 0;
    open[opened++] = from;
    while (opened > 0) {
      const place = open[--opened]!;
      visits += 1;
      if (reached[place] === position) continue;
      reached[place] = position;
      const kind = kinds[place];
      if (kind === stateKinds.ask) after[waits++] = place;
      else if (kind === stateKinds.lead || (kind === stateKinds.start ? position === 0 : isEnd)) {
        for (let at = first[place]!; at < first[place + 1]!; at += 1) open[opened++] = targets[at]!;
      }
    }
  };
  // Caches the result of each token for the current character, because many states share a token.
  const cachedAt = new Int32Array(tokens.length).fill(-1);
  const answers = new Uint8Array(tokens.length);
  const takes = (ask: number, character: string, position: number): boolean => {
    if (cachedAt[ask] !== position) {
      cachedAt[ask] = position;
      spendWork(work, steps.ask);
      answers[ask] = Number(accepts(tokens[ask]!, character, work));
    }
    return answers[ask] === 1;
  };
  follow(start, 0, text === '');
  let [position, at] = [0, 0];
  for (const character of text) {
    at += character.length;
    position += 1;
    const before = waits;
    [waiting, after] = [after, waiting];
    waits = 0;
    for (let index = 0; index < before; index += 1) {
      const place = waiting[index]!;
      if (takes(asks[place]!, character, position))
        follow(targets[first[place]!]!, position, at === text.length);
    }
    // Added up per state and spent once per character, because this is the innermost loop.
    spendWork(work, (visits + before) * steps.visit);
    visits = 0;
    if (waits === 0 && at < text.length) return false;
  }
  return reached[accepted] === position;
}

// The JavaScript engine tests classes, which cannot be slow on a single character. Cached, because creating
// one takes longer than testing it.
const classes = new Map<string, RegExp>();
const keptClasses = 1_000;

/** Returns whether one character matches the token. */
function accepts(text: string, character: string, work: WorkBudget): boolean {
  if (text !== '.' && !text.startsWith('\\') && !text.startsWith('[')) return character === text;
  spendWorkOnce(work, text, /\\p/i.test(text) ? steps.newProperty : steps.newClass);
  const known = classes.get(text);
  if (known) return known.test(character);
  const pattern = new RegExp(`^${text}$`, 'u');
  if (classes.size >= keptClasses) classes.delete(classes.keys().next().value!);
  classes.set(text, pattern);
  return pattern.test(character);
}
