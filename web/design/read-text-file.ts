/** Bytes of a file; the service takes no longer text. */
const mostBytes = 5_000_000;

/** The text of a file: UTF-8, UTF-16 with its mark, or else what spreadsheets of Windows write. */
export async function readTextFile(file: File): Promise<{ text: string } | { problem: string }> {
  if (file.size > mostBytes) return { problem: `${file.name} is larger than 5 MB. Import it in parts.` };
  const bytes = new Uint8Array(await file.arrayBuffer());
  const encoding = encodingOf(bytes);
  return { text: new TextDecoder(encoding).decode(bytes) };
}

function encodingOf(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return 'utf-8';
  } catch {
    // Not UTF-8: then it is the code page that spreadsheets of the West save by default.
    return 'windows-1252';
  }
}
