import { answerLimits } from '../limits.ts';

/** A compiled pattern. `maxLength` is the longest text, in characters, that may be matched within the limits. */
export type Pattern = {
  readonly maxLength: number;
  /** Whether the whole text matches; `onStep` hears of each place that is visited. */
  readonly matches: (text: string, onStep?: () => void) => boolean;
};

/** What a place asks of the text: a character, or to be at an edge of it. */
type Ask =
  | { readonly kind: 'character'; readonly accepts: (character: string) => boolean }
  | { readonly kind: 'start' | 'end' };
type Repeat = { readonly kind: 'repeat'; readonly part: Part; readonly least: number; readonly most: number };
type Part = Ask | Repeat | { readonly kind: 'sequence' | 'choice'; readonly parts: readonly Part[] };

/** One place of the machine: what it asks for, if anything, and the places behind it. */
type Place = { readonly ask?: Ask; next: readonly number[] };

/**
 * Compiles a pattern that `patternProblem` found no fault with: the subset of JavaScript's regular expressions (flag
 * `u`) without look-around, back references, `\b` and named groups. A match takes time linear in the text, whatever
 * the pattern: all ways through it are followed at once (Thompson), so none is tried again (docs/rules.md T27).
 */
export function compilePattern(source: string): Pattern {
  const part = parse(source);
  const places: Place[] = [];
  const accepted = add(places, { next: [] });
  const start = build(places, part, accepted);
  return {
    maxLength: Math.floor(answerLimits.patternSteps / places.length),
    matches: (text, onStep) => run(places, { start, accepted }, Array.from(text), onStep),
  };
}

/** How many places the pattern needs, with every repeat written out. */
export function countPlaces(source: string): number {
  return sizeOf(parse(source)) + 1;
}

function sizeOf(part: Part): number {
  if (part.kind === 'repeat') {
    const { least, most } = part;
    const optional = most === Number.POSITIVE_INFINITY ? 1 : most - least;
    return least * sizeOf(part.part) + optional * (sizeOf(part.part) + 1);
  }
  const inside = 'parts' in part ? part.parts : [];
  return inside.reduce((sum, child) => sum + sizeOf(child), part.kind === 'sequence' ? 0 : 1);
}

// Escapes, classes, repeats, groups; every other character is a token of its own.
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
    if (!text.startsWith('(')) return { kind: 'character', accepts: accepterOf(text) };
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
  // Lazy repeats end with `?`; for a match of the whole text they are the same.
  if (/^[*+?]/.test(text)) {
    return { least: text[0] === '+' ? 1 : 0, most: text[0] === '?' ? 1 : Number.POSITIVE_INFINITY };
  }
  const [, least, comma, most] = /^\{(\d+)(,?)(\d*)\}/.exec(text) ?? [];
  if (least === undefined) return undefined;
  return { least: Number(least), most: Number(most || (comma ? Number.POSITIVE_INFINITY : least)) };
}

/** What one character must be. Classes are left to the platform: on a single character they cannot be slow. */
function accepterOf(text: string): (character: string) => boolean {
  if (text !== '.' && text.length <= 2 && !text.startsWith('\\') && !text.startsWith('[')) {
    return (character) => character === text;
  }
  const native = new RegExp(`^${text}$`, 'u');
  // Repeats share this function: for one character of the text it is asked again and again.
  let last: string | undefined;
  let answer = false;
  return (character) => {
    if (character !== last) {
      last = character;
      answer = native.test(character);
    }
    return answer;
  };
}

function add(places: Place[], place: Place): number {
  return places.push(place) - 1;
}

/** Builds from the end to the start: returns the place where the part begins when it is followed by `next`. */
function build(places: Place[], part: Part, next: number): number {
  if (part.kind === 'repeat') return buildRepeat(places, part, next);
  if (!('parts' in part)) return add(places, { ask: part, next: [next] });
  return part.kind === 'sequence'
    ? part.parts.reduceRight((end, child) => build(places, child, end), next)
    : add(places, { next: part.parts.map((child) => build(places, child, next)) });
}

function buildRepeat(places: Place[], repeat: Repeat, next: number): number {
  const { part, least, most } = repeat;
  let start = next;
  if (most === Number.POSITIVE_INFINITY) {
    start = add(places, { next: [] });
    places[start]!.next = [build(places, part, start), next];
  } else {
    for (let left = most - least; left > 0; left -= 1) {
      start = add(places, { next: [build(places, part, start), next] });
    }
  }
  for (let left = least; left > 0; left -= 1) {
    const end = start;
    start = build(places, part, end);
    // A part without places, `(?:){1000000000000}`, is the same however often it is repeated.
    if (start === end) break;
  }
  return start;
}

function run(
  places: readonly Place[],
  { start, accepted }: { start: number; accepted: number },
  characters: readonly string[],
  onStep?: () => void,
): boolean {
  // The position at which a place was last reached: each is followed once per character.
  const reached = new Int32Array(places.length).fill(-1);
  const follow = (place: number, position: number, waiting: number[]): void => {
    if (reached[place] === position) return;
    reached[place] = position;
    onStep?.();
    const { ask, next } = places[place]!;
    if (ask?.kind === 'character') waiting.push(place);
    else if (ask?.kind === 'start' && position > 0) return;
    else if (ask?.kind === 'end' && position < characters.length) return;
    else for (const target of next) follow(target, position, waiting);
  };
  let waiting: number[] = [];
  follow(start, 0, waiting);
  for (const [index, character] of characters.entries()) {
    const after: number[] = [];
    for (const place of waiting) {
      const { ask, next } = places[place]!;
      if (ask?.kind === 'character' && ask.accepts(character)) follow(next[0]!, index + 1, after);
    }
    waiting = after;
    if (waiting.length === 0 && index + 1 < characters.length) return false;
  }
  return reached[accepted] === characters.length;
}
