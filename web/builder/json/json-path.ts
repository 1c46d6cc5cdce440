/**
 * Where in a JSON text the node at a path begins: the n-th item of `children`, at each level. Undefined when the text
 * has no such node. The text must be valid JSON; strings are skipped whole, so braces in labels do not count.
 */
export function offsetOfPath(text: string, path: readonly number[]): number | undefined {
  let offset: number | undefined = skipBlank(text, 0);
  for (const index of path) {
    const list: number | undefined = offset === undefined ? undefined : valueOfKey(text, offset, 'children');
    offset = list === undefined ? undefined : itemAt(text, list, index);
  }
  return offset;
}

function skipBlank(text: string, from: number): number {
  let at = from;
  while (/\s/.test(text.charAt(at))) at += 1;
  return at;
}

/** The end of the value that begins at `from`. */
function endOfValue(text: string, from: number): number {
  let depth = 0;
  let at = from;
  for (;;) {
    const character = text.charAt(at);
    if (character === '') return at;
    if (character === '"') at = endOfString(text, at);
    else {
      if (character === '{' || character === '[') depth += 1;
      if (character === '}' || character === ']') depth -= 1;
      if (depth < 0 || (depth === 0 && character === ',')) return at;
      at += 1;
    }
    if (depth === 0 && /[}\]"]/.test(text.charAt(at - 1))) return at;
  }
}

function endOfString(text: string, from: number): number {
  let at = from + 1;
  while (text.charAt(at) !== '"' && at < text.length) at += text.charAt(at) === '\\' ? 2 : 1;
  return at + 1;
}

/** Where the value of an object's key begins. */
function valueOfKey(text: string, object: number, key: string): number | undefined {
  if (text.charAt(object) !== '{') return undefined;
  let at = skipBlank(text, object + 1);
  while (text.charAt(at) === '"') {
    const end = endOfString(text, at);
    const name: unknown = JSON.parse(text.slice(at, end));
    const value = skipBlank(text, skipBlank(text, end) + 1);
    if (name === key) return value;
    at = nextEntry(text, value);
  }
  return undefined;
}

function itemAt(text: string, list: number, index: number): number | undefined {
  if (text.charAt(list) !== '[') return undefined;
  let at = skipBlank(text, list + 1);
  for (let passed = 0; text.charAt(at) !== ']' && at < text.length; passed += 1) {
    if (passed === index) return at;
    at = nextEntry(text, at);
  }
  return undefined;
}

/** What comes after the value at `from`: the next entry, or the closing bracket. */
function nextEntry(text: string, from: number): number {
  const end = skipBlank(text, endOfValue(text, from));
  return text.charAt(end) === ',' ? skipBlank(text, end + 1) : end;
}
